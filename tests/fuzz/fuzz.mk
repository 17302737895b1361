# Fuzzing, tests/fuzz/fuzz_*.c: libFuzzer with the address and undefined-behaviour sanitizers, by clang. The
# library is built for it once, in build/fuzz; what a fuzzer finds is kept in build/fuzz/corpus/NAME, and
# build/fuzz/fuzz_NAME FILE runs one input again. Without -fopenmp its pragmas fall away.

FUZZ_SRC   := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_FLAGS := -std=c11 -O1 -g -march=x86-64-v3 -ffp-contract=off -w $(SANITIZERS)

##tests-5 fuzz: Fuzz what reads foreign bytes.
##  make fuzz FUZZ_SECONDS=60
##
##  So long for each fuzzer; needs clang.
.PHONY: fuzz
no-time = echo "make: FUZZ_SECONDS is a whole number above 0, not '$$FUZZ_SECONDS'" >&2; exit 2
fuzz:
	@test "$${FUZZ_SECONDS:-60}" -gt 0 2> /dev/null || { $(no-time); }
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang CFLAGS="$(FUZZ_FLAGS) -fsanitize=fuzzer-no-link" fuzzers

.PHONY: fuzzers
fuzzers: $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/%)
	@BUILD=$(BUILD) TEST_TIMEOUT=7200 tests/run.sh tests/fuzz/fuzz.sh

$(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/%): $(BUILD)/%: $(BUILD)/tests/fuzz/%.o $(LIB)
	clang -fsanitize=fuzzer $(SANITIZERS) -o $@ $^ -l:libjansson.a -ldl -lm -lpthread
