# Labs with a kernel; of one of them the stage and the images of our own kernel, by labs/N/lab. Students have this
# file, and not the grader, which needs it, too.
KERNEL_LABS := $(patsubst labs/%/lab,%,$(wildcard labs/*/lab))
lab-stage  = stage-$(shell sed -n 's/^stage *\([0-9]*\)-.*/\1/p' labs/$1/lab)
lab-images = $(foreach i,$(shell sed -n 's/^image *//p' labs/$1/lab),$(filter %/$i.compute_89.ptx %/$i.compute_90a.ptx %/$i.sm_90a.cubin,$(images-$(call lab-stage,$1))))
