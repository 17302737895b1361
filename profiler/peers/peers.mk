# A stage as a library, for Python: its objects compiled like build/runtime's.
$(BUILD)/pic/stages/%.o: CPPFLAGS += $(call stage-flags,$(word 2,$(subst /, ,$<)))
STAGE_LIBRARIES := $(STAGES:%=$(BUILD)/%.so)
$(STAGE_LIBRARIES): $(BUILD)/%.so: $$(patsubst $(BUILD)/%,$(BUILD)/pic/%,$$(call stage-objects,$$*)) \
    $(BUILD)/pic/common/harness/library.o $$(PIC_LIB)
	$(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) -shared -Wl,-z,defs -Wl,--as-needed -o $@ $(filter %.o %.a,$^) \
	    $(filter-out -l:%.a,$(LDLIBS)) -ljansson -lgomp

.PHONY: peers
peers: $(CHOSEN) $(ATTENTION:%=$(BUILD)/%.so) ## the chosen stages beside FlashAttention-2, -3, -4, cuDNN, FlashInfer, what is there of them: ARGS="--rows sixteen,gqa,wide"
	@mkdir -p results
	@set -f; flock -F $(BUILD)/device.lock python3 profiler/peers/peers.py --json results/peers.jsonl \
	    --rest 0 --stages "$(ATTENTION:stage-%=%)" $$ARGS

.PHONY: energy
energy: $(CHOSEN) $(ATTENTION:%=$(BUILD)/%.so) ### what a launch takes of energy under load, beside its peers, 2 s each: ARGS="--rows sixteen"
	@mkdir -p results
	@set -f; flock -F $(BUILD)/device.lock python3 profiler/peers/energy.py --json results/energy.jsonl \
	    --stages "$(ATTENTION:stage-%=%)" $$ARGS

.PHONY: peers-table
peers-table: ### a stage beside its peers, the tables of its README: RECORDED=h200 a recorded run, RECORDED= results/peers.jsonl
	@$(attention-only)
	@python3 profiler/peers/peers_table.py $(if $(RECORDED),records/runs/$(RECORDED)-peers.jsonl,results/peers.jsonl) \
	    $(patsubst stage-%,%,$(if $(filter stage-%,$(MAKECMDGOALS)),$(ATTENTION)))

# Every way that a stage considers for random problems, and whether its model takes the best: profiler/peers/choices.py.
CHOICES := $(if $(RECORDED),records/runs/$(RECORDED)-choices-6.jsonl,results/choices-6.jsonl)
.PHONY: choices
choices: $(BUILD)/stage-6 $(if $(RECORDED),,$(BUILD)/stage-6.so stage-6) ### how often stage 6 chooses the best way, of 300 random problems timed: RECORDED=h200 as recorded
	@mkdir -p results
	@$(if $(RECORDED),,rm -f $(CHOICES); flock -F $(BUILD)/device.lock) python3 profiler/peers/choices.py --json $(CHOICES) $(if $(RECORDED),,--measure)
