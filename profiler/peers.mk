.PHONY: peers
peers: $(CHOSEN) ## FlashAttention-2 and cuDNN (PyTorch) beside the chosen stages, same tensors, one run: results/peers.jsonl
	@mkdir -p results
	@set -f; flock -F $(BUILD)/device.lock python3 profiler/peers.py --json results/peers.jsonl \
	    --rest 0 --stages "$(ATTENTION:stage-%=%)" $$ARGS

.PHONY: peers-table
peers-table: ## a stage beside its peers, the tables of its README: RECORDED=h200 a recorded run, RECORDED= results/peers.jsonl
	@$(attention-only)
	@set -e; $(foreach s,$(ATTENTION),python3 plots/peers_table.py \
	    $(if $(RECORDED),plots/recorded/$(RECORDED)-peers.jsonl,results/peers.jsonl) $(s:stage-%=%) \
	    plots/recorded/h200-flash-attention-3.txt;)
