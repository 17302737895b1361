# make stage-4 sweep: every line of stages/4-tuned/sweep becomes a program with an image of its own in
# build/sweep/TILE/. A line is DIM and the tile's numbers, which tile.h takes as SWEEP_BQ ... SWEEP_CTAS;
# tiles with several groups are for small problems, and their image is dDIM-small.
SWEEPS += sweep-stage-4
SWEEP_ARCH ?= $(if $(filter emu,$(DEVICE)),compute_89,sm_90a)

.PHONY: sweep-stage-4
sweep-stage-4: $(BUILD)/columns
ifeq ($(RECORDED),)
	@plots/stage-4-run.sh results/stage-4 --device $(DEVICE) $(ARGS)
	@plots/stage-4.sh results/stage-4/sweep.jsonl results/stage-4
else
	@plots/stage-4.sh plots/recorded/$(RECORDED)-stage-4.jsonl results/stage-4
endif

ifneq ($(and $(filter sweep sweep-stage-4,$(MAKECMDGOALS)),$(filter stage-4,$(CHOSEN)),$(if $(RECORDED),,run)),)

# $(sweep-tiles): NAME:IMAGE:SMALL:DIM:BQ:BKV:WARPS:GROUPS:STAGES:Q:CTAS for each line
sweep-tiles = $(shell awk '!/^\#/ && NF {printf "d%s-%sx%s-w%sx%s-s%s-q%s-c%s:d%s%s:%d:%s:%s:%s:%s:%s:%s:%s:%s ", \
    $$1, $$2, $$3, $$4, $$5, $$6, $$7, $$8, $$1, ($$5 > 1 ? "-small" : ""), ($$5 > 1), \
    $$1, $$2, $$3, $$4, $$5, $$6, $$7, $$8}' stages/4-tuned/sweep)

# $(call sweep-flags,SMALL DIM BQ ... CTAS)
sweep-flags = -DSMALL=$(word 1,$1) -DDIM=$(word 2,$1) -DSWEEP_BQ=$(word 3,$1) -DSWEEP_BKV=$(word 4,$1) \
    -DSWEEP_WARPS=$(word 5,$1) -DSWEEP_GROUPS=$(word 6,$1) -DSWEEP_STAGES=$(word 7,$1) -DSWEEP_Q=$(word 8,$1) \
    -DSWEEP_CTAS=$(word 9,$1)

# $(call sweep-rule,its place in build/,image without extension,flags)
define sweep-rule
sweep-stage-4: $1/stage-4 $2.$(if $(filter compute%,$(SWEEP_ARCH)),ptx,cubin)
$1/stage.o: $(wildcard stages/4-tuned/*.[ch]) | $1/.dir
	@$(CC) $(CPPFLAGS) $(CFLAGS) $3 -c -o $$@ stages/4-tuned/stage.c
$1/stage-4: $1/stage.o $(LIB)
	@$$(LINK)
$2.cubin $2.ptx: $(wildcard stages/4-tuned/*.cu stages/4-tuned/*.cuh stages/4-tuned/*.h) common/ptx.cuh | $(dir $2).dir
	@echo "nvcc $$@"
	@$(NVCC) $(NVCCFLAGS) $3 $$(if $$(filter %.ptx,$$@),-ptx,-cubin) -arch=$(SWEEP_ARCH) -o $$@ stages/4-tuned/kernel.cu \
	    2> $1/ptxas || { cat $1/ptxas >&2; exit 1; }
endef

# $(call sweep-rules,tile as a list)
sweep-rules = $(call sweep-rule,$(BUILD)/sweep/$(word 1,$1),$(BUILD)/sweep/$(word 1,$1)/images/stage-4/$(word 2,$1).$(SWEEP_ARCH),$(call sweep-flags,$(wordlist 3,11,$1)))
$(foreach t,$(sweep-tiles),$(eval $(call sweep-rules,$(subst :, ,$t))))

endif
