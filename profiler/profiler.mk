# CUPTI's host header includes <string>; profiler/cxx holds an empty file of that name, for C.
$(BUILD)/profiler/%.o: CPPFLAGS += -isystem profiler/cxx

.PHONY: doctor
doctor: ## what is here, what is not, and the remedy for each
	@command -v $(CC) > /dev/null && test -e $(CUDA)/include/cuda.h || \
	    { echo "missing: a C compiler or CUDA's headers, without which nothing is built; run 'make setup'"; exit 77; }
	@mkdir -p $(BUILD); $(MAKE) --no-print-directory $(BUILD)/doctor > $(BUILD)/doctor.log 2>&1 || \
	    { tail -5 $(BUILD)/doctor.log; echo "missing: something that the build needs; run 'make setup'"; exit 77; }
	@$(BUILD)/doctor $(NVCC) $(PYTHON)

$(BUILD)/doctor: $(BUILD)/profiler/doctor.o $(LIB)
	$(LINK)

.PHONY: source $(addprefix source-,$(STAGES))
source: $(addprefix source-,$(CHOSEN)) ## the kernel with counts beside its lines: executions, wavefronts, sectors
$(addprefix source-,$(STAGES)): source-%: %
	@flock $(BUILD)/device.lock $(BUILD)/$* --device $(DEVICE) $(ARGS) --source

.PHONY: timeline $(addprefix timeline-,$(STAGES))
timeline: $(addprefix timeline-,$(CHOSEN)) ## what the GPU does every 2 us: results/timeline-stage-N.tsv, .png, .svg
$(addprefix timeline-,$(STAGES)): timeline-%: %
	@mkdir -p results
	@flock $(BUILD)/device.lock $(BUILD)/$* --device $(DEVICE) $(ARGS) --timeline results/timeline-$*.tsv
	@for t in png svg; do command -v gnuplot > /dev/null || { echo "timeline: to draw it install gnuplot-nox (make setup)"; break; }; \
	    gnuplot -e "table = 'results/timeline-$*.tsv'; out = 'results/timeline-$*'; term = '$$t'" plots/timeline.gp; done
	@echo results/timeline-$*.tsv

# The kernels of tests/gpu_counters.c.
COUNTED := $(foreach a,sm_89 sm_90a,$(BUILD)/images/tests/gpu_counters.$a.cubin)
$(BUILD)/tests/gpu_counters: | $(COUNTED)
$(COUNTED): $(BUILD)/images/tests/gpu_counters.%.cubin: tests/gpu_counters.cu | $(BUILD)/images/tests/.dir
	@echo "nvcc $@"
	@$(NVCC) $(NVCCFLAGS) -cubin -arch=$* -o $@ $< 2> $(basename $@).ptxas || { cat $(basename $@).ptxas >&2; exit 1; }

.PHONY: against-ncu $(addprefix against-ncu-,$(STAGES))
against-ncu: $(addprefix against-ncu-,$(CHOSEN)) ## this project's counters beside Nsight Compute's, on a GPU
$(addprefix against-ncu-,$(STAGES)): against-ncu-%: %
	@flock $(BUILD)/device.lock python3 profiler/against_ncu.py $(BUILD)/$* $(ARGS)
