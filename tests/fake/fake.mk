# Libraries that stand for others show all of their functions, as those do.
FAKE_CFLAGS := $(filter-out $(SANITIZE) -fvisibility=hidden,$(CFLAGS))

# The driver that tests pretend to have: LD_LIBRARY_PATH=build/tests/fake.
FAKE := $(BUILD)/tests/fake/libcuda.so.1

$(FAKE): tests/fake/cuda.c common/cuda/attention_args.h common/cuda/half.h | $$(@D)/.dir
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) -isystem profiler/cxx $(FAKE_CFLAGS) -shared -o $@ $< -lm -ldl

FAKE_NVML := $(BUILD)/tests/fake/nvml/libnvidia-ml.so.1

$(FAKE_NVML): tests/fake/nvml.c | $$(@D)/.dir
	$(CC) $(FAKE_CFLAGS) -shared -o $@ $<

FAKE_CUPTI := $(BUILD)/tests/fake/libcupti.so.13

$(FAKE_CUPTI): tests/fake/cupti.c | $$(@D)/.dir
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) -isystem profiler/cxx $(FAKE_CFLAGS) -shared -o $@ $<

# What fails one call into the C library: LD_PRELOAD=build/tests/fault.so.
FAULT := $(BUILD)/tests/fault.so

$(FAULT): tests/fake/fault.c | $$(@D)/.dir
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) $(FAKE_CFLAGS) -shared -o $@ $< -ldl

# A tool that listens to NVTX: NVTX_INJECTION64_PATH=build/tests/fake/nvtx_tool.so.
NVTX_TOOL := $(BUILD)/tests/fake/nvtx_tool.so

$(NVTX_TOOL): tests/fake/nvtx_tool.c | $$(@D)/.dir
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) $(FAKE_CFLAGS) -shared -o $@ $<

TEST_NEEDS += $(NVTX_TOOL) $(FAKE) $(FAKE_NVML) $(FAKE_CUPTI) $(FAULT) $(BUILD)/doctor

# attnlab.forward, called once: build/tests/fake/forward_once LIBRARY IMAGES.
FORWARD_ONCE := $(BUILD)/tests/fake/forward_once

$(FORWARD_ONCE): tests/fake/forward_once.c runtime/python/forward.h | $$(@D)/.dir
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) $(filter-out $(SANITIZE),$(CFLAGS)) -o $@ $< -ldl

LONG_NEEDS += $(FORWARD_ONCE)

# A program on a GPU that is not there: tests/runtime/test_gpu_program.sh.
GPU_PROGRAM := $(BUILD)/tests/fake/gpu_program

$(GPU_PROGRAM): tests/fake/gpu_program.c $(FAKE) | $$(@D)/.dir
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) $(filter-out $(SANITIZE),$(CFLAGS)) -o $@ $< -L$(@D) -l:libcuda.so.1

LONG_NEEDS += $(GPU_PROGRAM)
