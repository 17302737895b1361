.PHONY: compare
compare: $(BUILD)/tabulate $(if $(RECORDED),,$(CHOSEN)) ## run the stages, one table, plots in results/compare: RECORDED=h200 draws a recorded run; TERM=dumb in the terminal
	@plots/compare.sh $(DEVICE) "$(foreach s,$(CHOSEN),$(wildcard stages/$(s:stage-%=%)-*))" $(ARGS)

$(BUILD)/tabulate: $(BUILD)/plots/tabulate.o $(LIB)
	$(LINK)
