# A step is a folder notebooks/course/steps/NAME. One in Python needs Python's own library; one in CUDA C nvcc and build/run.
STEP_NAMES := $(patsubst notebooks/course/steps/%/text.md,%,$(wildcard notebooks/course/steps/*/text.md))
MY_STEPS   := $(patsubst step-%,%,$(filter step-%,$(MAKECMDGOALS)))
$(foreach n,$(filter-out $(STEP_NAMES),$(MY_STEPS)),$(error there is no step-$n; there are $(STEP_NAMES:%=step-%)))

##step-1 step-N: Begin one of 30 small steps, 1a to 8b; or check it.
##  make step-1a
##
##  The first time it prints the step and makes a file with one hole, my-labs/steps/1a.py or my-labs/steps/2a.cu; then it checks that file.
##  An explained solution opens when the check passes. A check that is not yet right ends with status 1, which make reports as an error.
##
##  ARGS=text   print the text of the step again
##
##  1a roofline, 1b online softmax, 1c masks, 1d banks
##  2a fragments, 2b leading dimensions, 2c the product; 3a P in half, 3b cp.async, 3c the ring
##  4a ldmatrix, 4b mma.sync, 4c the swizzle, 4d softmax in registers
##  5a descriptors, 5b fences, 5c accumulators, 5d WGMMAs in flight
##  6a tensor maps, 6b mbarriers, 6c parity, 6d a producer, 6e turns, 6f setmaxnreg, 6g the epilogue
##  7a waves and persistence, 7b split keys (decode), 7c clusters
##  8a backward of a row, 8b dV, dK and dQ
.PHONY: $(STEP_NAMES:%=step-%)
$(STEP_NAMES:%=step-%): step-%:
	@set -f; BUILD=$(BUILD) NVCC=$(NVCC) python3 notebooks/course/steps/step.py $* $$ARGS

# A kernel that is checked needs the emulator; beginning a step, or reading its text, does not.
CUDA_STEPS := $(patsubst notebooks/course/steps/%/hole.cu,step-%,$(wildcard notebooks/course/steps/*/hole.cu))
CHECKED    := $(if $(ARGS),,$(filter $(patsubst my-labs/steps/%.cu,step-%,$(wildcard my-labs/steps/*.cu)),$(CUDA_STEPS)))
$(CHECKED): $(BUILD)/run $(BUILD)/include/wgmma.cuh
ifneq ($(filter $(CHECKED),$(MAKECMDGOALS)),)
ifeq ($(wildcard $(BUILD)/run),)
$(info Builds the emulator first, once: about 2 minutes on two cores.)
endif
endif
# A handout seals explanations with what our own solutions compute.
handout: $(if $(filter handout,$(MAKECMDGOALS)),$(BUILD)/run)
TEST_NEEDS += $(BUILD)/run
