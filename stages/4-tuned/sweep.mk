# make stage-4 sweep: tiles to try, sweep/tiles.txt; each becomes a program, checked, timed and drawn.
SWEEPS += sweep-stage-4
override SWEEP_ARCH := $(or $(SWEEP_ARCH),sm_90a)

.PHONY: sweep-stage-4
ifneq ($(RECORDED),)
sweep-stage-4: $(BUILD)/columns
	@stages/4-tuned/sweep/draw.sh records/runs/$(RECORDED)-stage-4.jsonl results/stage-4
else
sweep-stage-4: $(BUILD)/columns $(if $(SLURM),stage-4,sweep-device) sweep-rules
	@$(MAKE) --no-print-directory SWEEP_RULES=$(BUILD)/sweep/stage-4.mk sweep-tiles
	@set -f; stages/4-tuned/sweep/$(if $(SLURM),on_slurm,run).sh results/stage-4 $(ON) $$ARGS && \
	    stages/4-tuned/sweep/draw.sh results/stage-4/sweep.jsonl results/stage-4

.PHONY: sweep-rules
sweep-rules:
	@mkdir -p $(BUILD)/sweep
	@stages/4-tuned/sweep/rules.sh $(SWEEP_ARCH) $(if $(filter emu,$(DEVICE)),compute_89) > $(BUILD)/sweep/stage-4.mk

# Before the first of many minutes of compiling: is there what they are for?
.PHONY: sweep-device
no-gpu = echo "make: this sweep needs a GPU; RECORDED=h200 draws a recorded one, DEVICE=emu counts" >&2; exit 77
sweep-device: stage-4
	@test "$$DEVICE" = emu || $(BUILD)/stage-4 --device cuda --no-check --no-time --counters none --quiet || { $(no-gpu); }
endif

ifneq ($(SWEEP_RULES),)
.PHONY: sweep-tiles
include $(SWEEP_RULES)
endif
