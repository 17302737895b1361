# Measures this machine's GPU and writes chips/NAME.txt, the numbers of the timing model.

CHIPS      := $(BUILD)/chips
TEMPLATES  := small large wide
TIMED      := memory sync launch

# threads, live registers, length: small holds most programs, large 290 KB of code, wide 248 registers
template-small := -DBENCH_THREADS=512 -DBENCH_LIVE=116 -DBENCH_LENGTH=16
template-large := -DBENCH_THREADS=512 -DBENCH_LIVE=116 -DBENCH_LENGTH=162
template-wide  := -DBENCH_THREADS=256 -DBENCH_LIVE=236 -DBENCH_LENGTH=12

$(TEMPLATES:%=$(CHIPS)/%.cubin): NVCCFLAGS := $(filter-out -lineinfo,$(NVCCFLAGS))
$(TEMPLATES:%=$(CHIPS)/%.cubin): $(CHIPS)/%.cubin: chips/bench/template.cu
	$(call compile,-cubin -arch=sm_90a $(template-$*))

$(TIMED:%=$(CHIPS)/%.cubin) $(CHIPS)/forms.cubin: $(CHIPS)/%.cubin: chips/bench/%.cu chips/bench/timed.cuh \
    common/cuda/ptx.cuh common/cuda/ptx_sm90.cuh $(BUILD)/include/wgmma.cuh
	$(call compile,-cubin -arch=sm_90a)

$(CHIPS)/pipes.pack: chips/bench/pipes.py chips/bench/sass.py | $(CHIPS)/.dir
	@echo "python $@"
	@python3 chips/bench/pipes.py $@

$(BUILD)/calibrate: $(patsubst %.c,$(BUILD)/%.o,$(wildcard chips/*.c)) \
    $(BUILD)/common/device/cuda_driver.o $(BUILD)/common/base/reason.o $(BUILD)/common/base/heap.o
	$(Q)$(CC) $(SANITIZE) -o $@ $^ -ldl
$(BUILD)/chips/calibrate_kernels.o: chips/calibrate_kernels.def

# Programs of their own (chips/bench/README.md): what they print, one file each.
ALONE := foreign placement clocks footprint gpcs stores loads ends
$(ALONE:%=$(CHIPS)/%): $(CHIPS)/%: chips/bench/%.cu chips/bench/timed.cuh chips/bench/check.cuh common/cuda/ptx.cuh \
    common/cuda/ptx_sm90.cuh $(BUILD)/include/wgmma.cuh | $(CHIPS)/.dir
	@echo "nvcc $@"
	@$(NVCC) -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -I. -I$(BUILD)/include -o $@ $< -lcuda 2> $@.log || \
	    { cat $@.log >&2; exit 1; }

##model-6 calibrate-programs: Build the microbenchmarks; needs no GPU.
##  make calibrate-programs
.PHONY: calibrate-programs
calibrate-programs: $(BUILD)/calibrate $(CHIPS)/pipes.pack $(foreach i,$(TEMPLATES) $(TIMED),$(CHIPS)/$i.cubin) $(ALONE:%=$(CHIPS)/%)

##model-1 calibrate: Measure this GPU with all microbenchmarks.
##  make calibrate CHIP=h100
##
##  Takes some minutes on a GPU that does nothing else and writes chips/h100.txt, unless a check fails. A file that is
##  there is kept then. `make calibrate-programs` builds what it runs, and needs no GPU.
.PHONY: calibrate
calibrate: calibrate-programs
	@$(if $(CHIP),,echo "make: calibrate wants CHIP=NAME, the chip that this GPU is; it writes chips/NAME.txt" >&2; exit 2)
	@$(BUILD)/alone chips/calibrate.sh $(CHIP) $(CHIPS) $(ALONE)
CHIP_VERBS += calibrate

# Every image that is there makes the second comparison stronger; forms.cubin alone lacks WGMMA.
FORMS := $(CHIPS)/forms.cubin $(foreach i,$(TEMPLATES) $(TIMED),$(CHIPS)/$i.cubin)
##model-2 check-calibrate: Check that microbenchmarks became what was meant.
##  make check-calibrate
##
##  Disassembles them; NVDISASM=path names another nvdisasm.
.PHONY: check-calibrate
check-calibrate: $(CHIPS)/pipes.pack $(FORMS)
	@python3 chips/bench/pipes.py --check $(or $(NVDISASM),nvdisasm) $(CHIPS)/check.bin
	@python3 chips/bench/pipes.py --forms $(FORMS) $(wildcard $(BUILD)/images/*/*.sm_90a.cubin)

CEILINGS := $(foreach a,sm_89 sm_90a,$(CHIPS)/ceilings.$a.cubin)
$(CEILINGS): $(CHIPS)/ceilings.%.cubin: chips/ceilings/kernels.cu \
    common/cuda/ptx.cuh common/cuda/ptx_sm90.cuh $(BUILD)/include/wgmma.cuh
	$(call compile,-cubin -arch=$*)

$(BUILD)/ceilings: $(BUILD)/chips/ceilings/ceilings.o $(LIB)
	$(LINK)

##gpu-1 ceilings: Measure the highest rates that this board reaches.
##  make ceilings
##
##  Tensor cores, FMA, ex2, shared memory, L2, DRAM and launches, with clock and power: results/ceilings.txt.
##  compare draws them as the roof over the stages.
.PHONY: ceilings
ceilings: $(BUILD)/ceilings $(CEILINGS)
	@mkdir -p results; $(BUILD)/alone $(BUILD)/ceilings $(CHIPS) results/ceilings.txt

##model-3 validate: Compare the predictor with what an H100 and an H200 measured.
##  make validate
##
##  One page: each freeze's sum, the newest by family and by kind of value. All tables: results/validate.txt. Predictions
##  were committed first, then measured. Writes records/validation/CHIP.txt.
.PHONY: validate
validate:
	@emulator/predictor/validate/freezes.sh records/validation results/validate.txt

# The next freeze: records/validation/cases-N.txt without h200-N.jsonl.gz. Predict and commit; only then measure.
CASES  = $(patsubst records/validation/cases-%.txt,%,$(wildcard records/validation/cases-*.txt))
FREEZE = $(shell printf '%s\n' $(CASES) | sort -n | tail -n 1)
FREEZE_TILES = $(shell sed -n 's/^4:\([^[:space:]]*\).*/\1/p' records/validation/cases-$(FREEZE).txt)
TILE_FILES = $(foreach t,$(FREEZE_TILES),$(foreach f,$(call files-of-tile,$(firstword $(subst -, ,$t))),$(BUILD)/sweep/$t/$f))
files-of-tile = stage-4 images/stage-4/$1.sm_90a.cubin images/stage-4/$1.compute_89.ptx

.PHONY: freeze-tiles freeze-predict freeze-measure
freeze-tiles: $(STAGES)
	@mkdir -p $(BUILD)/sweep && stages/4-tuned/sweep/rules.sh sm_90a compute_89 > $(BUILD)/sweep/stage-4.mk
	@$(MAKE) --no-print-directory DEVICE=emu SWEEP_RULES=$(BUILD)/sweep/stage-4.mk $(TILE_FILES)

##model-4 freeze-predict: Predict the cases of the next freeze.
##  make freeze-predict
##  make freeze-predict CHIP=h100
##
##  Takes 20 minutes and goes on where it was interrupted. Commit the predictions before anyone measures.
##
##  SLURM=1     each case a job of Slurm; setup/slurm.txt has partition and limits, SLURM=my.txt names another such file
freeze-predict: freeze-tiles examples $(BUILD)/stage-5 $(foreach n,1 2 3 4 6,$(BUILD)/predict-$n)
	@BUILD=$(BUILD) emulator/predictor/validate/freeze.sh predict $(FREEZE)

##model-5 freeze-measure: Measure the cases of the next freeze on this GPU.
##  make freeze-measure
##  make freeze-measure CHIP=h100
##
##  Takes some minutes and writes results/h200-N.jsonl.gz.
freeze-measure: freeze-tiles
	@mkdir -p results; $(BUILD)/alone emulator/predictor/validate/freeze.sh measure $(FREEZE)
CHIP_VERBS += freeze-predict freeze-measure

##tests-8 drift: Accept predictions that a change was meant to move.
##  make drift
##
##  Writes tests/golden/drift.tsv anew, which tests/predictor/test_drift.sh compares with, and shows the difference.
.PHONY: drift
drift: $(ATTENTION)
	@emulator/predictor/validate/drift.sh tests/golden/drift.tsv > $(BUILD)/drift.tsv
	@git --no-pager diff --no-index -U0 tests/golden/drift.tsv $(BUILD)/drift.tsv || true
	@cp $(BUILD)/drift.tsv tests/golden/drift.tsv
