# attnlab: nouns choose stages, verbs act on them.
#
#   make stage-3 run                      one stage
#   make stage-3 stage-6 run ARGS=--causal
#   make run                              all stages
#   make V=1 stage-3                      build, with the compiler's whole commands
#
# Stages are the folders stages/N-name, tests the files tests/*/test_*; nothing is listed here. Verbs live
# beside what they act on, in the *.mk of each folder; what a stage is compiled into, in its file `images`.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDEXPANSION:
MAKEFLAGS += --no-builtin-rules

BUILD  := build
CC     := gcc
PYTHON := .venv/bin/python

# What a user gives is never expanded as make's own text. It reaches commands through the environment:
# "$$DEVICE", and ARGS in words, $$ARGS after `set -f`. The others are names and numbers, or refused.
GIVEN := DEVICE J CHIP STAGE FROM RECORDED WINDOW LINE ACCESS SWEEP_ARCH SWEEP_TILES FUZZ_SECONDS LAB SEED SANDBOX
# What else may be given; any other NAME=VALUE is a slip, and would be ignored in silence.
KNOWN := $(GIVEN) ARGS PROBLEM TESTS PROGRAM KERNEL SUBMISSION SUBMISSIONS BASE V CC BUILD PYTHON NVCC NVCCFLAGS CFLAGS SANITIZE CUDA SWEEP_RULES FUZZ_FLAGS NVDISASM
$(foreach v,$(filter-out $(KNOWN) -%,$(.VARIABLES)),$(if $(filter command line,$(origin $v)),\
    $(error there is no variable $v: those for users are ARGS PROGRAM KERNEL BASE PROBLEM TESTS V $(GIVEN))))
$(foreach v,ARGS PROBLEM TESTS PROGRAM KERNEL SUBMISSION SUBMISSIONS BASE $(GIVEN),$(if $(filter undefined,$(origin $v)),,$(eval override $v := $$(value $v))))
override DEVICE := $(or $(DEVICE),auto)
export ARGS PROBLEM PROGRAM KERNEL SUBMISSION SUBMISSIONS BASE $(GIVEN)

strange := $(DEVICE)$J$(CHIP)$(STAGE)$(FROM)$(RECORDED)$(WINDOW)$(LINE)$(ACCESS)$(SWEEP_ARCH)$(SWEEP_TILES)$(FUZZ_SECONDS)$(LAB)$(SEED)$(SANDBOX)
$(foreach c,a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z \
    0 1 2 3 4 5 6 7 8 9 . _ -,$(eval strange := $$(subst $c,,$$(value strange))))
$(if $(value strange),$(error $(GIVEN) are names and numbers: letters, digits and . _ - only))

# The CUDA toolkit: the one on PATH, /usr/local/cuda, or the wheels that `make setup` puts in .venv.
NVCC := $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc) \
                    $(wildcard .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc) nvcc)
CUDA := $(patsubst %/bin/,%,$(dir $(realpath $(NVCC))))

# #include "common/base/reason.h": paths from here; a file of the same folder by its name.
CPPFLAGS  := -I. -isystem $(CUDA)/include -D_GNU_SOURCE -MMD -MP
CFLAGS    := -std=c11 -O2 -g -march=x86-64-v3 -ffp-contract=off -Wall -Wextra -Werror -fopenmp $(SANITIZE)
NVCCFLAGS := -std=c++17 -lineinfo -I. -I$(BUILD)/include -Xptxas -v --Werror all-warnings
LDLIBS    := -l:libjansson.a -l:libgomp.a -ldl -lm -lpthread
Q         := $(if $(V),,@)
# libgomp's last words are our own: common/base/heap.c
LINK       = $(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) -Wl,--wrap=gomp_fatal,-u,__wrap_gomp_fatal -o $@ $(filter %.o %.a,$^) $(LDLIBS)

STAGE_DIRS := $(sort $(wildcard stages/[0-9]*-*))
stage-of    = stage-$(firstword $(subst -, ,$(notdir $1)))
folder-of   = $(firstword $(foreach d,$(STAGE_DIRS),$(if $(filter $1,$(call stage-of,$d)),$d)))
STAGES     := $(foreach d,$(STAGE_DIRS),$(call stage-of,$d))
CHOSEN     := $(or $(filter stage-%,$(MAKECMDGOALS)),$(STAGES))
$(foreach s,$(filter-out $(STAGES),$(CHOSEN)),$(error there is no $s; there are $(STAGES)))

LIB := $(BUILD)/libattnlab.a
LIB_SRC := $(filter-out profiler/doctor.c emulator/bench/%,$(wildcard common/*/*.c profiler/*.c emulator/*/*.c emulator/*/*/*.c))

##@ Verbs (no stage named: all stages)

.PHONY: help
help: ## this page; make help-more: verbs for those who change or measure the workbench itself
	@sed -n '1,6s/^# \{0,1\}//p' Makefile
	@$(call verbs,##)
	@printf '\nStages\n'
	@for d in $(STAGE_DIRS); do n=$$(basename $$d); \
	    printf '  %-12s %s\n' "stage-$${n%%-*}" "$$(sed -n '1s/^# Stage [0-9]*: //p' $$d/README.md 2>/dev/null)"; done

# $(call verbs,MARK): the verbs whose rule has this mark before its sentence.
verbs = awk -v mark='$1' -F ':[^\#]*\#+ ' '/^\#\#@/ {printf "\n%s\n", substr($$0, 5)} \
    /^[a-z-]+:.*\#\# / {split($$0, at, / /); match($$0, /\#+ /); if (RLENGTH == length(mark) + 1) printf "  %-12s %s\n", $$1, $$2}' \
    $(filter-out $(BUILD)/%,$(MAKEFILE_LIST))

.PHONY: help-more
help-more:
	@$(call verbs,###)

.PHONY: all
all: $(STAGES) ## build every stage and its kernel images

.PHONY: run
# With ARGS, which are attention's, and no stage named: the attention stages.
RUN = $(if $(PROGRAM)$(KERNEL),own,$(if $(ARGS),$(or $(filter stage-%,$(MAKECMDGOALS)),$(ATTENTION)),$(CHOSEN)))
run: $$(addprefix run-,$$(RUN)) ## check, time and count, into results/run.jsonl: ARGS="--seqlen 4096 --causal" DEVICE=auto|cuda|emu J=threads; PROGRAM= KERNEL=: your own
	@$(if $(PROGRAM)$(KERNEL),,$(if $(ARGS),$(if $(filter stage-%,$(MAKECMDGOALS)),,echo "make: left out, with options of their own: $(filter-out $(ATTENTION),$(CHOSEN))" >&2)))

.PHONY: $(addprefix run-,$(STAGES))
$(addprefix run-,$(STAGES)): run-%: %
	@mkdir -p results 2> /dev/null || true
	@set -f; flock -F $(BUILD)/device.lock $(BUILD)/$* --device "$$DEVICE" $${J:+"--jobs=$$J"} --json results/run.jsonl $$ARGS

.PHONY: diff
diff: ## what changed from the stage before, in kernel.cu, step by step where there are steps
	@$(if $(WITH_PREVIOUS),,echo "make: no stage comes before $(CHOSEN); make stage-2 diff says what comes next" >&2; exit 2)
	@for d in $(foreach s,$(WITH_PREVIOUS),$(call folder-of,$s)); do \
	    stages/rungs.sh $$d | { read -r last; while read -r next; do \
	        git --no-pager diff --no-index --stat -p --color=auto $$last $$next; last=$$next; done; }; done

.PHONY: clean
clean: ## remove build/
	rm -rf $(BUILD)

# ---- Host code -------------------------------------------------------------------------------------

$(BUILD)/%.o: %.c | $$(@D)/.dir
	@$(if $(V),,echo "cc $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

%/.dir:
	@mkdir -p $(@D) && touch $@
.PRECIOUS: %/.dir

$(LIB): $(LIB_SRC:%.c=$(BUILD)/%.o)
	@rm -f $@
	$(Q)$(AR) qcs $@ $^

# ---- Stages: a program build/stage-N, and kernel images in build/images/stage-N/ ----------------------
# stages/rules.sh writes the rules of the images into build/images/stage-N.mk: open one. It also says
# what the stage's file `images` says of the stage: previous-stage-N, problem-stage-N, images-stage-N.

# $(call compile,FLAGS): one image; what ptxas said goes to NAME.ARCH.ptxas beside it. After a change of
# NVCCFLAGS: make clean.
define compile
@mkdir -p $(@D); echo "nvcc $@"
$(Q)$(NVCC) $(NVCCFLAGS) $1 $(if $(filter %.cu,$<),-MMD -MP -MF $@.d) -o $@ $< 2> $(basename $@).ptxas || \
    { cat $(basename $@).ptxas >&2; exit 1; }
endef

$(STAGES:%=$(BUILD)/images/%.mk): $(BUILD)/images/%.mk: stages/rules.sh $$(wildcard $$(call folder-of,$$*)/images)
	@mkdir -p $(@D) && stages/rules.sh $(call folder-of,$*) > $@
include $(STAGES:%=$(BUILD)/images/%.mk)
-include $(patsubst %,%.d,$(foreach s,$(STAGES),$(images-$s)))

# wgmma.mma_async for every N, which the CUDA C of Hopper's stages includes.
$(foreach s,$(STAGES),$(images-$s)): | $(BUILD)/include/wgmma.cuh
$(BUILD)/include/wgmma.cuh: common/cuda/wgmma.sh
	@mkdir -p $(@D) && $< > $@

ATTENTION      := $(foreach s,$(CHOSEN),$(if $(filter attention,$(problem-$s)),$s))
attention-only  = $(if $(ATTENTION),,echo "make: $(CHOSEN) computes no attention ($(problem-$(CHOSEN))) and has no $@; make help lists the other stages" >&2; exit 2)
WITH_PREVIOUS  := $(foreach s,$(CHOSEN),$(if $(filter-out none,$(previous-$s)),$s))

.PHONY: $(STAGES)
$(STAGES): %: $(if $(RECORDED),,$(BUILD)/% $$(images-%)) # recorded results need no build
	@:

# A stage's number, name and predecessor come from its folder: a copy of a folder is another stage.
stage-flags = -DSTAGE_FOLDER='"$1"' -DSTAGE_PREVIOUS='"$(filter-out none,$(previous-$(call stage-of,$1)))"'
$(BUILD)/stages/%.o: CPPFLAGS += $(call stage-flags,$(word 2,$(subst /, ,$<)))
stage-objects = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(call folder-of,$1)/*.c))
$(STAGES:%=$(BUILD)/%): $(BUILD)/%: $$(call stage-objects,$$*) $(LIB)
	$(LINK)

include $(filter-out build/%,$(sort $(wildcard */*.mk */*/*.mk */*/*/*.mk)))
-include $(shell find $(BUILD) -name '*.o' 2>/dev/null | sed 's/o$$/d/')
