.PHONY: compare
compare: $(BUILD)/tabulate $(BUILD)/columns $(if $(RECORDED),,$(ATTENTION)) ## run the stages, one table, plots in results/compare: RECORDED=h200 draws a recorded run; TERM=dumb in the terminal
	@$(attention-only)
	@set -f; plots/compare.sh "$(foreach s,$(ATTENTION),$(call folder-of,$s))" $$ARGS

.PHONY: report
report: $(if $(RECORDED),$(BUILD)/tabulate $(BUILD)/columns) ## one page to hand in, results/report.html: of the last compare, of a recorded run: RECORDED=h200, or of your own program: PROGRAM=FILE that build/run --json wrote
	@plots/report.sh "$(foreach s,$(ATTENTION),$(call folder-of,$s))"

$(BUILD)/tabulate: $(BUILD)/plots/tabulate.o $(LIB)
	$(LINK)

$(BUILD)/columns: $(BUILD)/plots/columns.o $(LIB)
	$(LINK)

test: $(BUILD)/tabulate $(BUILD)/columns

.PHONY: record
record: $(STAGES) ### on a GPU, what records/runs has of every stage, into results/record.jsonl
	@mkdir -p results && rm -f results/record.jsonl && plots/record.sh results/record.jsonl

.PHONY: ladder
ladder: $(BUILD)/columns ### the README's table of stages, from recorded runs: RECORDED=h200
	@plots/ladder.sh $(or $(RECORDED),h200)
