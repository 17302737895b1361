# Measures this machine's GPU and writes chips/h200.txt, the numbers of the timing model.

CHIPS      := $(BUILD)/chips
TEMPLATES  := small large wide
TIMED      := memory sync launch
CALIBRATED := results/calibrate.tsv

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

.PHONY: calibrate
calibrate: $(BUILD)/calibrate $(CHIPS)/pipes.pack $(foreach i,$(TEMPLATES) $(TIMED),$(CHIPS)/$i.cubin) ### measure this GPU with some 5000 microbenchmarks: results/calibrate.tsv
	@mkdir -p results
	@flock -F $(BUILD)/device.lock $(BUILD)/calibrate --images $(CHIPS) --pack $(CHIPS)/pipes.pack --probe
	@flock -F $(BUILD)/device.lock $(BUILD)/calibrate --images $(CHIPS) --pack $(CHIPS)/pipes.pack --out $(CALIBRATED) --seconds 420

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
