# Fuzzing, tests/fuzz_*.c: libFuzzer with the address and undefined-behaviour sanitizers, which gcc has not.
# What it finds lies in build/fuzz/NAME/; a crash is run again by build/fuzz/fuzz_NAME FILE.

FUZZ_SECONDS ?= 60
FUZZ_CC      ?= clang
FUZZ_FLAGS   := -std=c11 -O1 -g -march=x86-64-v3 -ffp-contract=off -fsanitize=fuzzer,address,undefined \
                -fno-sanitize-recover=all -DREVISION='"fuzz"' -Wno-unknown-warning-option
FUZZ_BIN     := $(patsubst tests/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz_*.c))
# All of the library but what belongs to one stage's program.
FUZZ_LIB     := $(filter-out common/main.c common/run.c common/sweep.c common/bench.c common/report.c,$(LIB_SRC))

.PHONY: fuzz
fuzz: $(FUZZ_BIN) ## fuzz what reads foreign bytes, FUZZ_SECONDS=60 each
	@for f in $(FUZZ_BIN); do d=$$f.corpus; mkdir -p $$d; echo "$$f, $(FUZZ_SECONDS) s"; \
	    $$f -max_total_time=$(FUZZ_SECONDS) -timeout=1 -artifact_prefix=$$d/ $$d > $$f.log 2>&1 || \
	    { tail -n 40 $$f.log; exit 1; }; tail -n 1 $$f.log; done

$(BUILD)/fuzz/%: tests/%.c $(FUZZ_LIB) | $$(@D)/.dir
	$(FUZZ_CC) $(filter-out -MMD -MP,$(CPPFLAGS)) -isystem profiler/cxx $(FUZZ_FLAGS) -o $@ \
	    $(filter %.c,$^) -l:libjansson.a -ldl -lm -lpthread
