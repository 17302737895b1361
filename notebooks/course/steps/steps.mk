# A step is a folder notebooks/course/steps/NAME. Python's own library is all that it needs.
STEP_NAMES := $(notdir $(patsubst %/,%,$(wildcard notebooks/course/steps/*/)))
MY_STEPS   := $(patsubst step-%,%,$(filter step-%,$(MAKECMDGOALS)))
$(foreach n,$(filter-out $(STEP_NAMES),$(MY_STEPS)),$(error there is no step-$n; there are $(STEP_NAMES:%=step-%)))

##step-1 step-N: Begin a step of 5 to 15 minutes, or check it.
##  make step-1a
##
##  The first time it prints the step and makes my-labs/steps/1a.py, which has one hole; then it checks that file.
##  An explained solution opens when the check passes.
##
##  1a roofline, 1b online softmax, 1c masks, 1d banks; 5a descriptors, 5c accumulators; 6c parity
.PHONY: $(STEP_NAMES:%=step-%)
$(STEP_NAMES:%=step-%): step-%:
	@python3 notebooks/course/steps/step.py $*
