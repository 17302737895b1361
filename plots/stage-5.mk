SWEEPS += sweep-stage-5
.PHONY: sweep-stage-5
sweep-stage-5: $(BUILD)/columns $(if $(RECORDED),,stage-5)
ifeq ($(RECORDED),)
	@mkdir -p results/stage-5 && rm -f results/stage-5/new.jsonl
	@flock -F $(BUILD)/device.lock $(BUILD)/stage-5 --device $(DEVICE) --sweep --json results/stage-5/new.jsonl $(ARGS)
	@mv results/stage-5/new.jsonl results/stage-5/sweep.jsonl
	@plots/stage-5.sh results/stage-5/sweep.jsonl results/stage-5
else
	@plots/stage-5.sh plots/recorded/$(RECORDED)-stage-5.jsonl results/stage-5
endif
