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
##  exam-1: a GEMM with mma.sync. exam-2: with TMA and WGMMA.
##  check, hint and see judge your kernel as they judge a lab's; run, source and watch show what it does.
##
##  PROBLEM=256x256x128     rows and columns of C, columns of A and B: for run, source and watch
##  make exam-1 board       the instructor's: who is fastest
PYTHON_VERBS += $(EXAM_NAMES)
.PHONY: $(EXAM_NAMES)
$(EXAM_NAMES): exam-%:
	@$(if $(MY_EXAM_VERB),:,$(lab-python))
	@$(if $(MY_EXAM_VERB),:,$(PYTHON) notebooks/course/start.py exam-$*)

# Our own kernel, and the program that launches a student's.
exam-architecture = $(shell sed -n 's/^stage *//p' notebooks/course/exams/$1/exam)
exam-ptx = $(BUILD)/images/exams/gemm-$1.$(call exam-architecture,$1).ptx
exam-images = $(call exam-ptx,$1) $(BUILD)/images/exams/gemm-$1.sm_90a.cubin
SOLVED := $(foreach n,$(EXAM_NAMES:exam-%=%),$(if $(wildcard notebooks/course/exams/$n/solution/gemm.cu),$n))
exam-of = $(patsubst gemm-%,%,$(firstword $(subst ., ,$(notdir $1))))
EXAM_PTX := $(foreach n,$(SOLVED),$(call exam-ptx,$n))
$(EXAM_PTX): notebooks/course/exams/$$(call exam-of,$$@)/solution/gemm.cu | $(BUILD)/include/wgmma.cuh
	$(call compile,-ptx -arch=$(call exam-architecture,$(call exam-of,$@)))
$(SOLVED:%=$(BUILD)/images/exams/gemm-%.sm_90a.cubin): $(BUILD)/images/exams/gemm-%.sm_90a.cubin: $$(call exam-ptx,$$*)
	$(call compile,-cubin -arch=sm_90a)
-include $(EXAM_PTX:%=%.d)

EXAM_LAUNCH := $(BUILD)/exams/launch
LONG_NEEDS += $(BUILD)/trial-exams $(EXAM_LAUNCH) $(foreach n,$(SOLVED),$(call exam-images,$n))
$(EXAM_LAUNCH): notebooks/course/exams/launch.cu notebooks/course/exams/gemm_args.h runtime/attnlab-nvcc | $(LINKED) $$(@D)/.dir
	@echo "nvcc $@"
	$(Q)BUILD=$(BUILD) NVCC=$(NVCC) runtime/attnlab-nvcc -O2 -std=c++17 -I. -o $@ $< -lcuda

ifneq ($(MY_EXAM),)
EXAM_NEEDS := $(BUILD)/run $(EXAM_LAUNCH) $(call exam-images,$(MY_EXAM:exam-%=%)) $(BUILD)/include/wgmma.cuh
exam-check = $(exam-program) check $(MY_EXAM)
exam-see   = $(exam-program) see $(MY_EXAM)
exam-program = notebooks/course/exams/exam.py
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
override LAB     := $(MY_EXAM)
override SUBMISSION := $(or $(SUBMISSION),my-labs/$(MY_EXAM))
endif
