.PHONY: compare
compare: $(BUILD)/tabulate $(BUILD)/columns $(if $(RECORDED),,$(CHOSEN)) ## run the stages, one table, plots in results/compare: RECORDED=h200 draws a recorded run; TERM=dumb in the terminal
	@set -f; plots/compare.sh "$(foreach s,$(CHOSEN),$(call folder-of,$s))" $$ARGS

$(BUILD)/tabulate: $(BUILD)/plots/tabulate.o $(LIB)
	$(LINK)

$(BUILD)/columns: $(BUILD)/plots/columns.o $(LIB)
	$(LINK)

test: $(BUILD)/tabulate $(BUILD)/columns

.PHONY: ladder
ladder: $(BUILD)/columns ## the README's table of stages, from recorded runs: RECORDED=h200
	@plots/ladder.sh $(or $(RECORDED),h200)
