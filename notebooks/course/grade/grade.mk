# build/trial-N: draws cases, runs a kernel, judges what it left; linked with the stage's host code. What is
# attention's and what is stage 5's own stands in files of its own.
TRIAL_OF_ATTENTION := $(filter-out %/product.c,$(wildcard notebooks/course/grade/*.c))
TRIAL_OF_PRODUCTS  := $(addprefix notebooks/course/grade/,main.c run.c facts.c product.c)
define trial-of
$(BUILD)/trial-$(1:stage-%=%): $(patsubst %.c,$(BUILD)/%.o,$(if $(filter stage-5,$1),$(TRIAL_OF_PRODUCTS),$(TRIAL_OF_ATTENTION))) \
        $$(call stage-objects,$1) $(LIB)
	$$(LINK)
endef
$(foreach s,$(STAGES),$(eval $(call trial-of,$s)))

LONG_NEEDS += $(STAGES:stage-%=$(BUILD)/trial-%)
gpu-test: $(STAGES:stage-%=$(BUILD)/trial-%)

# What grading lab N needs: its stage's trial and the images of our own kernel (notebooks/course/folder.mk).
lab-needs  = $(call lab-images,$1) $(BUILD)/$(call lab-stage,$1) $(patsubst stage-%,$(BUILD)/trial-%,$(call lab-stage,$1))
ifneq ($(filter grade handout,$(MAKECMDGOALS)),)
$(foreach n,$(filter-out $(if $(filter %.json,$(SUBMISSION)),$(LAB_NUMBERS),$(KERNEL_LABS)),$(LAB)),\
    $(error there is no lab $n with a kernel: LAB is one of $(KERNEL_LABS)))
endif

##course-6 grade: Grade a submission.
##  make grade LAB=2 SUBMISSION=a.cu SEED=x
##
##  LAB=2               the lab
##  SUBMISSION=my.cu    a kernel, or answers.json
##  SEED=x              a word that students do not know: cases are drawn from it
##  DEVICE=emu|auto     where it runs
##  SANDBOX=weak        where the machine has no namespaces
.PHONY: grade
grade: $(if $(filter grade,$(MAKECMDGOALS)),$(if $(filter $(KERNEL_LABS),$(LAB)),$(call lab-needs,$(LAB))))
	@BUILD=$(BUILD) notebooks/course/grade/grade.sh

##course-7 grade-all: Grade a folder of submissions, STUDENT/lab-N/.
##  make grade-all SUBMISSIONS=all SEED=word
##
##  SUBMISSIONS=all   the folder
##  SEED=word         a word that students do not know
##  J=4               four at a time
##  SLURM=1           as jobs of Slurm: setup/slurm.txt has partition and limits
##
##  Writes results/grades: index.html shows the class, grades.csv and checks.csv have the rows.
.PHONY: grade-all
no-folder = echo "make: grade-all wants SUBMISSIONS=folder SEED=secret" >&2; exit 2
grade-all: $(if $(filter grade-all,$(MAKECMDGOALS)),$(foreach n,$(KERNEL_LABS),$(call lab-needs,$n)))
	@test -n "$$SUBMISSIONS" -a -n "$$SEED" || { $(no-folder); }
	@BUILD=$(BUILD) $(if $(SLURM),notebooks/course/grade/on_slurm.sh) $(or $(wildcard $(PYTHON)),python3) \
	    notebooks/course/grade/grade_all.py "$$SUBMISSIONS" --seed "$$SEED" --device "$$DEVICE" $${J:+--jobs "$$J"}

##course-8 handout: Pack what students get, without answers.
##  make handout LAB=2
##
##  Writes results/handout/lab-2.tar.gz; without LAB, an archive for each lab. Later stages are left out, too.
.PHONY: handout
PYTHON_VERBS += handout
HANDED_OUT := $(or $(LAB),$(KERNEL_LABS))
handout: $(if $(filter handout,$(MAKECMDGOALS)),$(foreach n,$(HANDED_OUT),$(call lab-images,$n)))
	@for n in $(HANDED_OUT); do python3 notebooks/course/grade/handout.py $$n results/handout/lab-$$n.tar.gz || exit; done
