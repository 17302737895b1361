# The emulator's core is loops over 32 lanes: they pay for -O3.
$(BUILD)/emulator/%.o: CFLAGS += -O3

.PHONY: bench-emu
bench-emu: $(addprefix bench-,$(ATTENTION)) ### the emulator's speed at the mission shape
	@$(attention-only)

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
PREDICT_BIN := $(BUILD)/predict-1 $(BUILD)/predict-4 $(BUILD)/predict-6 $(BUILD)/bench-pipes # what test_predict.sh and test_chips.sh run
SASS_BIN := $(patsubst %,$(BUILD)/sass-%,$(filter-out stage-5,$(STAGES))) # what test_sass.sh runs

# tsan: what tests of the emulator run on several host threads, and what ends them, under ThreadSanitizer
TSAN_TESTS := test_emu_scalar test_emu_cluster test_emu_async test_emu_limits

.PHONY: tsan
tsan: ### the emulator's tests under ThreadSanitizer
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SANITIZE="-fsanitize=thread -Wno-tsan" run-tsan

.PHONY: run-tsan
run-tsan: $(TSAN_TESTS:%=$(BUILD)/tests/%)
	@BUILD=$(BUILD) TSAN_OPTIONS=halt_on_error=1 tests/run.sh $^

.PHONY: whatif $(addprefix whatif-,$(STAGES))
whatif: $(addprefix whatif-,$(ATTENTION)) ## what limits of the chip and waits of lines cost a stage, predicted, and who waits for whom: ARGS="--seqlen 4096"
	@$(attention-only)
$(addprefix whatif-,$(STAGES)): whatif-%: %
	@set -f; $(BUILD)/$* --device emu --whatif $$ARGS

# banks: the bank map of one shared access, by source line: make stage-1 banks LINE=99 [ACCESS=2]
override ACCESS := $(or $(ACCESS),0)
MAP    := $(if $(filter dumb,$(TERM)),dumb,png)

.PHONY: banks $(addprefix banks-,$(STAGES))
banks: $(addprefix banks-,$(ATTENTION)) ## which banks a line's shared access wants: LINE=number ACCESS=nth on the line
	@$(attention-only)
$(addprefix banks-,$(STAGES)): banks-%: %
	@test "$(LINE)" -gt 0 2>/dev/null && test "$(ACCESS)" -ge 0 2>/dev/null || \
	    { echo "make: say which line: make $* banks LINE=99 (make $* source shows them)" >&2; exit 2; }
	@set -f; said=$$($(BUILD)/$* --device emu --quiet --no-check --no-races --source --banks $(LINE) $$ARGS) || exit; \
	    map=$$(printf '%s\n' "$$said" | awk '/^# (lane|row) bank/ {on = 1} on && NF == 0 {on = 0} /^# / || (on && NF == 4) || NF == 0'); \
	    n=$$(printf '%s\n' "$$map" | grep -c '^# [a-z]* bank word'); \
	    test $$n -gt 0 || { echo "make: block 0 makes no shared access at line $(LINE) of $*" >&2; exit 2; }; \
	    test $(ACCESS) -lt $$n || { echo "make: line $(LINE) of $* makes $$n shared accesses: ACCESS=0 to $$((n - 1))" >&2; exit 2; }; \
	    mkdir -p results/banks 2> /dev/null && test -w results/banks || { echo "make: cannot write to results/banks: make it writable" >&2; exit 5; }; \
	    printf '%s\n' "$$map" > results/banks/$*-$(LINE).txt
	@command -v gnuplot > /dev/null || \
	    { echo "banks: the map is in results/banks/$*-$(LINE).txt; to draw it install gnuplot-nox (make setup)" >&2; exit 77; }
	@plots/draw.sh emulator/views/banks.gp results/banks/$*-$(LINE) $(MAP) \
	    "data='results/banks/$*-$(LINE).txt'; access=$(ACCESS); head='$*, line $(LINE), access $(ACCESS)'; unit='$$(sed -n 's/^# \([a-z]*\) bank word.*/\1/p' results/banks/$*-$(LINE).txt | sed -n $$(($(ACCESS) + 1))p)'; caption='$$(sed -n 's/^# \(.*at best\)$$/\1/p' results/banks/$*-$(LINE).txt | sed -n $$(($(ACCESS) + 1))p)'"
	@echo "results/banks/$*-$(LINE).txt$(if $(filter png,$(MAP)), and .png)"
$(BUILD)/bench-pipes: $(BUILD)/emulator/bench/bench_pipes.o $(LIB)
	$(LINK)
$(BUILD)/load-ptx: $(BUILD)/emulator/bench/load_ptx.o $(LIB)
	$(LINK)
