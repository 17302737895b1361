# A stage as a library, for Python: its objects compiled like build/runtime's.
STAGE_LIBRARIES := $(STAGES:%=$(BUILD)/%.so)
$(STAGE_LIBRARIES): $(BUILD)/%.so: $$(call stage-objects,$$*) \
    $(BUILD)/common/harness/library.o $(LIB)
	$(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) -shared -Wl,-z,defs -Wl,--as-needed -o $@ $(filter %.o %.a,$^) \
	    $(filter-out -l:%.a,$(LDLIBS)) -ljansson -lgomp

##gpu-2 peers: Time the stages beside FlashAttention and cuDNN.
##  make stage-6 peers
##
##  FlashAttention-2, -3, -4, cuDNN and FlashInfer: those that Python finds here. Writes results/peers.jsonl.
##
##  ARGS="--rows sixteen,gqa,wide"   the problems
.PHONY: peers
peers: $(CHOSEN) $(ATTENTION:%=$(BUILD)/%.so)
	@mkdir -p results
	@set -f; $(BUILD)/alone python3 profiler/peers/peers.py --json results/peers.jsonl \
	    --rest 0 --stages "$(ATTENTION:stage-%=%)" $$ARGS

##gpu-3 energy: Measure the energy of a launch under sustained load.
##  make stage-6 energy
##
##  Beside its peers, 2 s each; ARGS="--rows sixteen" chooses the problems. Writes results/energy.jsonl.
.PHONY: energy
energy: $(CHOSEN) $(ATTENTION:%=$(BUILD)/%.so)
	@mkdir -p results
	@set -f; $(BUILD)/alone python3 profiler/peers/energy.py --json results/energy.jsonl \
	    --stages "$(ATTENTION:stage-%=%)" $$ARGS

##tables-3 peers-table: Print the tables of a stage beside its peers.
##  make stage-6 peers-table RECORDED=h200
##
##  Without RECORDED: of results/peers.jsonl. RECORDED=h100,h200 sets two boards beside each other.
.PHONY: peers-table
ATTENTION_VERBS += peers-table
# With a comma: the runs of these boards, records/runs/NAME-two-boards-peers.jsonl.
peers-records = $(if $(findstring $(comma),$(RECORDED)),$(subst .jsonl records,.jsonl$(comma)records,$(strip $(patsubst \
    %,records/runs/%-two-boards-peers.jsonl,$(subst $(comma), ,$(RECORDED))))),records/runs/$(RECORDED)-peers.jsonl)
peers-table:
	@set -f; python3 profiler/peers/peers_table.py $(if $(RECORDED),$(peers-records),results/peers.jsonl) \
	    $(patsubst stage-%,%,$(if $(filter stage-%,$(MAKECMDGOALS)),$(ATTENTION))) $$ARGS

# Every way that a stage considers for random problems, and whether its model takes the best: profiler/peers/choices.py.
CHOICES := $(if $(RECORDED),records/runs/$(RECORDED)-choices-6.jsonl,results/choices-6.jsonl)
##tables-4 choices: Count how often stage 6 chooses the fastest way.
##  make choices RECORDED=h200
##
##  Of 300 random problems. Without RECORDED they are timed on this GPU first.
##  ARGS="--tried 3" counts as if the first three choices were timed, and the fastest taken.
.PHONY: choices
choices: $(BUILD)/stage-6 $(if $(RECORDED),,$(BUILD)/stage-6.so stage-6)
	@mkdir -p results; $(if $(RECORDED),,rm -f $(CHOICES))
	@set -f; $(if $(RECORDED),,$(BUILD)/alone) python3 profiler/peers/choices.py --json $(CHOICES) \
	    $(if $(RECORDED),,--measure) $$ARGS
