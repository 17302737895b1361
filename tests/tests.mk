# Tests are found, never listed:
#
#   tests/unit/*/test_*.c  tests/*/test_*.sh     need no GPU:  make test
#   tests/gpu/gpu_*.c      tests/gpu/gpu_*.sh    need one:     make gpu-test
#
# Every one prints TAP (ok / not ok / # SKIP), C programs through cmocka; tests/run.sh adds them up.
# One of them: make test TESTS=npy. A test with a line that begins `Thorough:` in a comment of its head takes long; make
# test leaves it out and counts it, make test THOROUGH=all runs it, too.

TEST_SRC     := $(wildcard tests/*/test_*.c tests/*/*/test_*.c)
GPU_TEST_SRC := $(wildcard tests/gpu/gpu_*.c)
TEST_SCRIPTS := $(wildcard tests/*/test_*.sh)
GPU_SCRIPTS  := $(wildcard tests/gpu/gpu_*.sh)
SHARED_SRC   := $(filter-out $(TEST_SRC) $(GPU_TEST_SRC),$(wildcard tests/unit/*/*.c tests/gpu/*.c))
TEST_SHARED  := $(patsubst %.c,$(BUILD)/%.o,tests/fake/faulty.c $(SHARED_SRC))
binary-of     = $(patsubst %.c,$(BUILD)/tests/%,$(notdir $1))
object-of     = $(patsubst %.c,$(BUILD)/%.o,$(filter %/$1.c,$(TEST_SRC) $(GPU_TEST_SRC)))
TEST_BIN     := $(call binary-of,$(TEST_SRC))
GPU_TEST_BIN := $(call binary-of,$(GPU_TEST_SRC))

# cmocka comes as a shared library only; it travels with build/, found through $ORIGIN.
CMOCKA = $(shell $(CC) -print-file-name=libcmocka.so.0)

$(BUILD)/libcmocka.so.0:
	@mkdir -p $(@D)
	@test -f $(CMOCKA) || { echo "make: cmocka is missing; run 'make setup'" >&2; exit 1; }
	cp -L $(CMOCKA) $@

$(TEST_BIN) $(GPU_TEST_BIN): $(BUILD)/tests/%: $$(call object-of,$$*) $(TEST_SHARED) $(LIB) $(BUILD)/libcmocka.so.0
	$(LINK) $(BUILD)/libcmocka.so.0 -Wl,-rpath,'$$ORIGIN/..'

# What they test belongs to build/run, not to the library.
$(BUILD)/tests/test_fatbin: $(BUILD)/runtime/session/fatbin.o
$(BUILD)/tests/test_repeat: $(BUILD)/runtime/session/repeat.o
$(BUILD)/tests/test_launch_report: $(BUILD)/runtime/session/launch_report.o
$(BUILD)/tests/test_session_report: $(BUILD)/runtime/session/report.o $(BUILD)/runtime/session/launch_report.o

# The labs' table has two parts: solutions, skeletons and mistakes; cheats and honest variants.
override TESTS := $(TESTS)$(if $(filter labs,$(TESTS)),$(if $(filter grade,$(TESTS)),, grade))

# $(call chosen,programs and scripts): those that TESTS names, all if it names none
chosen = $(if $(TESTS),$(foreach t,$(TESTS),$(filter %/test_$t %/test_$t.sh %/gpu_$t %/gpu_$t.sh,$1)),$1)

FOUND := $(notdir $(basename $(TEST_SRC) $(GPU_TEST_SRC) $(TEST_SCRIPTS) $(GPU_SCRIPTS)))
$(foreach t,$(TESTS),$(if $(filter test_$t gpu_$t,$(FOUND)),,\
    $(error there is no test $t: tests are tests/*/test_NAME.* and tests/gpu/gpu_NAME.*)))

# What make test runs, and what it leaves out: chosen tests are run whatever they take.
EVERY    := $(or $(TESTS),$(THOROUGH))
LONG_SRC := $(if $(EVERY),,$(shell grep -lE '^[#/* ]+Thorough:' $(TEST_SRC) $(TEST_SCRIPTS)))
LONG     := $(filter %.sh,$(LONG_SRC)) $(call binary-of,$(filter %.c,$(LONG_SRC)))
TO_RUN   := $(filter-out $(LONG),$(call chosen,$(TEST_BIN) $(TEST_SCRIPTS)))
# A C test needs its program and nothing else, but these, which read images of stages; scripts may run anything.
READ_IMAGES := $(BUILD)/tests/test_sass_instructions
# TEST_NEEDS is what scripts run; LONG_NEEDS, what only those run that take long.
SCRIPTS_NEED = $(if $(filter %.sh $(READ_IMAGES),$(TO_RUN)),all $(TEST_NEEDS) $(if $(EVERY),$(TEST_BIN) $(LONG_NEEDS)))
TEST_BUILDS  = $(filter $(TEST_BIN),$(TO_RUN)) $(SCRIPTS_NEED)
LEFT_OUT := $(addprefix --left-out=,$(LONG)) $(if $(TESTS),,$(addprefix --needs-gpu=,$(GPU_TEST_SRC) $(GPU_SCRIPTS)))

##change-6 test: Run the tests that need no GPU and take little time.
##  make test
##
##  Some six minutes with building, on two cores; the last line counts what passed, failed and was skipped.
##
##  TESTS="check npy"   these tests, whatever they take; only what they need is built
##  THOROUGH=all        every test that needs no GPU: some 20 minutes more
.PHONY: test build-tests
test:
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) build-tests
	@BUILD=$(BUILD) NVCC=$(NVCC) THOROUGH=$(if $(TESTS),all) TEST_TIMEOUT=$(if $(TESTS),7200,1800) \
	    tests/run.sh $(TO_RUN) $(LEFT_OUT)
build-tests: $$(TEST_BUILDS)

# Every mutant of the host code takes an hour on two cores. Of the 13,000 of the kernels as many in ten thousand as
# KERNEL_MUTANTS says are tried (1000, two hours), or so many of each stage (20-each). make test tries 25 in a thousand
# of those, 6 in ten thousand of these.
##tests-1 mutants: Count the wrong programs that the tests do not notice.
##  make mutants
##
##  Wrong programs and kernels are made by rule; prints the score and the survivors. Takes three hours.
.PHONY: mutants
mutants: all $(TEST_BIN) $(FAULT)
	@python3 tests/mutants/mutants.py $(BUILD) all; hosts=$$?; \
	    NVCC=$(NVCC) python3 tests/mutants/mutants_kernels.py $(BUILD) $${KERNEL_MUTANTS:-1000} && exit $$hosts

# What a release must reach, from the logs of the runs that measure it; those without one name their command.
##tests-2 fortress: Compare what the tests reach with a release's targets.
##  make fortress
##
##  Fuzzing, sanitizers, coverage, mutants, faults, kills.
.PHONY: fortress
fortress:
	@mkdir -p $(BUILD)/fortress; BUILD=$(BUILD) tests/house/fortress.sh || true

$(BUILD)/tests/wgmma_wait: tests/gpu/wgmma_wait.cu common/cuda/ptx_sm90.cuh $(BUILD)/include/wgmma.cuh | $$(@D)/.dir
	$(NVCC) -std=c++17 -O3 -I. -I$(BUILD)/include -gencode arch=compute_90a,code=[sm_90a,compute_90a] -o $@ $<

# What compute-sanitizer must find, so that its silence about a stage means something.
$(BUILD)/tests/planted: tests/gpu/planted.cu | $$(@D)/.dir
	$(NVCC) -std=c++17 -gencode arch=compute_89,code=[sm_89,compute_89] -o $@ $<

##gpu-4 gpu-test: Run the tests that need a GPU, some minutes.
##  make gpu-test
##
##  make stage-4 gpu-test TESTS=sanitize   one stage, one test
.PHONY: gpu-test
gpu-test: $(CHOSEN) $(GPU_TEST_BIN) $(BUILD)/tests/planted $(BUILD)/tests/wgmma_wait
	@$(BUILD)/$(firstword $(CHOSEN)) --device cuda --no-time --counters none --quiet
	@STAGES="$(patsubst stage-%,%,$(filter stage-%,$(MAKECMDGOALS)))" BUILD=$(BUILD) NVCC=$(NVCC) \
	    THOROUGH=$(if $(TESTS),all) TEST_TIMEOUT=7200 TESTS_AT_ONCE=1 $(BUILD)/alone tests/run.sh $(call chosen,$(GPU_TEST_BIN) $(GPU_SCRIPTS))

# The kernels of tests/gpu/gpu_launch.c, for Hopper alone.
$(BUILD)/tests/gpu_launch: | $(BUILD)/images/tests/gpu_launch.sm_90a.cubin
$(BUILD)/images/tests/gpu_launch.sm_90a.cubin: tests/gpu/gpu_launch.cu common/cuda/ptx_sm90.cuh $(BUILD)/include/wgmma.cuh
	$(call compile,-cubin -arch=sm_90a)

# ---- Sanitizers: the same sources, built again in build/sanitize --------------------------------------

SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# test_mutants runs the checker 2,000 times on what test_check has already shown it: minutes, nothing new
.PHONY: unit
unit: $(TEST_BIN)
	@BUILD=$(BUILD) tests/run.sh $(call chosen,$(filter-out %/test_mutants,$(TEST_BIN)))

##tests-3 sanitize: Run the C tests under ASan and UBSan.
##  make sanitize
.PHONY: sanitize
sanitize:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/sanitize SANITIZE="$(SANITIZERS)" unit

# ---- Coverage: lines of the library that tests run, with the images of the ordinary build -------------
# Left out are the tests that take minutes and run what others do: mutants, every stage on every shape.

##tests-6 coverage: List the share of lines that the tests run.
##  make coverage
##
##  By file of the library; lines that no test runs are marked in build/coverage/*.gcov. Takes some minutes.
.PHONY: coverage
coverage: all
	@BUILD=$(BUILD) tests/coverage.sh start
	-@$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage SANITIZE="--coverage -O1" covered # limits on files meet libgcov's own
	@BUILD=$(BUILD) tests/coverage.sh table

.PHONY: covered
covered: $(TEST_BIN) $(addprefix $(BUILD)/,$(STAGES)) $(FAKE) $(FAKE_CUPTI) $(BUILD)/doctor
	@BUILD=$(BUILD) NVCC=$(NVCC) tests/run.sh $(filter-out %/test_mutants,$(TEST_BIN)) \
	    $(patsubst %,tests/commands/test_%.sh,faults refused cli stage5 emu_views)
