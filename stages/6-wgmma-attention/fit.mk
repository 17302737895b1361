# Records that the constants are fitted to: all but those that measure how good they are (seed-8 to seed-11, rows-behind). Those of
# wide tiles, which older records lack, are fitted alone, to the records in WIDE.
FITTED := $(addsuffix .jsonl,$(foreach board,h100 h200,$(addprefix $(board)-choices-6-,fitted seed-7 rows)) \
    h200-choices-6-seed-4 h200-choices-6-seed-6)
WIDE := $(addsuffix .jsonl,$(addprefix h100-choices-6-,rows-wide seed-10-wide))
##tables-6 fit: Fit the constants of stage 6's choice to recorded times.
##  make fit
##
##  Prints the constants of cut.c; needs Python with numpy and scipy. ARGS="--folds 4" also tries problems left out;
##  ARGS="--only wide" fits those of wide tiles.
.PHONY: fit
fit: $(BUILD)/fit/model.so
	@set -f; python3 stages/6-wgmma-attention/fit/fit.py $< $(if $(findstring --only,$(ARGS)),,$(FITTED:%=records/runs/%.gz) \
	    records/runs/h200-choices-6.jsonl) $(WIDE:%=records/runs/%.gz) $$ARGS

$(BUILD)/fit/model.so: stages/6-wgmma-attention/fit/model.c stages/6-wgmma-attention/cut.c $(LIB)
	@mkdir -p $(@D)
	$(if $(V),,@echo "cc $@";) $(CC) -std=gnu11 -O2 -w -fPIC -shared -I. -Istages/6-wgmma-attention -o $@ $< $(filter %.a,$^) -lm -lgomp
