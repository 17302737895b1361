# make stage-4 sweep: every line of stages/4-tuned/sweep becomes a program with an image of its own in
# build/sweep/TILE/. A line is DIM and the tile's numbers, which tile.h takes as SWEEP_BQ ... SWEEP_CTAS;
# tiles with several groups are for small problems, and their image is dDIM-small.
SWEEPS += sweep-stage-4
SWEEP_ARCH ?= sm_90a
SWEEP_ARCHS := $(SWEEP_ARCH) $(if $(filter emu,$(DEVICE)),compute_89)

.PHONY: sweep-stage-4
sweep-stage-4: $(BUILD)/columns
ifeq ($(RECORDED),)
	@plots/stage-4-run.sh results/stage-4 --device $(DEVICE) $(ARGS)
	@plots/stage-4.sh results/stage-4/sweep.jsonl results/stage-4
else
	@plots/stage-4.sh plots/recorded/$(RECORDED)-stage-4.jsonl results/stage-4
endif

ifneq ($(and $(filter sweep sweep-stage-4,$(MAKECMDGOALS)),$(filter stage-4,$(CHOSEN)),$(if $(RECORDED),,run)),)

# Before the first of many minutes of compiling: is there what they are for?
.PHONY: sweep-stage-4-device
sweep-stage-4-device: stage-4
	@$(if $(filter emu,$(DEVICE)),,$(BUILD)/stage-4 --device cuda --no-check --no-time --counters none --quiet || \
	    { echo "make: this sweep needs a GPU; RECORDED=h200 draws a recorded one, DEVICE=emu counts" >&2; exit 77; })

# $(sweep-tiles): NAME:IMAGE:SMALL:DIM:BQ:BKV:WARPS:GROUPS:STAGES:Q:CTAS for each line
sweep-tiles = $(shell awk '!/^\#/ && NF {printf "d%s-%sx%s-w%sx%s-s%s-q%s-c%s:d%s%s:%d:%s:%s:%s:%s:%s:%s:%s:%s ", \
    $$1, $$2, $$3, $$4, $$5, $$6, $$7, $$8, $$1, ($$5 > 1 ? "-small" : ""), ($$5 > 1), \
    $$1, $$2, $$3, $$4, $$5, $$6, $$7, $$8}' stages/4-tuned/sweep)

# $(call sweep-flags,SMALL DIM BQ ... CTAS)
sweep-flags = -DSMALL=$(word 1,$1) -DDIM=$(word 2,$1) -DSWEEP_BQ=$(word 3,$1) -DSWEEP_BKV=$(word 4,$1) \
    -DSWEEP_WARPS=$(word 5,$1) -DSWEEP_GROUPS=$(word 6,$1) -DSWEEP_STAGES=$(word 7,$1) -DSWEEP_Q=$(word 8,$1) \
    -DSWEEP_CTAS=$(word 9,$1)

# $(call sweep-image,its place in build/,image,flags,arch,extension)
define sweep-image
sweep-stage-4: $1/images/stage-4/$2.$4.$5
$1/images/stage-4/$2.$4.$5: $(wildcard stages/4-tuned/*.cu stages/4-tuned/*.cuh stages/4-tuned/*.h) \
    common/ptx.cuh | $1/images/stage-4/.dir sweep-stage-4-device
	@echo "nvcc $$@"
	@$(NVCC) $(NVCCFLAGS) $3 -$5 -arch=$4 -o $$@ stages/4-tuned/kernel.cu 2> $$(basename $$@).ptxas || \
	    { cat $$(basename $$@).ptxas >&2; exit 1; }
endef

# $(call sweep-program,its place in build/,flags)
define sweep-program
sweep-stage-4: $1/stage-4
$1/stage.o: $(wildcard stages/4-tuned/*.[ch]) | $1/.dir sweep-stage-4-device
	@$(CC) $(CPPFLAGS) $(CFLAGS) $2 -c -o $$@ stages/4-tuned/stage.c
$1/stage-4: $1/stage.o $(LIB)
	@$$(LINK)
endef

# $(call sweep-tile,NAME IMAGE SMALL DIM BQ ...)
sweep-tile = $(eval $(call sweep-program,$(BUILD)/sweep/$(word 1,$1),$(call sweep-flags,$(wordlist 3,11,$1)))) \
    $(foreach a,$(SWEEP_ARCHS),$(eval $(call sweep-image,$(BUILD)/sweep/$(word 1,$1),$(word 2,$1),$(call sweep-flags,$(wordlist 3,11,$1)),$a,$(if $(filter compute%,$a),ptx,cubin))))
$(foreach t,$(sweep-tiles),$(call sweep-tile,$(subst :, ,$t)))

endif
