# CUPTI's host header includes <string>; profiler/cxx holds an empty file of that name, for C.
$(BUILD)/profiler/%.o: CPPFLAGS += -isystem profiler/cxx

##start-5 doctor: Say what this machine has and lacks, with the remedies.
##  make doctor
##
##  Tools first, in a second; then CUPTI and the GPU, for which a program is built, once.
.PHONY: doctor
doctor:
	@CC=$(CC) CUDA=$(CUDA) BUILD=$(BUILD) NVCC=$(NVCC) PYTHON=$(PYTHON) MAKE="$(MAKE)" profiler/doctor.sh

$(BUILD)/doctor: $(BUILD)/profiler/doctor.o $(LIB)
	$(LINK)

##look-1 source: Show what each line of a kernel does, hottest first.
##  make stage-3 source
##
##  Counts stand beside the lines of kernel.cu. On a GPU counts are sampled, on the emulator exact.
##
##  ARGS="--sass --ptx"   machine code and PTX below each line
##  ARGS=--csv            a row for each line
.PHONY: source $(addprefix source-,$(STAGES))
ATTENTION_VERBS += source
source: $(if $(MY_EXAM),run-$(EXAM_RUN),$(addprefix source-,$(ATTENTION)))
$(addprefix source-,$(STAGES)): source-%: %
	@set -f; $(BUILD)/alone $(BUILD)/$* $(ON) $$ARGS --source
CHIP_VERBS += source

override WINDOW := $(or $(WINDOW),100)
tables-of = records/runs/$(RECORDED)-timeline-$1.tsv records/runs/$(RECORDED)-timeline-$1-*.tsv
recorded-timelines = $(sort $(wildcard $(call tables-of,$(1:stage-%=%))))
# With no stage named: those that were recorded, if any was.
TIMED = $(or $(if $(RECORDED),$(if $(filter stage-%,$(MAKECMDGOALS)),,$(WITH_TABLES))),$(ATTENTION))
WITH_TABLES = $(foreach s,$(ATTENTION),$(if $(call recorded-timelines,$s),$s))

##look-4 timeline: Draw what the kernel does over time.
##  make stage-6 timeline
##
##  On a GPU all SMs, every 2 us; on the emulator the warps of one block, by role.
##  Writes results/timeline-stage-6.tsv, .png and .svg, and a .json that ui.perfetto.dev opens.
##
##  WINDOW=100      draws 100 us of it
##  RECORDED=h200   draws recorded ones, as results/timeline-h200-stage-6.png
.PHONY: timeline $(addprefix timeline-,$(STAGES))
ATTENTION_VERBS += timeline
timeline: $(addprefix timeline-,$(TIMED))
$(addprefix timeline-,$(STAGES)): timeline-%: %
	@set -f; BUILD=$(BUILD) TABLES="$(if $(RECORDED),$(call recorded-timelines,$*))" profiler/timeline.sh $* $(ON) $$ARGS
CHIP_VERBS += timeline

# The kernels of tests/gpu/gpu_counters.c.
COUNTED := $(foreach a,sm_89 sm_90a,$(BUILD)/images/tests/gpu_counters.$a.cubin)
$(BUILD)/tests/gpu_counters: | $(COUNTED)
$(COUNTED): $(BUILD)/images/tests/gpu_counters.%.cubin: tests/gpu/gpu_counters.cu
	$(call compile,-cubin -arch=$*)

##tables-5 against-ncu: Compare this project's counters with Nsight Compute's.
##  make stage-3 against-ncu
##
##  Needs a GPU and ncu.
.PHONY: against-ncu $(addprefix against-ncu-,$(STAGES))
against-ncu: $(addprefix against-ncu-,$(CHOSEN))
$(addprefix against-ncu-,$(STAGES)): against-ncu-%: %
	@set -f; $(BUILD)/alone python3 profiler/peers/against_ncu.py $(BUILD)/$* $$ARGS

##change-5 against: Say whether a change made a stage faster.
##  make stage-4 against BASE=HEAD~1
##
##  Faster, slower, the same or unsure, against BASE, which is
##
##    a revision         built in build/against/
##    a stage            stage-3: a stage of your own against the one that it comes from
##    a folder           another build of this project
##    a file, a name     of records: results/run.jsonl, or h200 for records/runs/h200.jsonl
.PHONY: against $(addprefix against-,$(STAGES))
ATTENTION_VERBS += against
against: $(addprefix against-,$(ATTENTION))
$(addprefix against-,$(STAGES)): against-%: % $(filter $(STAGES),$(BASE))
	@set -f; $(BUILD)/alone python3 profiler/peers/against.py $(*:stage-%=%) "$$BASE" $(ON) $$ARGS
CHIP_VERBS += against
