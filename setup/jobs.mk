##model-8 random: Check stages on random problems, many at a time.
##  make stage-3 random COUNT=200
##
##  On the emulator, five problems a task; writes results/random/records.jsonl.
##
##  COUNT=200   tasks of each stage (20)
##  J=4         four at a time
##  SLURM=1     as jobs of Slurm; setup/slurm.txt has partition and limits, SLURM=my.txt names another such file
.PHONY: random
random: $(ATTENTION)
	@$(attention-only)
	@set -f; BUILD=$(BUILD) setup/random.sh $(ATTENTION) -- $$ARGS | \
	    python3 setup/jobs.py run results/random --slurm "$$SLURM" $${J:+--jobs "$$J"}
