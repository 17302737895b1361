STEPPED := $(foreach s,$(STAGES),$(if $(wildcard $(call folder-of,$s)/steps/steps.txt),$s))

.PHONY: steps $(addprefix steps-,$(STAGES))
steps: $(addprefix steps-,$(filter $(STEPPED),$(CHOSEN))) ## the rungs of a stage, run and drawn: what each step gave and was expected to; RECORDED=h200
	@$(if $(filter $(STEPPED),$(CHOSEN)),,echo "make: $(CHOSEN) has no steps; these have: $(STEPPED)" >&2; exit 2)
$(addprefix steps-,$(STAGES)): steps-%: % $(BUILD)/columns
	@set -f; stages/steps.sh $(call folder-of,$*) $$ARGS
