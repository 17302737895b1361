# The emulator's core is loops over 32 lanes: they pay for -O3.
$(BUILD)/emulator/%.o: CFLAGS += -O3

##model-6 bench-emu: Measure the emulator's own speed.
##  make stage-4 bench-emu
.PHONY: bench-emu
ATTENTION_VERBS += bench-emu
bench-emu: $(addprefix bench-,$(ATTENTION))

.PHONY: $(addprefix bench-,$(STAGES))
$(addprefix bench-,$(STAGES)): bench-%: % $(BUILD)/bench-emu-%
	@set -f; $(BUILD)/bench-emu-$* $$ARGS

# Programs of bench/ linked with one stage's objects; they stand beside the stages, to find their images:
#   bench-emu-stage-4   counting speed        sass-stage-4   SASS beside PTX        predict-4   the clock
define with-stage
$(BUILD)/$1: $(BUILD)/emulator/bench/$2.o $$(call stage-objects,$3) $(LIB)
	$$(LINK)
endef
$(foreach s,$(STAGES),$(eval $(call with-stage,bench-emu-$s,bench_emu,$s)) \
    $(eval $(call with-stage,sass-$s,sass_run,$s)) \
    $(eval $(call with-stage,predict-$(s:stage-%=%),bench_predict,$s)))
# What test_predict.sh, test_sass.sh, test_chips.sh and test_orders.sh run.
LONG_NEEDS += $(BUILD)/sass-beside $(BUILD)/predict-1 $(BUILD)/predict-4 $(BUILD)/predict-6
TEST_NEEDS += $(BUILD)/bench-pipes $(BUILD)/load-ptx
LONG_NEEDS += $(patsubst %,$(BUILD)/sass-%,$(filter-out stage-5,$(STAGES)))

# tsan: what tests of the emulator run on several host threads, and what ends them, under ThreadSanitizer
TSAN_TESTS := test_emu_scalar test_emu_cluster test_emu_async test_emu_limits

##tests-4 tsan: Run the emulator's tests under ThreadSanitizer.
##  make tsan
.PHONY: tsan
tsan:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SANITIZE="-fsanitize=thread -Wno-tsan" run-tsan

.PHONY: run-tsan
run-tsan: $(TSAN_TESTS:%=$(BUILD)/tests/%)
	@BUILD=$(BUILD) TSAN_OPTIONS=halt_on_error=1 tests/run.sh $^

##look-3 whatif: Predict what each limit of the chip costs a stage.
##  make stage-6 whatif
##
##  Also what the waits of single lines cost, and which role of warps waits for which. Takes about a minute a stage.
##
##  ARGS="--seqlen 4096"   another problem
##  CHIP=h100              another chip
.PHONY: whatif $(addprefix whatif-,$(STAGES))
ATTENTION_VERBS += whatif
whatif: $(addprefix whatif-,$(ATTENTION))
$(addprefix whatif-,$(STAGES)): whatif-%: % | whatif-time
	@$(if $(word 2,$(ATTENTION)),echo "whatif: $* ..." >&2)
	@set -f; $(BUILD)/$* --device emu $${CHIP:+"--chip=$$CHIP"} --whatif $$ARGS
.PHONY: whatif-time
say-time = echo "make: whatif of $(words $(ATTENTION)) stages takes about a minute for each; make stage-6 whatif runs one" >&2
whatif-time:
	@$(if $(word 2,$(ATTENTION)),$(say-time))
CHIP_VERBS += whatif

override ACCESS := $(or $(ACCESS),0)
MAP    := $(if $(filter dumb,$(TERM)),dumb,png)

##look-2 banks: Show which memory banks a shared access uses.
##  make stage-1 banks LINE=102
##
##  Draws the bank map of one line of kernel.cu, block 0: results/banks/stage-1-102.txt and .png.
##
##  LINE=102   the line; make stage-1 source shows the lines
##  ACCESS=2   the third access on that line; the first is 0
.PHONY: banks $(addprefix banks-,$(STAGES))
ATTENTION_VERBS += banks
banks: $(addprefix banks-,$(ATTENTION))
$(addprefix banks-,$(STAGES)): banks-%: %
	@set -f; BUILD=$(BUILD) emulator/views/banks.sh $* "$$LINE" "$$ACCESS" $(MAP) $${CHIP:+"--chip=$$CHIP"} $$ARGS
CHIP_VERBS += banks

$(BUILD)/bench-pipes: $(BUILD)/emulator/bench/bench_pipes.o $(LIB)
	$(LINK)
$(BUILD)/load-ptx: $(BUILD)/emulator/bench/load_ptx.o $(LIB)
	$(LINK)
$(BUILD)/sass-beside: $(BUILD)/emulator/bench/sass_beside.o $(LIB)
	$(LINK)
