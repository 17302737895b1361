# The corpus of asynchronous code: tests/corpus/*.cu, each into PTX for the emulator and a cubin for a GPU. ptxas warns of
# wgmma kernels that it has to serialise, and racy ones are such.
CORPUS := $(patsubst tests/corpus/%.cu,%,$(wildcard tests/corpus/*.cu))
CORPUS_LAUNCH := $(BUILD)/tests/corpus-launch
CORPUS_PTX := $(CORPUS:%=$(BUILD)/images/corpus/%.compute_90a.ptx)
CORPUS_CUBIN := $(CORPUS:%=$(BUILD)/images/corpus/%.sm_90a.cubin)

$(CORPUS_PTX): $(BUILD)/images/corpus/%.compute_90a.ptx: tests/corpus/%.cu tests/corpus/corpus.cuh $(BUILD)/include/wgmma.cuh
	$(call compile,-ptx -arch=compute_90a)
$(CORPUS_CUBIN): $(BUILD)/images/corpus/%.sm_90a.cubin: tests/corpus/%.cu tests/corpus/corpus.cuh $(BUILD)/include/wgmma.cuh
	@mkdir -p $(@D); echo "nvcc $@"
	$(Q)$(NVCC) $(filter-out --Werror all-warnings,$(NVCCFLAGS)) -w -cubin -arch=sm_90a -o $@ $< 2> $(basename $@).ptxas || \
	    { cat $(basename $@).ptxas >&2; exit 1; }

$(CORPUS_LAUNCH): $(BUILD)/tests/corpus/launch.o $(LIB)
	@mkdir -p $(@D)
	$(LINK)
LONG_NEEDS += $(CORPUS_LAUNCH) $(CORPUS_PTX)

##gpu-5 corpus: Build asynchronous kernels for compute-sanitizer.
##  make corpus
##
##  tests/corpus/sanitizer.sh runs each kernel under racecheck, synccheck and memcheck.
.PHONY: corpus
corpus: $(CORPUS_LAUNCH) $(CORPUS_CUBIN)
