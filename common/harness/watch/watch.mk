# The page without data: page.html with its style, its script and D3, which Debian packages (libjs-d3), in it.
WATCH_PAGE := $(BUILD)/watch/page.html
D3 := $(firstword $(wildcard /usr/share/javascript/d3/d3.min.js /usr/share/nodejs/d3/dist/d3.min.js))
no-d3 = echo "make: there is no libjs-d3, which draws the page: run make setup" >&2; exit 77

.PHONY: watch-page
watch-page: $(WATCH_PAGE)
$(WATCH_PAGE): common/harness/watch/build_page.sh $(wildcard common/harness/watch/page.*) $(D3) | $$(@D)/.dir
	@$(if $(D3),common/harness/watch/build_page.sh $(D3) > $@,$(no-d3))

# --watch-page reads it.
$(BUILD)/run $(STAGES): | $(if $(D3),$(WATCH_PAGE))

##look-5 watch: Draw a block's barriers and warps, cycle by cycle.
##  make stage-6 watch
##
##  Open results/watch-stage-6.html in a browser: it needs no network. The time is predicted for the chip.
##
##  make lab-6 watch               your own kernel, with a map of O where the answer is wrong
##  ARGS="--seqlen 128 --heads 1"  the problem
.PHONY: watch $(addprefix watch-,$(STAGES))
watch: $$(if $$(MY_EXAM),run-$$(EXAM_RUN),$$(if $$(MY_LAB),watch-lab,$$(addprefix watch-,$$(ATTENTION))))
	@$(if $(MY_LAB)$(MY_EXAM),,$(attention-only))
$(addprefix watch-,$(STAGES)): watch-%: % $(WATCH_PAGE)
	@mkdir -p results
	@set -f; $(BUILD)/$* --device emu $${CHIP:+"--chip=$$CHIP"} $$ARGS --watch-page results/watch-$*.html
.PHONY: watch-lab
watch-lab: $$(addprefix lab-,$$(MY_LAB)) $(WATCH_PAGE)
	@test $(words $(MY_LAB)) -eq 1 || { echo "make: name one lab: make lab-6 watch" >&2; exit 2; }
	@$(lab-python); mkdir -p results
	@set -f; BUILD=$(BUILD) NVCC=$(NVCC) $(PYTHON) notebooks/course/watch.py $(MY_LAB) $$ARGS
CHIP_VERBS += watch
PYTHON_VERBS += $(if $(MY_LAB),watch)
