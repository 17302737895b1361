# build/trial-N: draws cases, runs a kernel, judges what it left; linked with the stage's host code. What is
# attention's and what is stage 5's own stands in files of its own.
TRIAL_OF_ATTENTION := $(filter-out %/product.c,$(wildcard notebooks/course/grade/*.c))
TRIAL_OF_PRODUCTS  := notebooks/course/grade/main.c notebooks/course/grade/run.c notebooks/course/grade/product.c
define trial-of
$(BUILD)/trial-$(1:stage-%=%): $(patsubst %.c,$(BUILD)/%.o,$(if $(filter stage-5,$1),$(TRIAL_OF_PRODUCTS),$(TRIAL_OF_ATTENTION))) \
        $$(call stage-objects,$1) $(LIB)
	$$(LINK)
endef
$(foreach s,$(STAGES),$(eval $(call trial-of,$s)))

test gpu-test: $(STAGES:stage-%=$(BUILD)/trial-%)

# What grading lab N needs: its stage's trial and the images of our own kernel (notebooks/course/folder.mk).
lab-needs  = $(call lab-images,$1) $(BUILD)/$(call lab-stage,$1) $(patsubst stage-%,$(BUILD)/trial-%,$(call lab-stage,$1))

.PHONY: grade
grade: $(if $(wildcard notebooks/course/$(or $(LAB),none)/lab),$(if $(filter grade,$(MAKECMDGOALS)),$(call lab-needs,$(LAB)))) ## grade one submission: LAB=2 SUBMISSION=my.cu or answers.json SEED=secret DEVICE=emu|auto; SANDBOX=weak where there are no namespaces
	@test -n "$$LAB" -a -n "$$SUBMISSION" || { echo "make: grade wants LAB=number SUBMISSION=file SEED=secret" >&2; exit 2; }
	@case "$$SUBMISSION" in \
	*.json) BUILD=$(BUILD) python3 notebooks/course/grade/sheet.py "$$LAB" "$$SUBMISSION";; \
	*) test -n "$$SEED" || { echo "make: grade wants a SEED: a word that students do not know" >&2; exit 2; }; \
	    BUILD=$(BUILD) python3 notebooks/course/grade/grade.py --lab "$$LAB" --submission "$$SUBMISSION" --seed "$$SEED" --device "$$DEVICE" --out results/grade;; \
	esac

.PHONY: grade-all
grade-all: $(if $(filter grade-all,$(MAKECMDGOALS)),$(foreach n,$(KERNEL_LABS),$(call lab-needs,$n))) ### grade a folder STUDENT/lab-N/: SUBMISSIONS=folder SEED=secret J=jobs; results/grades
	@test -n "$$SUBMISSIONS" -a -n "$$SEED" || { echo "make: grade-all wants SUBMISSIONS=folder SEED=secret" >&2; exit 2; }
	@BUILD=$(BUILD) python3 notebooks/course/grade/grade_all.py "$$SUBMISSIONS" --seed "$$SEED" --device "$$DEVICE" $${J:+--jobs "$$J"}

# What students get for a lab: results/handout/lab-N.tar.gz, of LAB or of all.
.PHONY: handout
handout: $(if $(filter handout,$(MAKECMDGOALS)),$(foreach n,$(or $(LAB),$(KERNEL_LABS)),$(call lab-images,$n))) ### archives for students, without answers and later stages: results/handout/lab-N.tar.gz; LAB=2 for one
	@for n in $(or $(LAB),$(KERNEL_LABS)); do python3 notebooks/course/grade/handout.py $$n results/handout/lab-$$n.tar.gz || exit; done
