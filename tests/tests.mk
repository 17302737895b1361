# Tests are found, never listed:
#
#   tests/unit/*/test_*.c  tests/*/test_*.sh     need no GPU:  make test
#   tests/gpu/gpu_*.c      tests/gpu/gpu_*.sh    need one:     make gpu-test
#
# Every one prints TAP (ok / not ok / # SKIP), C programs through cmocka; tests/run.sh adds them up.
# One of them: make test TESTS=npy.

TEST_SRC     := $(wildcard tests/*/test_*.c tests/*/*/test_*.c)
GPU_TEST_SRC := $(wildcard tests/gpu/gpu_*.c)
TEST_SCRIPTS := $(wildcard tests/*/test_*.sh)
GPU_SCRIPTS  := $(wildcard tests/gpu/gpu_*.sh)
TEST_SHARED  := $(patsubst %.c,$(BUILD)/%.o,tests/fake/faulty.c $(filter-out $(TEST_SRC) $(GPU_TEST_SRC),$(wildcard tests/unit/*/*.c tests/gpu/*.c)))
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

# The labs' table has two parts: solutions, skeletons and mistakes; cheats and honest variants.
override TESTS := $(TESTS)$(if $(filter labs,$(TESTS)),$(if $(filter grade,$(TESTS)),, grade))

# $(call chosen,programs and scripts): those that TESTS names, all if it names none
chosen = $(if $(TESTS),$(foreach t,$(TESTS),$(filter %/test_$t %/test_$t.sh %/gpu_$t %/gpu_$t.sh,$1)),$1)

$(foreach t,$(TESTS),$(if $(filter $(foreach k,test gpu,%/$k_$t.c %/$k_$t.sh),$(TEST_SRC) $(GPU_TEST_SRC) $(TEST_SCRIPTS) $(GPU_SCRIPTS)),,\
    $(error there is no test $t: tests are tests/*/test_NAME.* and tests/gpu/gpu_NAME.*)))

.PHONY: test
test: all $(TEST_BIN) $(SASS_BIN) $(PREDICT_BIN) $(BUILD)/load-ptx ## every test that needs no GPU: TESTS="check npy" picks some
	@BUILD=$(BUILD) NVCC=$(NVCC) THOROUGH=$(if $(TESTS),all) TEST_TIMEOUT=$(if $(TESTS),7200,1800) tests/run.sh $(call chosen,$(TEST_BIN) $(TEST_SCRIPTS)) \
	    $(if $(TESTS),,$(addprefix --needs-gpu=,$(GPU_TEST_SRC) $(GPU_SCRIPTS)))

# Every mutant of the host code, an hour on two cores; of the 13,000 of the kernels as many in ten thousand
# as KERNEL_MUTANTS says (1000, two hours), or so many of each stage (20-each). make test tries 25 in a thousand of those, 6 in ten thousand of these.
.PHONY: mutants
mutants: all $(TEST_BIN) $(FAULT) ### wrong programs and kernels made by rule, which the tests must notice: the score, and who survives
	@python3 tests/mutants/mutants.py $(BUILD) all; hosts=$$?; \
	    NVCC=$(NVCC) python3 tests/mutants/mutants_kernels.py $(BUILD) $${KERNEL_MUTANTS:-1000} && exit $$hosts

# What a release must reach, from the logs of the runs that measure it; those without one name their command.
.PHONY: fortress
fortress: ### the table of what tests reached: fuzzing, sanitizers, coverage, mutants, faults, kills
	@mkdir -p $(BUILD)/fortress; BUILD=$(BUILD) tests/house/fortress.sh || true

# What compute-sanitizer must find, so that its silence about a stage means something.
$(BUILD)/tests/planted: tests/gpu/planted.cu | $$(@D)/.dir
	$(NVCC) -std=c++17 -gencode arch=compute_89,code=[sm_89,compute_89] -o $@ $<

.PHONY: gpu-test
gpu-test: $(CHOSEN) $(GPU_TEST_BIN) $(BUILD)/tests/planted ### the tests that need a GPU, some minutes: make stage-4 gpu-test TESTS=sanitize picks some
	@$(BUILD)/$(firstword $(CHOSEN)) --device cuda --no-time --counters none --quiet
	@STAGES="$(patsubst stage-%,%,$(filter stage-%,$(MAKECMDGOALS)))" BUILD=$(BUILD) NVCC=$(NVCC) THOROUGH=$(if $(TESTS),all) TEST_TIMEOUT=7200 \
	    flock $(BUILD)/device.lock tests/run.sh $(call chosen,$(GPU_TEST_BIN) $(GPU_SCRIPTS))

# The kernels of tests/gpu/gpu_launch.c, for Hopper alone.
$(BUILD)/tests/gpu_launch: | $(BUILD)/images/tests/gpu_launch.sm_90a.cubin
$(BUILD)/images/tests/gpu_launch.sm_90a.cubin: tests/gpu/gpu_launch.cu common/cuda/ptx_sm90.cuh $(BUILD)/include/wgmma.cuh | $$(@D)/.dir
	$(NVCC) $(NVCCFLAGS) -cubin -arch=sm_90a -o $@ $< 2> $(@D)/gpu_launch.ptxas || { cat $(@D)/gpu_launch.ptxas >&2; exit 1; }

# ---- Sanitizers: the same sources, built again in build/sanitize --------------------------------------

SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# test_mutants runs the checker 2,000 times on what test_check has already shown it: minutes, nothing new
.PHONY: unit
unit: $(TEST_BIN)
	@BUILD=$(BUILD) tests/run.sh $(call chosen,$(filter-out %/test_mutants,$(TEST_BIN)))

.PHONY: sanitize
sanitize: ### the C tests under ASan and UBSan
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/sanitize SANITIZE="$(SANITIZERS)" unit

# ---- Coverage: lines of the library that tests run, with the images of the ordinary build -------------
# Left out are the tests that take minutes and run what others do: mutants, every stage on every shape.

.PHONY: coverage
coverage: all ### which lines of the library the tests run, some minutes; the others are marked in build/coverage/*.gcov
	@mkdir -p $(BUILD)/coverage && ln -sfn ../images $(BUILD)/coverage/images
	@find $(BUILD)/coverage -name '*.gcda' -delete
	-@$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage SANITIZE="--coverage -O1" covered # limits on files meet libgcov's own
	@gcov -rp $$(find $(BUILD)/coverage/common $(BUILD)/coverage/profiler $(BUILD)/coverage/emulator -name '*.gcda') 2>/dev/null | \
	    awk -F"[':% ]+" '/^File/ {file = $$2} /^Lines/ && file ~ /^(common|profiler|emulator)\/.*\.c$$/ \
	        {printf "%6.1f %% of %4d lines  %s\n", $$3, $$5, file; run += $$3 * $$5 / 100; all += $$5; file = ""} \
	        END {printf "%6.1f %% of %d lines\n", 100 * run / all, all}' | sort -n; mv -- *.gcov $(BUILD)/coverage

.PHONY: covered
covered: $(TEST_BIN) $(addprefix $(BUILD)/,$(STAGES)) $(FAKE) $(FAKE_CUPTI) $(BUILD)/doctor
	@BUILD=$(BUILD) NVCC=$(NVCC) tests/run.sh $(filter-out %/test_mutants,$(TEST_BIN)) \
	    $(patsubst %,tests/commands/test_%.sh,faults refused cli stage5 emu_views)
