# The emulator's core is loops over 32 lanes: they pay for -O3.
$(BUILD)/emulator/%.o: CFLAGS += -O3

# bench-emu: the emulator's speed on each stage. Stage 5 has its own problem and no mission shape.
BENCHED := $(filter-out stage-5,$(CHOSEN))

.PHONY: bench-emu
bench-emu: $(addprefix bench-,$(BENCHED)) ## the emulator's speed at the mission shape

.PHONY: $(addprefix bench-,$(STAGES))
$(addprefix bench-,$(STAGES)): bench-%: % $(BUILD)/bench-emu-%
	@$(BUILD)/bench-emu-$* $(ARGS)

# The program stands beside the stages, so that it finds their images.
define bench-rule
$(BUILD)/bench-emu-$1: $(BUILD)/emulator/bench/bench_emu.o $(patsubst %.c,$(BUILD)/%.o,$(wildcard $2/*.c)) $(LIB)
	$$(LINK)
endef
$(foreach d,$(STAGE_DIRS),$(eval $(call bench-rule,$(call stage-of,$d),$d)))
