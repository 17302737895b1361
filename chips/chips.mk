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
calibrate: $(BUILD)/calibrate $(CHIPS)/pipes.pack $(foreach i,$(TEMPLATES) $(TIMED),$(CHIPS)/$i.cubin) ## measure this GPU with some 5000 microbenchmarks: results/calibrate.tsv
	@mkdir -p results
	@flock -F $(BUILD)/device.lock $(BUILD)/calibrate --images $(CHIPS) --pack $(CHIPS)/pipes.pack --probe
	@flock -F $(BUILD)/device.lock $(BUILD)/calibrate --images $(CHIPS) --pack $(CHIPS)/pipes.pack --out $(CALIBRATED) --seconds 420

# Every image that is there makes the second comparison stronger; forms.cubin alone lacks WGMMA.
FORMS := $(CHIPS)/forms.cubin $(foreach i,$(TEMPLATES) $(TIMED),$(CHIPS)/$i.cubin)
.PHONY: check-calibrate
check-calibrate: $(CHIPS)/pipes.pack $(FORMS) ## are the microbenchmarks' instructions what was meant? NVDISASM=nvdisasm
	@python3 chips/bench/pipes.py --check $(or $(NVDISASM),nvdisasm) $(CHIPS)/check.bin
	@python3 chips/bench/pipes.py --forms $(FORMS) $(wildcard $(BUILD)/images/*/*.sm_90a.cubin)

.PHONY: validate
validate: ## the clock's predictions beside what an H200 measured, by stage and family
	@python3 chips/validation/validate.py chips/validation/predictions-1.jsonl chips/validation/h200-1.jsonl.gz
