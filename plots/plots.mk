##start-3 compare: Run the attention stages and draw them side by side.
##  make compare
##
##  One table and one picture for each question, in results/compare; recorded runs: results/compare-h200.
##
##  RECORDED=h200          draws a recorded run instead; PROBLEM="B4 H16 S4096 D128" chooses its problem
##  ARGS="--seqlen 2048"   another problem
##  CHIP=h100              another chip, on the emulator
##  TERM=dumb              draws in the terminal, too
.PHONY: compare
ATTENTION_VERBS += compare
compare: $(BUILD)/tabulate $(BUILD)/columns $(if $(RECORDED),,$(ATTENTION))
	@set -f; plots/compare.sh "$(foreach s,$(ATTENTION),$(call folder-of,$s))" $${CHIP:+"--chip=$$CHIP"} $$ARGS
	@echo "Open results/compare$(RECORDED:%=-%)/tensor.png. Next: make stage-3 source shows what each line of a kernel does."
CHIP_VERBS += compare

##start-4 report: Write one page to hand in, results/report.html.
##  make report
##
##  Of the last compare, of a recorded run (RECORDED=h200, whose problem PROBLEM chooses), or of your own program:
##  PROGRAM=FILE, a record that build/run --json wrote.
.PHONY: report
PYTHON_VERBS += report
ATTENTION_VERBS += report
report: $(if $(RECORDED),$(BUILD)/tabulate $(BUILD)/columns)
	@plots/report.sh "$(foreach s,$(ATTENTION),$(call folder-of,$s))"

$(BUILD)/tabulate: $(BUILD)/plots/tabulate.o $(LIB)
	$(LINK)

$(BUILD)/columns: $(BUILD)/plots/columns.o $(LIB)
	$(LINK)

TEST_NEEDS += $(BUILD)/tabulate $(BUILD)/columns

##tables-1 record: Measure on a GPU what records/runs has of every stage.
##  make record
##
##  Writes results/record.jsonl.
.PHONY: record
record: $(STAGES)
	@mkdir -p results && rm -f results/record.jsonl && plots/record.sh results/record.jsonl

##tables-2 ladder: Print the README's table of stages.
##  make ladder RECORDED=h200
.PHONY: ladder
ladder: $(BUILD)/columns
	@plots/ladder.sh $(or $(RECORDED),h200)
