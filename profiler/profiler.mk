# CUPTI's host header includes <string>; profiler/cxx holds an empty file of that name, for C.
$(BUILD)/profiler/%.o: CPPFLAGS += -isystem profiler/cxx

.PHONY: doctor
doctor: ## what is here, what is not, and the remedy for each
	@command -v $(CC) > /dev/null && test -e $(CUDA)/include/cuda.h || \
	    { echo "missing: a C compiler or CUDA's headers, without which nothing is built; run 'make setup'"; exit 77; }
	@mkdir -p $(BUILD) && test -w $(BUILD) || { echo "missing: the right to write to $(BUILD)/; clone the repository for yourself"; exit 77; }
	@$(MAKE) --no-print-directory $(BUILD)/doctor > $(BUILD)/doctor.log 2>&1 || \
	    { tail -5 $(BUILD)/doctor.log; echo "missing: something that the build needs; run 'make setup'"; exit 77; }
	@$(BUILD)/doctor $(NVCC) $(PYTHON)

$(BUILD)/doctor: $(BUILD)/profiler/doctor.o $(LIB)
	$(LINK)

.PHONY: source $(addprefix source-,$(STAGES))
source: $(addprefix source-,$(ATTENTION)) ## hot lines first, then the kernel with counts beside its lines: ARGS="--sass --ptx", --csv
	@$(attention-only)
$(addprefix source-,$(STAGES)): source-%: %
	@set -f; flock -F $(BUILD)/device.lock $(BUILD)/$* --device "$$DEVICE" $$ARGS --source

override WINDOW := $(or $(WINDOW),100)
recorded-timelines = $(sort $(wildcard records/runs/$(RECORDED)-timeline-$(1:stage-%=%).tsv records/runs/$(RECORDED)-timeline-$(1:stage-%=%)-*.tsv))
# With no stage named: those that were recorded, if any was.
TIMED = $(or $(if $(RECORDED),$(if $(filter stage-%,$(MAKECMDGOALS)),,$(foreach s,$(ATTENTION),$(if $(call recorded-timelines,$s),$s)))),$(ATTENTION))

.PHONY: timeline $(addprefix timeline-,$(STAGES))
timeline: $(addprefix timeline-,$(TIMED)) ## what the GPU does every 2 us, on the emulator one block's warps by role: results/timeline-stage-N.tsv, .png, .svg: WINDOW=100 us of it; RECORDED=h200 draws recorded ones
	@$(attention-only)
$(addprefix timeline-,$(STAGES)): timeline-%: %
	@test "$(WINDOW)" -gt 0 2> /dev/null || { echo "make: WINDOW is a whole number of us above 0, not '$(WINDOW)'" >&2; exit 2; }
	@mkdir -p results 2> /dev/null && test -w results || { echo "make: cannot write to results: make it writable" >&2; exit 5; }
ifeq ($(RECORDED),)
	@rm -f results/timeline-$*-warps.tsv; set -f; flock -F $(BUILD)/device.lock $(BUILD)/$* --device "$$DEVICE" $$ARGS --timeline results/timeline-$*.tsv
	@for t in results/timeline-$*.tsv results/timeline-$*-warps.tsv; do ! test -f $$t || { echo $$t; \
	    ! grep -q '^lane' $$t || echo "$${t%.tsv}.json: for ui.perfetto.dev or chrome://tracing"; }; done
	@$(call draw-timeline,$*,results/timeline-$*.tsv)
	@! test -f results/timeline-$*-warps.tsv || { $(call draw-timeline,$*-warps,results/timeline-$*-warps.tsv); }
else
	@test -n "$(call recorded-timelines,$*)" || { \
	    echo "make: there is no records/runs/$(RECORDED)-timeline-$(*:stage-%=%).tsv; recorded are: $(patsubst records/runs/%.tsv,%,$(wildcard records/runs/*-timeline-*.tsv))" >&2; exit 5; }
	@$(call draw-timeline,$*,$(call recorded-timelines,$*))
endif

# $(call draw-timeline,stage-N,tables)
draw-timeline = command -v gnuplot > /dev/null || { echo "timeline: to draw it install gnuplot-nox (make setup)"; exit 0; }; \
    if grep -q '^lane' $2; then set -- plots/warps.gp "table = '$2'"; else set -- plots/timeline.gp "tables = '$2'"; fi; \
    for t in png svg; do plots/draw.sh $$1 results/timeline-$1 $$t "$$2; window = $(WINDOW)" || exit 5; done; \
    echo results/timeline-$1.png results/timeline-$1.svg

# The kernels of tests/gpu/gpu_counters.c.
COUNTED := $(foreach a,sm_89 sm_90a,$(BUILD)/images/tests/gpu_counters.$a.cubin)
$(BUILD)/tests/gpu_counters: | $(COUNTED)
$(COUNTED): $(BUILD)/images/tests/gpu_counters.%.cubin: tests/gpu/gpu_counters.cu | $(BUILD)/images/tests/.dir
	@echo "nvcc $@"
	@$(NVCC) $(NVCCFLAGS) -cubin -arch=$* -o $@ $< 2> $(basename $@).ptxas || { cat $(basename $@).ptxas >&2; exit 1; }

.PHONY: against-ncu $(addprefix against-ncu-,$(STAGES))
against-ncu: $(addprefix against-ncu-,$(CHOSEN)) ### this project's counters beside Nsight Compute's, on a GPU
$(addprefix against-ncu-,$(STAGES)): against-ncu-%: %
	@set -f; flock -F $(BUILD)/device.lock python3 profiler/peers/against_ncu.py $(BUILD)/$* $$ARGS

.PHONY: against $(addprefix against-,$(STAGES))
against: $(addprefix against-,$(ATTENTION)) ## faster, slower or the same? a stage against BASE=revision, folder, file of records, or recorded name
	@$(attention-only)
$(addprefix against-,$(STAGES)): against-%: %
	@set -f; flock -F $(BUILD)/device.lock python3 profiler/peers/against.py $(*:stage-%=%) "$$BASE" --device "$$DEVICE" $$ARGS
