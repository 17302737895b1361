# make stage-5 sweep: every width, depth, swizzle and number of warpgroups, measured and drawn.
SWEEPS += sweep-stage-5
.PHONY: sweep-stage-5
sweep-stage-5: $(BUILD)/columns $(if $(RECORDED),,stage-5)
ifeq ($(RECORDED),)
	@set -f; BUILD=$(BUILD) stages/5-wgmma/sweep/run.sh results/stage-5 $(ON) $$ARGS
	@stages/5-wgmma/sweep/draw.sh results/stage-5/sweep.jsonl results/stage-5
else
	@stages/5-wgmma/sweep/draw.sh records/runs/$(RECORDED)-stage-5.jsonl results/stage-5
endif
