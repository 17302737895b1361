# attnlab: nouns choose stages, verbs act on them.
#
#   make stage-3 run                      one stage
#   make stage-3 stage-6 run ARGS=--causal
#   make run                              all stages
#   make V=1 stage-3                      build, with the compiler's whole commands
#
# Stages are the folders stages/N-name, tests the files tests/test_*.c; nothing is listed here.
# Verbs live beside what they act on: profiler/*.mk, plots/*.mk, emulator/*.mk, notebooks/*.mk, tests/*.mk.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDEXPANSION:
MAKEFLAGS += --no-builtin-rules

BUILD  := build
CC     := gcc
PYTHON := .venv/bin/python
override DEVICE := $(or $(DEVICE),auto)
ARGS   ?=
J      ?=

# These reach a shell: what it would take for more than a word is refused.
$(foreach c,; & | < > ` " ' \ ( ) { } ! * ? $$,$(if $(findstring $c,$(ARGS)$(DEVICE)$J$(RECORDED)$(WINDOW)$(LINE)$(ACCESS)),\
    $(error ARGS, DEVICE, J, RECORDED, WINDOW, LINE and ACCESS hold options and values; $c has no place there)))

# The CUDA toolkit: the one on PATH, /usr/local/cuda, or the wheels that `make setup` puts in .venv.
NVCC := $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc) \
                    $(wildcard .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc) nvcc)
CUDA := $(patsubst %/bin/,%,$(dir $(realpath $(NVCC))))

CPPFLAGS := -Icommon -Iprofiler -Iemulator -I. -isystem $(CUDA)/include -D_GNU_SOURCE -MMD -MP
CFLAGS   := -std=c11 -O2 -g -march=x86-64-v3 -ffp-contract=off -Wall -Wextra -Werror -fopenmp $(SANITIZE)
LDLIBS   := -l:libjansson.a -l:libgomp.a -ldl -lm -lpthread
Q        := $(if $(V),,@)
LINK      = $(if $(V),,@echo "ld $@";) $(CC) $(SANITIZE) -o $@ $(filter %.o %.a,$^) $(LDLIBS)

NVCCFLAGS := -std=c++17 -lineinfo -Icommon -Xptxas -v --Werror all-warnings

STAGE_DIRS := $(sort $(wildcard stages/[0-9]*-*))
stage-of    = stage-$(firstword $(subst -, ,$(notdir $1)))
STAGES     := $(foreach d,$(STAGE_DIRS),$(call stage-of,$d))
CHOSEN     := $(or $(filter stage-%,$(MAKECMDGOALS)),$(STAGES))
$(foreach s,$(filter-out $(STAGES),$(CHOSEN)),$(error there is no $s; there are $(STAGES)))

# Stage 5 is one instruction, with a problem of its own: what is about attention leaves it out.
ATTENTION      := $(filter-out stage-5,$(CHOSEN))
attention-only  = $(if $(ATTENTION),,echo "make: stage-5 is one instruction, no attention, and has no $@; make help lists the other stages" >&2; exit 2)

LIB_SRC := $(filter-out profiler/doctor.c,$(wildcard common/*.c profiler/*.c emulator/*.c))
LIB     := $(BUILD)/libattnlab.a

##@ Verbs (no stage named: all stages)

.PHONY: help
help: ## this page
	@sed -n '1,6s/^# \{0,1\}//p' Makefile
	@awk -F':.*## ' '/^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' \
	    $(MAKEFILE_LIST)
	@printf '\nStages\n'
	@for d in $(STAGE_DIRS); do n=$$(basename $$d); \
	    printf '  %-12s %s\n' "stage-$${n%%-*}" "$$(sed -n '1s/^# Stage [0-9]*: //p' $$d/README.md 2>/dev/null)"; done

.PHONY: all
all: $(STAGES) ## build every stage and its kernel images

.PHONY: run
run: $(addprefix run-,$(if $(ARGS),$(or $(filter stage-%,$(MAKECMDGOALS)),$(ATTENTION)),$(CHOSEN))) ## check, time and count, into results/run.jsonl: ARGS="--seqlen 4096 --causal" DEVICE=auto|cuda|emu J=threads
	@$(if $(ARGS),$(if $(filter stage-%,$(MAKECMDGOALS)),,echo "make: stage-5 is left out: it has options of its own, build/stage-5 --help" >&2))

.PHONY: $(addprefix run-,$(STAGES))
$(addprefix run-,$(STAGES)): run-%: %
	@mkdir -p results 2> /dev/null || true
	@flock -F $(BUILD)/device.lock $(BUILD)/$* --device $(DEVICE) $(addprefix --jobs=,$(J)) \
	    --json results/run.jsonl $(ARGS)

.PHONY: diff
diff: ## what changed from the stage before, in kernel.cu
	@$(if $(filter-out stage-1,$(CHOSEN)),,echo "make: stage-1 is the first; make stage-2 diff says what comes next" >&2; exit 2)
	@$(foreach s,$(filter-out stage-1,$(CHOSEN)),git --no-pager diff --no-index --stat -p --color=auto \
	    $(wildcard stages/$(shell expr $(s:stage-%=%) - 1)-*/kernel.cu) \
	    $(wildcard stages/$(s:stage-%=%)-*/kernel.cu) || true;)

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
	$(Q)$(AR) rcs $@ $^

# ---- Kernel images ---------------------------------------------------------------------------------
# A stage's file `images` says what its kernel.cu is compiled into: a line `arch A...` with the targets,
# then one line `NAME FLAGS...` for each image; FILE.cu among the flags takes the place of kernel.cu.
# sm_XX gives build/images/stage-N/NAME.sm_XX.cubin, compute_XX gives NAME.compute_XX.ptx. What ptxas
# said lies beside each cubin, in NAME.sm_XX.ptxas. After a change of NVCCFLAGS: make clean.

# $(call image-rule,stage-N,folder,name,arch,extension,flags,ptx)
# ptx: the PTX of the same architecture, if it is an image too; the cubin is assembled from it.
define image-rule
$(BUILD)/images/$1/$3.$4.$5: $(or $7,$2/$(or $(filter %.cu,$6),kernel.cu)) $2/images | $(BUILD)/images/$1/.dir
	@echo "nvcc $$@"
	@$(NVCC) $(NVCCFLAGS) $(filter-out %.cu,$6) $(if $(filter ptx,$5),-ptx,-cubin) -arch=$4 $(if $7,,-MD -MF $$@.d) -o $$@ $$< \
	    2> $$(basename $$@).ptxas || { cat $$(basename $$@).ptxas >&2; exit 1; }
$(if $7,,-include $(BUILD)/images/$1/$3.$4.$5.d)
endef

# $(call images-of,folder): NAME:ARCH:EXT:FLAG:FLAG... for each image of a stage
images-of = $(shell awk '/^\#/ || !NF {next} $$1 == "arch" {for (i = 2; i <= NF; i++) arch[++n] = $$i; next} \
    {flags = ""; for (i = 2; i <= NF; i++) flags = flags ":" $$i; \
     for (a = 1; a <= n; a++) print $$1 ":" arch[a] ":" (arch[a] ~ /^sm/ ? "cubin" : "ptx") flags}' $1/images 2>/dev/null)

# $(call ptx-of,stage-N,folder,NAME:sm_XX:cubin:...): the file of NAME's compute_XX PTX if that is an image, or nothing
ptx-of = $(if $(filter $(word 1,$(subst :, ,$3)):$(patsubst sm_%,compute_%,$(word 2,$(subst :, ,$3))):ptx%,$(if $(findstring :cubin,$3),$(call images-of,$2))),$(BUILD)/images/$1/$(word 1,$(subst :, ,$3)).$(patsubst sm_%,compute_%,$(word 2,$(subst :, ,$3))).ptx)

# $(call stage-rules,stage-N,folder)
define stage-rules
.PHONY: $1
IMAGES_$1 := $(foreach i,$(call images-of,$2),$(BUILD)/images/$1/$(word 1,$(subst :, ,$i)).$(word 2,$(subst :, ,$i)).$(word 3,$(subst :, ,$i)))
$1: $(if $(RECORDED),,$(BUILD)/$1 $$(IMAGES_$1)) # recorded results need no build
	@:
$(BUILD)/$1: $(patsubst %.c,$(BUILD)/%.o,$(wildcard $2/*.c)) $(LIB)
	$$(LINK)
$(foreach i,$(call images-of,$2),$(call image-rule,$1,$2,$(word 1,$(subst :, ,$i)),$(word 2,$(subst :, ,$i)),$(word 3,$(subst :, ,$i)),$(wordlist 4,99,$(subst :, ,$i)),$(call ptx-of,$1,$2,$i))
)
endef
$(foreach d,$(STAGE_DIRS),$(eval $(call stage-rules,$(call stage-of,$d),$d)))

include $(sort $(wildcard */*.mk))
-include $(shell find $(BUILD) -name '*.o' 2>/dev/null | sed 's/o$$/d/')
