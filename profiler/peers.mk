.PHONY: peers
peers: $(CHOSEN) ## FlashAttention-2 and cuDNN (PyTorch) beside the chosen stages, same tensors, one run: results/peers.jsonl
	@mkdir -p results
	@flock $(BUILD)/device.lock python3 profiler/peers.py --json results/peers.jsonl \
	    --rest 0 --stages "$(filter-out 5,$(CHOSEN:stage-%=%))" $(ARGS)
