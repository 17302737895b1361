# build/run, and the libraries that stand in for NVIDIA's in the programs that it starts: one file under
# three names.

RUN_SRC := $(filter-out runtime/session/main.c runtime/python/forward.c,$(wildcard runtime/*/*.c))
STANDIN := $(BUILD)/runtime/libattnlab.so

SHARED := -shared -Wl,-z,defs
SHARED_LIBS := $(filter-out -l:%.a,$(LDLIBS)) -ljansson -lgomp
$(STANDIN): $(RUN_SRC:%.c=$(BUILD)/%.o) $(LIB) runtime/shim/versions.ld | $$(@D)/.dir
	$(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) $(SHARED) -Wl,--version-script=runtime/shim/versions.ld \
	    -o $@ $(filter %.o %.a,$^) $(SHARED_LIBS)
	@runtime/shim/names.sh $@

# What programs are linked with: the names of NVIDIA's libraries, and of their functions those that are here. A program
# linked with them starts on a GPU with NVIDIA's own.
LINKED := $(patsubst %,$(BUILD)/runtime/link/lib%.so,cuda cudart cublas cublasLt curand)
$(LINKED): $(BUILD)/runtime/link/lib%.so: $(STANDIN) | $$(@D)/.dir
	$(Q)CC=$(CC) runtime/shim/link.sh $* $< $@

# What the driver loads into a program on a GPU, to count its launches.
GPU_OWN := gpu gpu_launch gpu_metrics
GPU_SRC := $(patsubst %,runtime/session/%.c,$(GPU_OWN) session report launch_report settings predictions compiled repeat l2 stale fatbin)
INJECTED := $(BUILD)/runtime/libattnlab-gpu.so
$(GPU_OWN:%=$(BUILD)/runtime/session/%.o): CPPFLAGS += -isystem profiler/cxx
$(INJECTED): $(GPU_SRC:%.c=$(BUILD)/%.o) $(LIB) | $$(@D)/.dir
	$(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) $(SHARED) -o $@ $(filter %.o %.a,$^) $(SHARED_LIBS)

# attnlab.forward: a library for each stage of attention, which is the registry here as in a program.
FORWARD := $(patsubst stage-%,$(BUILD)/runtime/attnlab-%.so,$(filter-out stage-5,$(STAGES)))
$(FORWARD): $(BUILD)/runtime/attnlab-%.so: $(BUILD)/runtime/python/forward.o $(LIB) \
        $$(call stage-objects,stage-$$*)
	$(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) $(SHARED) -o $@ $(filter %.o,$^) $(LIB) $(SHARED_LIBS)

##own-4 python: Build the libraries behind Python's attnlab module.
##  make python
##
##  attnlab.forward and attnlab.RawKernel; `pip install -e .` makes the module importable.
.PHONY: python
python: $(FORWARD) $(BUILD)/run $(CHOSEN)

$(BUILD)/run: $(BUILD)/runtime/session/main.o $(RUN_SRC:%.c=$(BUILD)/%.o) $(LIB) | $(STANDIN) $(INJECTED) $(LINKED)
	$(LINK)

##own-1 run: Run any CUDA program, counted and checked.
##  make run PROGRAM="./sgemm 256"
##
##  PROGRAM="./sgemm 256"   a program with its arguments, built by runtime/attnlab-nvcc
##  ARGS=--source           options of build/run: build/run --help lists them
##  DEVICE, CHIP, J         as for stages
##own-2 run: List the kernels of a file, or run one of them.
##  make run KERNEL=my.cu
##
##  KERNEL=my.cu                                 a file of CUDA C or PTX
##  ARGS="--kernel sgemm --grid 8x8 --arg ..."   which kernel, launched how, with what: build/run --help
.PHONY: run-own
run-own: $(BUILD)/run $(filter $(BUILD)/examples/%,$(PROGRAM))
	@set -f; BUILD=$(BUILD) NVCC=$(NVCC) runtime/own.sh $(ON) $${J:+"--jobs=$$J"}

EXAMPLES := $(patsubst examples/%.cu,$(BUILD)/examples/%,$(wildcard examples/*.cu))
$(EXAMPLES): $(BUILD)/examples/%: examples/%.cu examples/check.h runtime/attnlab-nvcc | $(LINKED) $$(@D)/.dir
	@echo "nvcc $@"
	$(Q)BUILD=$(BUILD) NVCC=$(NVCC) runtime/attnlab-nvcc -O3 -std=c++17 -o $@ $<

##own-3 examples: Build small CUDA programs to try.
##  make examples
##
##  Each checks itself: make run PROGRAM=build/examples/sgemm
.PHONY: examples
examples: $(EXAMPLES) $(BUILD)/run

LONG_NEEDS += $(BUILD)/run $(EXAMPLES) $(FORWARD)
gpu-test: $(FORWARD) $(BUILD)/run
