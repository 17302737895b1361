# build/run, and the libraries that stand in for NVIDIA's in the programs that it starts: one file under
# three names. Its objects are compiled for a shared library, in build/pic.

RUN_SRC := $(filter-out runtime/session/main.c runtime/python/forward.c,$(wildcard runtime/*/*.c))
STANDIN := $(BUILD)/runtime/libattnlab.so
PIC_LIB := $(BUILD)/pic/libattnlab.a

$(BUILD)/pic/%.o: CFLAGS += -fPIC -fvisibility=hidden
$(BUILD)/pic/emulator/%.o: CFLAGS += -O3
$(BUILD)/pic/profiler/%.o: CPPFLAGS += -isystem profiler/cxx
$(BUILD)/pic/common/base/revision.o: CPPFLAGS += -DREVISION='"$(REVISION)"'
$(BUILD)/pic/common/base/revision.o: $(BUILD)/revision
$(BUILD)/pic/%.o: %.c | $$(@D)/.dir
	@$(if $(V),,echo "cc -fPIC $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(PIC_LIB): $(LIB_SRC:%.c=$(BUILD)/pic/%.o)
	@rm -f $@
	$(Q)$(AR) qcs $@ $^

$(STANDIN): $(RUN_SRC:%.c=$(BUILD)/pic/%.o) $(PIC_LIB) runtime/shim/versions.ld | $$(@D)/.dir
	$(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) -shared -Wl,--version-script=runtime/shim/versions.ld -Wl,-z,defs \
	    -o $@ $(filter %.o %.a,$^) $(filter-out -l:%.a,$(LDLIBS)) -ljansson -lgomp
	@cd $(@D) && for name in libcudart.so.13 libcuda.so.1 libcublas.so.13 libcublasLt.so.13; do ln -sfn $(@F) $$name; ln -sfn $(@F) $${name%.so.*}.so; done

# What programs are linked with: the names of NVIDIA's libraries, and of their functions those that are here. A program
# linked with them starts on a GPU with NVIDIA's own.
LINKED := $(patsubst %,$(BUILD)/runtime/link/lib%.so,cuda cudart cublas cublasLt)
$(LINKED): $(BUILD)/runtime/link/lib%.so: $(STANDIN) | $$(@D)/.dir
	@nm -D --defined-only $< | awk -v own=$(if $(filter cuda,$*),,lib$*.so.13) \
	    '{split($$3, x, "@@")} x[2] == own && x[1] ~ /^(__)?cu[A-Z]|^(__)?cuda|^cublas/ {print "void " x[1] "(void) {}"}' > $@.c
	@echo '$(if $(filter cuda,$*),,lib$*.so.13) { global: *; };' > $@.map
	$(Q)$(CC) -shared -nostdlib -fno-builtin -w -Wl,-soname,lib$*.so.$(if $(filter cuda,$*),1,13) \
	    $(if $(filter cuda,$*),,-Wl,--version-script=$@.map) -o $@ $@.c

# What the driver loads into a program on a GPU, to count its launches.
GPU_OWN := gpu gpu_launch gpu_metrics
GPU_SRC := $(patsubst %,runtime/session/%.c,$(GPU_OWN) session report settings predictions repeat fatbin)
INJECTED := $(BUILD)/runtime/libattnlab-gpu.so
$(GPU_OWN:%=$(BUILD)/pic/runtime/session/%.o) $(GPU_OWN:%=$(BUILD)/runtime/session/%.o): CPPFLAGS += -isystem profiler/cxx
$(INJECTED): $(GPU_SRC:%.c=$(BUILD)/pic/%.o) $(PIC_LIB) | $$(@D)/.dir
	$(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) -shared -Wl,-z,defs -o $@ $(filter %.o %.a,$^) $(filter-out -l:%.a,$(LDLIBS)) -ljansson -lgomp

# attnlab.forward: a library for each stage of attention, which is the registry here as in a program.
$(BUILD)/pic/stages/%.o: CPPFLAGS += $(call stage-flags,$(word 2,$(subst /, ,$<)))
stage-pic = $(patsubst %.c,$(BUILD)/pic/%.o,$(wildcard $(call folder-of,$1)/*.c))
FORWARD := $(patsubst stage-%,$(BUILD)/runtime/attnlab-%.so,$(filter-out stage-5,$(STAGES)))
$(FORWARD): $(BUILD)/runtime/attnlab-%.so: $(BUILD)/pic/runtime/python/forward.o $(PIC_LIB) \
        $$(call stage-pic,stage-$$*)
	$(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) -shared -Wl,-z,defs -o $@ \
	    $(filter-out $(PIC_LIB),$(filter %.o,$^)) $(PIC_LIB) $(filter-out -l:%.a,$(LDLIBS)) -ljansson -lgomp

.PHONY: python
python: $(FORWARD) $(BUILD)/run $(CHOSEN) ### attnlab.forward and attnlab.RawKernel for Python: pip install -e . finds them here

$(BUILD)/run: $(BUILD)/runtime/session/main.o $(RUN_SRC:%.c=$(BUILD)/%.o) $(LIB) | $(STANDIN) $(INJECTED) $(LINKED)
	$(LINK)

# make run PROGRAM="./sgemm its arguments" ARGS=--source; make run KERNEL=my.cu ARGS="--kernel sgemm --grid 8x8 ..."
.PHONY: run-own
run-own: $(BUILD)/run
	@$(if $(PROGRAM),$(if $(KERNEL),echo "make: PROGRAM and KERNEL: one of them" >&2; exit 2))
	@mkdir -p results 2> /dev/null || true
	@set -f; set -- --device "$$DEVICE" $${J:+"--jobs=$$J"} $${CHIP:+"--chip=$$CHIP"} --json results/run.jsonl; \
	    if [ -n "$$KERNEL" ]; then $(BUILD)/run "$$@" $$ARGS "$$KERNEL"; else $(BUILD)/run "$$@" $$ARGS -- $$PROGRAM; fi

EXAMPLES := $(patsubst examples/%.cu,$(BUILD)/examples/%,$(wildcard examples/*.cu))
$(EXAMPLES): $(BUILD)/examples/%: examples/%.cu examples/check.h runtime/attnlab-nvcc | $(LINKED) $$(@D)/.dir
	@echo "nvcc $@"
	$(Q)BUILD=$(BUILD) NVCC=$(NVCC) runtime/attnlab-nvcc -O3 -std=c++17 -o $@ $<

.PHONY: examples
examples: $(EXAMPLES) $(BUILD)/run ## small programs that check themselves, in build/examples: make run PROGRAM=build/examples/sgemm

test: $(BUILD)/run $(EXAMPLES) $(FORWARD)
gpu-test: $(FORWARD) $(BUILD)/run
