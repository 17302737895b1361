# A stage with a sweep adds its goal to SWEEPS: sweep-stage-N.

##change-4 sweep: Try the variants of a stage and draw them.
##  make stage-4 sweep
##
##  Stages 4 and 5 have variants: tiles of a kernel, widths and depths of an instruction.
##
##  RECORDED=h200                   draws recorded ones
##  SWEEP_ARCH=sm_89                compiles stage 4's tiles for Ada
##  SLURM=1                        as jobs of Slurm (stage 4)
##  SWEEP_TILES=d64-128 DEVICE=emu  ranks the tiles whose names begin so by predicted times
.PHONY: sweep
no-sweep = echo "make: $(CHOSEN) has no sweep; these have: $(SWEEPS:sweep-%=%)" >&2; exit 2
sweep: $$(filter $$(SWEEPS),$$(addprefix sweep-,$$(CHOSEN)))
	@$(if $(filter $(SWEEPS),$(addprefix sweep-,$(CHOSEN))),,$(no-sweep))
CHIP_VERBS += sweep
