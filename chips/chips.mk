# Measures this machine's GPU and writes chips/NAME.txt, the numbers of the timing model.

CHIPS      := $(BUILD)/chips
TEMPLATES  := small large wide
TIMED      := memory sync launch

# threads, live registers, length: small holds most programs, large 290 KB of code, wide 248 registers
template-small := -DBENCH_THREADS=512 -DBENCH_LIVE=116 -DBENCH_LENGTH=16
template-large := -DBENCH_THREADS=512 -DBENCH_LIVE=116 -DBENCH_LENGTH=162
template-wide  := -DBENCH_THREADS=256 -DBENCH_LIVE=236 -DBENCH_LENGTH=12

$(TEMPLATES:%=$(CHIPS)/%.cubin): $(CHIPS)/%.cubin: chips/bench/template.cu | $(CHIPS)/.dir
	@echo "nvcc $@"
	@$(NVCC) $(filter-out -lineinfo,$(NVCCFLAGS)) -cubin -arch=sm_90a $(template-$*) -o $@ $< 2> $(@:.cubin=.ptxas) || { cat $(@:.cubin=.ptxas) >&2; exit 1; }

$(TIMED:%=$(CHIPS)/%.cubin) $(CHIPS)/forms.cubin: $(CHIPS)/%.cubin: chips/bench/%.cu chips/bench/timed.cuh \
    common/cuda/ptx.cuh common/cuda/ptx_sm90.cuh $(BUILD)/include/wgmma.cuh | $(CHIPS)/.dir
	@echo "nvcc $@"
	@$(NVCC) $(NVCCFLAGS) -cubin -arch=sm_90a -o $@ $< 2> $(@:.cubin=.ptxas) || { cat $(@:.cubin=.ptxas) >&2; exit 1; }

$(CHIPS)/pipes.pack: chips/bench/pipes.py chips/bench/sass.py | $(CHIPS)/.dir
	@echo "python $@"
	@python3 chips/bench/pipes.py $@

$(BUILD)/calibrate: $(patsubst %.c,$(BUILD)/%.o,$(wildcard chips/*.c)) $(BUILD)/common/device/cuda_driver.o $(BUILD)/common/base/reason.o $(BUILD)/common/base/heap.o
	$(Q)$(CC) $(SANITIZE) -o $@ $^ -ldl
$(BUILD)/chips/calibrate_kernels.o: chips/calibrate_kernels.def

# Programs of their own (chips/bench/README.md): what they print, one file each.
ALONE := foreign placement clocks footprint gpcs stores loads ends
$(ALONE:%=$(CHIPS)/%): $(CHIPS)/%: chips/bench/%.cu chips/bench/timed.cuh chips/bench/check.cuh common/cuda/ptx.cuh \
    common/cuda/ptx_sm90.cuh $(BUILD)/include/wgmma.cuh | $(CHIPS)/.dir
	@echo "nvcc $@"
	@$(NVCC) -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -I. -I$(BUILD)/include -o $@ $< -lcuda 2> $@.log || { cat $@.log >&2; exit 1; }

# One GPU, three minutes: results/chips/NAME/, then chips/NAME.txt. A file is kept if what writes it fails.
calibrated = $(if $(CHIP),results/chips/$(CHIP),$(error make calibrate CHIP=NAME: the chip that this GPU is, as of --chip; it writes chips/NAME.txt))
CALIBRATE_COUNTS := sm__cycles_elapsed.avg,sm__cycles_active.avg
.PHONY: calibrate calibrate-programs
calibrate-programs: $(BUILD)/calibrate $(CHIPS)/pipes.pack $(foreach i,$(TEMPLATES) $(TIMED),$(CHIPS)/$i.cubin) $(ALONE:%=$(CHIPS)/%) ### what make calibrate runs, built: needs no GPU
calibrate: calibrate-programs ### measure this GPU with all microbenchmarks and write chips/NAME.txt, unless a check fails: CHIP=NAME
	@mkdir -p $(calibrated)
	@flock -F $(BUILD)/device.lock $(BUILD)/calibrate --images $(CHIPS) --pack $(CHIPS)/pipes.pack --probe
	@flock -F $(BUILD)/device.lock $(BUILD)/calibrate --images $(CHIPS) --pack $(CHIPS)/pipes.pack --out $(calibrated)/calibrate.tsv --seconds 120
	@for each in $(ALONE); do echo "$$each"; flock -F $(BUILD)/device.lock timeout 60 $(CHIPS)/$$each > $(calibrated)/$$each.new && \
	    mv $(calibrated)/$$each.new $(calibrated)/$$each.tsv || echo "make: $$each failed or took over a minute: its numbers stay" >&2; done
	@if command -v ncu > /dev/null; then flock -F $(BUILD)/device.lock ncu --csv --page raw --cache-control none --clock-control none --metrics $(CALIBRATE_COUNTS) \
	    $(BUILD)/calibrate --images $(CHIPS) --pack $(CHIPS)/pipes.pack --only counted > $(calibrated)/counted.csv || rm $(calibrated)/counted.csv; \
	    else echo "make: no ncu here: the launch overhead stays another chip's" >&2; fi
	@python3 chips/chip.py $(CHIP) --write $(calibrated)/calibrate.tsv $$(ls $(calibrated)/foreign.tsv $(calibrated)/counted.csv 2> /dev/null)

# Every image that is there makes the second comparison stronger; forms.cubin alone lacks WGMMA.
FORMS := $(CHIPS)/forms.cubin $(foreach i,$(TEMPLATES) $(TIMED),$(CHIPS)/$i.cubin)
.PHONY: check-calibrate
check-calibrate: $(CHIPS)/pipes.pack $(FORMS) ### are the microbenchmarks' instructions what was meant? NVDISASM=nvdisasm
	@python3 chips/bench/pipes.py --check $(or $(NVDISASM),nvdisasm) $(CHIPS)/check.bin
	@python3 chips/bench/pipes.py --forms $(FORMS) $(wildcard $(BUILD)/images/*/*.sm_90a.cubin)

CEILINGS := $(foreach a,sm_89 sm_90a,$(CHIPS)/ceilings.$a.cubin)
$(CEILINGS): $(CHIPS)/ceilings.%.cubin: chips/ceilings/kernels.cu common/cuda/ptx.cuh common/cuda/ptx_sm90.cuh $(BUILD)/include/wgmma.cuh | $(CHIPS)/.dir
	@echo "nvcc $@"
	@$(NVCC) $(NVCCFLAGS) -cubin -arch=$* -o $@ $< 2> $(@:.cubin=.ptxas) || { cat $(@:.cubin=.ptxas) >&2; exit 1; }

$(BUILD)/ceilings: $(BUILD)/chips/ceilings/ceilings.o $(LIB)
	$(LINK)

.PHONY: ceilings
ceilings: $(BUILD)/ceilings $(CEILINGS) ## what this board reaches: tensor cores, FMA, ex2, shared memory, L2, DRAM, launch, with clock and power: results/ceilings.txt
	@mkdir -p results; flock -F $(BUILD)/device.lock $(BUILD)/ceilings $(CHIPS) results/ceilings.txt

.PHONY: validate
FREEZES = $(shell ls records/validation/h200-*.jsonl.gz | sed 's/.*-\([0-9]*\)[.].*/\1/' | sort -n)
validate: ### predictions beside what an H200 measured, freeze by freeze; writes records/validation/h200.txt
	@for n in $(FREEZES); do measured=records/validation/h200-$$n.jsonl.gz; echo; echo "freeze $$n"; set --; \
	    for more in late now; do file=records/validation/predictions-$$n-$$more.jsonl; ! [ -e $$file ] || set -- "$$@" --$$more $$file; done; \
	    [ $$n != $(lastword $(FREEZES)) ] || set -- "$$@" --out records/validation/h200.txt; \
	    python3 emulator/predictor/validate/validate.py records/validation/predictions-$$n.jsonl $$measured "$$@" || exit; done

# The next freeze: records/validation/cases-N.txt without h200-N.jsonl.gz. Predict and commit; only then measure.
FREEZE = $(shell printf '%s\n' $(patsubst records/validation/cases-%.txt,%,$(wildcard records/validation/cases-*.txt)) | sort -n | tail -n 1)
FREEZE_TILES = $(shell sed -n 's/^4:\([^[:space:]]*\).*/\1/p' records/validation/cases-$(FREEZE).txt)

.PHONY: freeze-tiles freeze-predict freeze-measure
freeze-tiles: $(STAGES)
	@mkdir -p $(BUILD)/sweep && stages/4-tuned/sweep/rules.sh sm_90a compute_89 > $(BUILD)/sweep/stage-4.mk
	@$(MAKE) --no-print-directory DEVICE=emu SWEEP_RULES=$(BUILD)/sweep/stage-4.mk $(foreach t,$(FREEZE_TILES),\
	    $(foreach f,stage-4 $(foreach x,sm_90a.cubin compute_89.ptx,images/stage-4/$(firstword $(subst -, ,$t)).$x),$(BUILD)/sweep/$t/$f))

freeze-predict: freeze-tiles examples $(BUILD)/stage-5 $(foreach n,1 2 3 4 6,$(BUILD)/predict-$n) ### what the predictor says of the next freeze's cases, 20 minutes: commit it before anyone measures; goes on where it was interrupted
	@test ! -e records/validation/h200-$(FREEZE).jsonl.gz || { echo "make: freeze $(FREEZE) has been measured: predictions come first" >&2; exit 2; }
	@BUILD=$(BUILD) emulator/predictor/validate/predict.sh records/validation/cases-$(FREEZE).txt records/validation/predictions-$(FREEZE).jsonl
	@grep -c elapsed records/validation/predictions-$(FREEZE).jsonl

freeze-measure: freeze-tiles ### the next freeze's cases on this GPU, into results/h200-N.jsonl.gz, some minutes
	@git diff --quiet HEAD -- chips emulator stages common && git ls-files --error-unmatch records/validation/predictions-$(FREEZE).jsonl > /dev/null || \
	    { echo "make: first commit records/validation/predictions-$(FREEZE).jsonl (make freeze-predict), and whatever else has changed" >&2; exit 2; }
	@mkdir -p results; flock -F $(BUILD)/device.lock emulator/predictor/validate/measure.sh records/validation/cases-$(FREEZE).txt results/h200-$(FREEZE).jsonl
	@gzip -f results/h200-$(FREEZE).jsonl; echo "results/h200-$(FREEZE).jsonl.gz: copy it to records/validation, then make validate"

.PHONY: drift
drift: $(ATTENTION) ### writes the predictions that tests/predictor/test_drift.sh holds on to, after a change that is meant
	@emulator/predictor/validate/drift.sh tests/golden/drift.tsv > $(BUILD)/drift.tsv && \
	    { git --no-pager diff --no-index -U0 tests/golden/drift.tsv $(BUILD)/drift.tsv || true; } && cp $(BUILD)/drift.tsv tests/golden/drift.tsv
