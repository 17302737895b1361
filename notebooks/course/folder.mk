# Labs with a kernel; of one of them the stage and the images of our own kernel, by notebooks/course/N/lab. Students have this
# file, and not the grader, which needs it, too.
KERNEL_LABS := $(patsubst notebooks/course/%/lab,%,$(wildcard notebooks/course/*/lab))
lab-stage  = stage-$(shell sed -n 's/^stage *\([0-9]*\)-.*/\1/p' notebooks/course/$1/lab)
lab-images = $(foreach i,$(shell sed -n 's/^image *//p' notebooks/course/$1/lab),$(filter $(call files-of-image,$i),\
    $(images-$(call lab-stage,$1))))
files-of-image = %/$1.compute_89.ptx %/$1.compute_90a.ptx %/$1.sm_90a.cubin
