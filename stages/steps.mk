STEPPED := $(foreach s,$(STAGES),$(if $(wildcard $(call folder-of,$s)/steps/steps.txt),$s))

##change-3 steps: Run a stage's steps: what each was to give, and gave.
##  make stage-6 steps
##
##  One table and one picture of the climb, in results/steps-6. The emulator takes a small problem, counts and gives no
##  times. RECORDED=h200 draws a recorded climb.
.PHONY: steps $(addprefix steps-,$(STAGES))
no-steps = echo "make: $(CHOSEN) has no steps; these have: $(STEPPED)" >&2; exit 2
steps: $(addprefix steps-,$(filter $(STEPPED),$(CHOSEN)))
	@$(if $(filter $(STEPPED),$(CHOSEN)),,$(no-steps))
$(addprefix steps-,$(STAGES)): steps-%: % $(BUILD)/columns
	@set -f; stages/steps.sh $(call folder-of,$*) $${CHIP:+"--chip=$$CHIP"} $$ARGS
CHIP_VERBS += steps
