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
timeline: $(addprefix timeline-,$(CHOSEN)) ## what the GPU does every 2 us: results/timeline-stage-N.tsv, .png, .svg: WINDOW=100 us of it; RECORDED=h200 draws recorded ones
$(addprefix timeline-,$(STAGES)): timeline-%: %
	@mkdir -p results
ifeq ($(RECORDED),)
	@flock $(BUILD)/device.lock $(BUILD)/$* --device $(DEVICE) $(ARGS) --timeline results/timeline-$*.tsv
	@echo results/timeline-$*.tsv
	@$(call draw-timeline,$*,results/timeline-$*.tsv)
else
	@test -n "$(call recorded-timelines,$*)" || { echo "make: there is no plots/recorded/$(RECORDED)-timeline-$(*:stage-%=%).tsv" >&2; exit 5; }
	@$(call draw-timeline,$*,$(call recorded-timelines,$*))
endif

WINDOW ?= 100
recorded-timelines = $(sort $(wildcard plots/recorded/$(RECORDED)-timeline-$(1:stage-%=%)*.tsv))
# $(call draw-timeline,stage-N,tables)
draw-timeline = command -v gnuplot > /dev/null || { echo "timeline: to draw it install gnuplot-nox (make setup)"; exit 0; }; \
    for t in png svg; do gnuplot -e "tables = '$2'; out = 'results/timeline-$1'; term = '$$t'; window = $(WINDOW)" plots/timeline.gp || exit 5; done; \
    echo results/timeline-$1.png results/timeline-$1.svg

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
