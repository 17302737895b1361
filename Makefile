# attnlab: nouns choose stages, verbs act on them.
#
#   make stage-3 run                      one stage
#   make stage-3 stage-6 run ARGS=--causal
#   make run                              all stages
#   make V=1 stage-3                      build, with the compiler's whole commands
#
# Stages are the folders stages/N-name, tests the files tests/*/test_*; nothing is listed here. Verbs live
# beside what they act on, in the *.mk of each folder; what a stage is compiled into, in its file `images`.

.DEFAULT_GOAL := start
.DELETE_ON_ERROR:
.SECONDEXPANSION:
MAKEFLAGS += --no-builtin-rules

BUILD  := build
CC     := gcc
PYTHON := .venv/bin/python

# `make`, `make help`, `make completion` and `make mine` need nothing else of this file.
include setup/help.mk setup/mine.mk
comma := ,
ifeq ($(SPEAKING),)

# What a user gives is never expanded as make's own text. It reaches commands through the environment:
# "$$DEVICE", and ARGS in words, $$ARGS after `set -f`. Those of PLAIN are names and numbers, or refused.
PLAIN := DEVICE J CHIP STAGE RECORDED WINDOW LINE ACCESS SWEEP_ARCH SWEEP_TILES FUZZ_SECONDS COUNT LAB SEED SANDBOX THOROUGH
GIVEN := ARGS PROBLEM TESTS FROM SLURM PROGRAM KERNEL SUBMISSION SUBMISSIONS BASE $(PLAIN)
# What else may be given; any other NAME=VALUE is a slip, and would be ignored in silence.
KNOWN := $(GIVEN) V CC AR BUILD PYTHON NVCC NVCCFLAGS CFLAGS SANITIZE CUDA SWEEP_RULES FUZZ_FLAGS NVDISASM
$(foreach v,$(filter-out $(KNOWN) -%,$(.VARIABLES)),$(if $(filter command line,$(origin $v)),\
    $(error there is no variable $v: those for users are ARGS PROGRAM KERNEL BASE PROBLEM TESTS FROM SLURM V $(PLAIN))))
$(foreach v,$(GIVEN),$(if $(filter undefined,$(origin $v)),,$(eval override $v := $$(value $v))))
override DEVICE := $(or $(DEVICE),auto)
export $(filter-out TESTS,$(GIVEN))

strange := $(subst $(comma),,$(value RECORDED))
$(foreach v,$(filter-out RECORDED,$(PLAIN)),$(eval strange := $$(strange)$$(value $v)))
$(foreach c,a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z \
    0 1 2 3 4 5 6 7 8 9 . _ -,$(eval strange := $$(subst $c,,$$(value strange))))
$(if $(value strange),$(error $(PLAIN) are names and numbers: letters, digits and . _ - only; \
    RECORDED may have several, with commas between))

# The CUDA toolkit: the one on PATH, /usr/local/cuda, or the wheels that `make setup` puts in .venv.
NVCC := $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc) \
                    $(wildcard .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc) nvcc)
# Without nvcc, its headers from .venv: images then come from a tarball (stages/dist.mk).
HEADERS := $(firstword $(wildcard .venv/lib/python3*/site-packages/nvidia/cu13/include/cuda.h))
CUDA := $(or $(patsubst %/bin/,%,$(dir $(realpath $(NVCC)))),$(HEADERS:%/include/cuda.h=%))
no-toolkit = echo "make: there is no nvcc$(if $(wrong-nvcc), at NVCC=$(NVCC)): $(remedy)" >&2; exit 77
remedy = run make setup, which installs CUDA's compiler, or take images: make help images
wrong-nvcc = $(filter command,$(firstword $(origin NVCC)))

# #include "common/base/reason.h": paths from here; a file of the same folder by its name.
CPPFLAGS  := -I. -isystem $(CUDA)/include -D_GNU_SOURCE -MMD -MP
# The processor that CC compiles for: a char has a sign on each of them.
MARCH     := $(if $(findstring aarch64,$(shell $(CC) -dumpmachine 2>/dev/null)),-fsigned-char,-march=x86-64-v3)
# Objects are for programs and shared libraries alike (runtime/runtime.mk).
CFLAGS    := -std=c11 -O2 -g $(MARCH) -fPIC -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Werror -fopenmp $(SANITIZE)
NVCCFLAGS := -std=c++17 -lineinfo -I. -I$(BUILD)/include -Xptxas -v --Werror all-warnings
# Static where there is a static one: Fedora has none.
archive    = $(if $(filter /%,$(shell $(CC) -print-file-name=lib$1.a 2>/dev/null)),-l:lib$1.a,-l$1)
LDLIBS    := $(call archive,jansson) $(call archive,gomp) -ldl -lm -lpthread
Q         := $(if $(V),,@)
# libgomp's last words are our own: common/base/heap.c
OUR_WORDS := -Wl,--wrap=gomp_fatal,-u,__wrap_gomp_fatal
LINK       = $(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) $(OUR_WORDS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS)

STAGE_DIRS := $(sort $(wildcard stages/[0-9]*-*))
stage-of    = stage-$(firstword $(subst -, ,$(notdir $1)))
folder-of   = $(firstword $(foreach d,$(STAGE_DIRS),$(if $(filter $1,$(call stage-of,$d)),$d)))
STAGES     := $(foreach d,$(STAGE_DIRS),$(call stage-of,$d))
CHOSEN     := $(or $(filter stage-%,$(MAKECMDGOALS)),$(STAGES))
$(foreach s,$(filter-out $(STAGES),$(CHOSEN)),$(error there is no $s; there are $(STAGES)))

LIB := $(BUILD)/libattnlab.a
LIB_SRC := $(filter-out profiler/doctor.c common/device/alone.c emulator/bench/%,\
    $(wildcard common/*/*.c common/*/*/*.c profiler/*.c emulator/*/*.c emulator/*/*/*.c))

##change-7 all: Build every stage and its kernel images.
##  make -j2 all
##
##  make stage-3 builds one stage; V=1 shows the compiler's whole commands.
.PHONY: all
all: $(STAGES)

##start-2 run: Check a stage's answer, time it and count its work.
##  make stage-3 run
##
##  Without a stage: all of them. Records are added to results/run.jsonl.
##
##  ARGS="--seqlen 4096 --causal"   the problem, and every other option that build/stage-3 --help lists
##  DEVICE=auto|cuda|emu            auto takes a GPU if there is one, and the emulator otherwise
##  CHIP=h100                       the chip that the emulator stands for: a file of chips/
##  J=2                             threads of the emulator
.PHONY: run
# With ARGS, which are attention's, and no stage named: the attention stages.
RUN = $(if $(OWN),own,$(if $(ARGS),$(or $(filter stage-%,$(MAKECMDGOALS)),$(ATTENTION)),$(CHOSEN)))
OWN = $(PROGRAM)$(KERNEL)
SKIPPED = $(if $(OWN)$(filter stage-%,$(MAKECMDGOALS)),,$(if $(ARGS),$(filter-out $(ATTENTION),$(CHOSEN))))
say-skipped = echo "make: left out, with options of their own: $(SKIPPED)" >&2
run: $$(addprefix run-,$$(RUN))
	@$(if $(SKIPPED),$(say-skipped))

# Threads of OpenMP that have nothing to do sleep: by libgomp's default they spin, which is most of what a small problem
# takes, and takes it from programs beside it.
export OMP_WAIT_POLICY ?= passive

# What every command that runs a stage passes on.
ON = --device "$$DEVICE" $${CHIP:+"--chip=$$CHIP"}
CHIP_VERBS += run

.PHONY: $(addprefix run-,$(STAGES))
$(addprefix run-,$(STAGES)): run-%: %
	@mkdir -p results 2> /dev/null || true
	@set -f; $(BUILD)/alone $(BUILD)/$* $(ON) $${J:+"--jobs=$$J"} --json results/run.jsonl $$ARGS

##change-1 diff: Show what changed from the stage before.
##  make stage-3 diff
##
##  kernel.cu beside the one before; of a stage that has steps, every step beside the one before.
.PHONY: diff
no-previous = echo "make: no stage comes before $(CHOSEN); make stage-2 diff says what comes next" >&2; exit 2
diff:
	@$(if $(WITH_PREVIOUS),stages/diff.sh $(foreach s,$(WITH_PREVIOUS),$(call folder-of,$s)),$(no-previous))

##change-8 clean: Remove build/.
##  make clean
##
##  What was measured stays: results/ is not touched.
.PHONY: clean
clean:
	rm -rf $(BUILD)

# ---- Host code -------------------------------------------------------------------------------------

# This file has the flags.
$(BUILD)/%.o: %.c Makefile | $$(@D)/.dir
	@$(if $(CUDA),$(if $(V),,echo "cc $<"),$(no-toolkit))
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

%/.dir:
	@mkdir -p $(@D) && touch $@
.PRECIOUS: %/.dir

$(LIB): $(LIB_SRC:%.c=$(BUILD)/%.o)
	@rm -f $@
	$(Q)$(AR) qcs $@ $^

# ---- Stages: a program build/stage-N, and kernel images in build/images/stage-N/ ----------------------
# stages/rules.sh writes the rules of the images into build/images/stage-N.mk: open one. It also says
# what the stage's file `images` says of the stage: previous-stage-N, problem-stage-N, images-stage-N,
# bf16-images-stage-N.

# $(call compile,FLAGS): one image; what ptxas said goes to NAME.ARCH.ptxas beside it. After a change of
# NVCCFLAGS: make clean.
define compile
@$(if $(realpath $(NVCC)),,$(no-toolkit);) mkdir -p $(@D); echo "nvcc $@"
$(Q)$(NVCC) $(NVCCFLAGS) $1 $(if $(filter %.cu,$<),-MMD -MP -MF $@.d) -o $@ $< 2> $(basename $@).ptxas || \
    { cat $(basename $@).ptxas >&2; exit 1; }
endef

$(STAGES:%=$(BUILD)/images/%.mk): $(BUILD)/images/%.mk: stages/rules.sh $$(wildcard $$(call folder-of,$$*)/images)
	@mkdir -p $(@D) && stages/rules.sh $(call folder-of,$*) > $@
include $(STAGES:%=$(BUILD)/images/%.mk)
ALL_IMAGES := $(foreach s,$(STAGES),$(images-$s) $(bf16-images-$s))
-include $(patsubst %,%.d,$(ALL_IMAGES))
LONG_NEEDS += $(foreach s,$(STAGES),$(bf16-images-$s))

# wgmma.mma_async for every N, which the CUDA C of Hopper's stages includes.
$(ALL_IMAGES): | $(BUILD)/include/wgmma.cuh
$(BUILD)/include/wgmma.cuh: common/cuda/wgmma.sh
	@mkdir -p $(@D) && $< > $@

ATTENTION      := $(foreach s,$(CHOSEN),$(if $(filter attention,$(problem-$s)),$s))
WITH_PREVIOUS  := $(foreach s,$(CHOSEN),$(if $(filter-out none,$(previous-$s)),$s))

.PHONY: $(STAGES)
# Images for bf16 are built where the command asks for bf16.
wanted-images = $(images-$1) $(if $(findstring bf16,$(ARGS)),$(bf16-images-$1))
# What is not there at all is compiled on all cores, unless make was told otherwise by -j.
ifeq ($(MAKELEVEL)$(findstring n,$(firstword $(filter-out --%,$(MAKEFLAGS)))),0)
absent = $(filter-out $(wildcard $(call wanted-images,$1)),$(call wanted-images,$1))
.PHONY: $(STAGES:%=first-%)
$(STAGES:%=first-%): first-%:
	$(if $(filter -j%,$(MAKEFLAGS)),,$(if $(and $(realpath $(NVCC)),$(call absent,$*)),@$(MAKE) --no-print-directory -j$(shell nproc) $*))
FIRST = first-%
endif

# Recorded results need no build.
$(STAGES): %: $(if $(RECORDED),,$(FIRST) $(BUILD)/% $(or $(filter images,$(MAKECMDGOALS)),\
    $$(call wanted-images,$$*)))
	@:

# A stage's number, name and predecessor come from its folder: a copy of a folder is another stage.
stage-flags = -DSTAGE_FOLDER='"$1"' -DSTAGE_PREVIOUS='"$(filter-out none,$(previous-$(call stage-of,$1)))"'
$(BUILD)/stages/%.o: CPPFLAGS += $(call stage-flags,$(word 2,$(subst /, ,$<)))
stage-objects = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(call folder-of,$1)/*.c))
$(STAGES:%=$(BUILD)/%): $(BUILD)/%: $$(call stage-objects,$$*) $(LIB)
	$(LINK)

include $(filter-out build/% setup/help.mk setup/mine.mk,$(sort $(wildcard */*.mk */*/*.mk */*/*/*.mk)))
-include $(shell find $(BUILD) -name '*.o' 2>/dev/null | sed 's/o$$/d/')

# ---- What is refused before anything is built ------------------------------------------------------------

ifeq ($(MAKELEVEL)$(findstring n,$(firstword $(filter-out --%,$(MAKEFLAGS)))),0)
$(if $(ATTENTION),,$(foreach v,$(filter $(ATTENTION_VERBS),$(MAKECMDGOALS)),\
    $(error $(CHOSEN) computes no attention ($(problem-$(CHOSEN))) and has no $v; make help lists the other stages)))
$(if $(CHIP),$(foreach v,$(filter-out stage-% setup $(CHIP_VERBS),$(MAKECMDGOALS)),\
    $(error $v does not use CHIP=$(CHIP): leave CHIP out; the verbs that use it are $(CHIP_VERBS))))
# `make setup lab-1` reads this file again once setup has made .venv.
ifeq ($(filter setup,$(MAKECMDGOALS))$(wildcard $(PYTHON))$(shell command -v $(PYTHON)),)
$(foreach v,$(filter $(PYTHON_VERBS),$(MAKECMDGOALS)),$(error $v needs $(PYTHON), which is missing: run make setup))
endif
endif
endif
