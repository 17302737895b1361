# A stage with a sweep adds its goal to SWEEPS: sweep-stage-N.
.PHONY: sweep
sweep: $$(filter $$(SWEEPS),$$(addprefix sweep-,$$(CHOSEN))) ## try the variants of a stage and draw them: stages 4 and 5; RECORDED=h200 draws a recorded one
	@$(if $(filter $(SWEEPS),$(addprefix sweep-,$(CHOSEN))),,echo "make: $(CHOSEN) has no sweep; these have: $(SWEEPS:sweep-%=%)" >&2; exit 2)
