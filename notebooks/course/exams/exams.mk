# An exam is a folder notebooks/course/exams/N: make exam-1, make exam-1 check, make exam-1 grade.
EXAM_NAMES := $(patsubst notebooks/course/exams/%/exam,exam-%,$(wildcard notebooks/course/exams/[0-9]*/exam))
MY_EXAM    := $(filter exam-%,$(MAKECMDGOALS))
$(foreach n,$(filter-out $(EXAM_NAMES),$(MY_EXAM)),$(error there is no $n; there are $(EXAM_NAMES)))
$(if $(word 2,$(MY_EXAM)),$(error $(MY_EXAM): name one exam))
EXAM_VERBS := check hint see run source watch grade handout board
MY_EXAM_VERB := $(if $(MY_EXAM),$(filter $(EXAM_VERBS),$(MAKECMDGOALS)))
$(if $(MY_EXAM),$(foreach v,$(filter-out exam-% setup $(EXAM_VERBS),$(MAKECMDGOALS)),\
    $(error $(MY_EXAM) has no $v: it has $(EXAM_VERBS))))

##course-6 exam-N: Begin an exam: its page and a signature.
##  make exam-1
##
##  exam-1: a GEMM with mma.sync. exam-2: with TMA and WGMMA. exam-3: attention that beats stage 4.
##  check, hint and see judge your kernel as they judge a lab's; run, source and watch show what it does.
##
##  PROBLEM=256x256x128     rows and columns of C, columns of A and B: for run, source and watch
##  PROBLEM="--causal"      the same for exam-3, where it is a stage's options; for see, too
##  make exam-1 board       the instructor's: who is fastest
PYTHON_VERBS += $(EXAM_NAMES)
.PHONY: $(EXAM_NAMES)
$(EXAM_NAMES): exam-%:
	@$(if $(MY_EXAM_VERB),:,$(lab-python))
	@$(if $(MY_EXAM_VERB),:,$(PYTHON) notebooks/course/start.py exam-$*)

# Our own kernel, and the program that launches a student's: of a GEMM by build/run, of attention (exam 3) as a stage does.
exam-architecture = $(shell sed -n 's/^stage *//p' notebooks/course/exams/$1/exam)
exam-solution = $(firstword $(wildcard notebooks/course/exams/$1/solution/*.cu))
ATTENTION_EXAMS := $(patsubst notebooks/course/exams/%/attention.cu,%,$(wildcard notebooks/course/exams/*/attention.cu))
is-attention = $(filter $1,$(ATTENTION_EXAMS))
exam-image = $(BUILD)/images/$(if $(is-attention),stage-0/d128,exams/gemm-$1)
exam-ptx = $(exam-image).$(exam-architecture).ptx
exam-cubin = $(exam-image).sm_90a.cubin
# What a student's kernel is compared with: our own, or stage 4.
exam-images = $(if $(is-attention),$(stage-4-images),$(exam-ptx) $(exam-cubin))
stage-4-images = $(filter %/d128.compute_89.ptx %/d128.sm_90a.cubin,$(images-stage-4))
SOLVED := $(foreach n,$(EXAM_NAMES:exam-%=%),$(if $(call exam-solution,$n),$n))
exam-of = $(firstword $(foreach n,$(SOLVED),$(if $(filter $(call exam-image,$n).%,$1),$n)))
EXAM_PTX := $(foreach n,$(SOLVED),$(call exam-ptx,$n))
EXAM_CUBINS := $(foreach n,$(SOLVED),$(call exam-cubin,$n))
$(EXAM_PTX): $$(call exam-solution,$$(call exam-of,$$@)) | $(BUILD)/include/wgmma.cuh
	$(call compile,-ptx -arch=$(call exam-architecture,$(call exam-of,$@)))
$(EXAM_CUBINS): $$(call exam-ptx,$$(call exam-of,$$@))
	$(call compile,-cubin -arch=sm_90a)
-include $(EXAM_PTX:%=%.d)

EXAM_LAUNCH := $(BUILD)/exams/launch
EXAM_STAGE := $(BUILD)/stage-0
LONG_NEEDS += $(BUILD)/trial-exams $(BUILD)/trial-0 $(EXAM_LAUNCH) $(EXAM_STAGE) $(EXAM_PTX) $(foreach n,$(SOLVED),$(call exam-images,$n))
$(EXAM_LAUNCH): notebooks/course/exams/launch.cu notebooks/course/exams/gemm_args.h runtime/attnlab-nvcc | $(LINKED) $$(@D)/.dir
	@echo "nvcc $@"
	$(Q)BUILD=$(BUILD) NVCC=$(NVCC) runtime/attnlab-nvcc -O2 -std=c++17 -I. -o $@ $< -lcuda
$(EXAM_STAGE): $(BUILD)/notebooks/course/exams/attention.o $(LIB) | $(if $(D3),$(WATCH_PAGE))
	$(LINK)

ifneq ($(MY_EXAM),)
override LAB     := $(MY_EXAM)
override SUBMISSION := $(or $(SUBMISSION),my-labs/$(MY_EXAM))
MY_NUMBER := $(MY_EXAM:exam-%=%)
EXAM_RUN := $(if $(call is-attention,$(MY_NUMBER)),exam,own)
exam-program = notebooks/course/exams/exam.py
ifneq ($(call is-attention,$(MY_NUMBER)),)
EXAM_NEEDS := $(EXAM_STAGE) $(BUILD)/stage-4 $(call exam-images,$(MY_NUMBER)) $(BUILD)/include/wgmma.cuh
exam-check = notebooks/course/check.py $(MY_EXAM)
exam-see   = notebooks/course/see.py $(MY_EXAM) $$PROBLEM
check see: $(EXAM_NEEDS)
EXAM_RUNS := $(filter run source watch,$(MAKECMDGOALS))
RUN = $(EXAM_RUN)
SKIPPED =
.PHONY: run-exam
run-exam: $(EXAM_NEEDS) $(if $(filter watch,$(EXAM_RUNS)),$(WATCH_PAGE))
	@$(lab-python); mkdir -p results
	@set -f; BUILD=$(BUILD) NVCC=$(NVCC) $(PYTHON) notebooks/course/watch.py $(MY_EXAM) --verb $(EXAM_RUNS) $$PROBLEM $$ARGS
else
EXAM_NEEDS := $(BUILD)/run $(EXAM_LAUNCH) $(call exam-images,$(MY_NUMBER)) $(BUILD)/include/wgmma.cuh
exam-check = $(exam-program) check $(MY_EXAM)
exam-see   = $(exam-program) see $(MY_EXAM)
MY_PTX := $(BUILD)/exams/$(MY_EXAM).ptx
$(MY_PTX): my-labs/$(MY_EXAM)/gemm.cu $(EXAM_NEEDS)
	@$(lab-python)
	@BUILD=$(BUILD) NVCC=$(NVCC) $(PYTHON) $(exam-program) compile $(MY_EXAM) --out $@

my-labs/%/gemm.cu:
	@echo "make: there is no my-labs/$*: make $*" >&2; exit 2

check see: $(EXAM_NEEDS)
run-own: $(if $(filter run source watch,$(MAKECMDGOALS)),$(MY_PTX) $(if $(filter watch,$(MAKECMDGOALS)),$(WATCH_PAGE)))
override PROGRAM := $(if $(filter run source watch,$(MAKECMDGOALS)),$(EXAM_LAUNCH) $(MY_EXAM) $(MY_PTX) $(or $(PROBLEM),256x256x128))
override ARGS    := $(ARGS) $(if $(filter source,$(MAKECMDGOALS)),--source) \
    $(if $(filter watch,$(MAKECMDGOALS)),--watch-page results/watch-$(MY_EXAM).html)
endif
endif
