# A lab is a folder notebooks/course/N; lab 0 has no kernel. make lab-1, make lab-1 check, make lab-1 hint.
LAB_NUMBERS := $(notdir $(patsubst %/,%,$(wildcard notebooks/course/[0-9]*/)))
MY_LAB      := $(patsubst lab-%,%,$(filter lab-%,$(MAKECMDGOALS)))
$(foreach n,$(filter-out $(LAB_NUMBERS),$(MY_LAB)),$(error there is no lab-$n; there are $(LAB_NUMBERS:%=lab-%)))
MY_VERB     := $(filter check hint see notebook,$(MAKECMDGOALS))
one-lab      = test $(words $(MY_LAB)) -eq 1 || { echo "make: name one lab: make lab-1 $@" >&2; exit 2; }
lab-python   = test -x $(PYTHON) || { echo "make: $(PYTHON) is missing; run 'make setup'" >&2; exit 1; }
# Its stage's program and our own kernel's images: PTX, whose counts a check compares with, and machine code for `see`.
lab-builds   = $(if $(filter $1,$(KERNEL_LABS)),$(BUILD)/$(call lab-stage,$1) $(filter %.ptx $(if $(filter see,$(MY_VERB)),%.cubin),$(call lab-images,$1)))

# Without a verb its folder is made.
.PHONY: $(LAB_NUMBERS:%=lab-%)
$(LAB_NUMBERS:%=lab-%): lab-%: $$(call lab-builds,$$*)
	@$(if $(MY_VERB),:,$(lab-python))
	@$(if $(MY_VERB),:,$(PYTHON) notebooks/course/start.py $*)


.PHONY: check hint see notebook
check: $(MY_LAB:%=lab-%) ## make lab-1 check: is my-labs/1 right? answers, races, counts; DEVICE=auto|cuda|emu
	@$(one-lab); $(lab-python)
	@set -f; BUILD=$(BUILD) NVCC=$(NVCC) $(PYTHON) notebooks/course/check.py $(MY_LAB) --device "$$DEVICE" $$ARGS
hint: ## make lab-1 hint: the next of three hints on the first part that is not written; ARGS="--part 2"
	@$(one-lab); $(lab-python)
	@set -f; $(PYTHON) notebooks/course/hint.py $(MY_LAB) $$ARGS
see: $(MY_LAB:%=lab-%) ## make lab-1 see: how long would my-labs/1 take on an H200, beside ours? predicted; DEVICE=cuda: measured, too
	@$(one-lab); $(lab-python)
	@set -f; BUILD=$(BUILD) NVCC=$(NVCC) $(PYTHON) notebooks/course/see.py $(MY_LAB) --device "$$DEVICE" $$ARGS
notebook: ## make lab-1 notebook: opens my-labs/1 in JupyterLab
	@$(one-lab); $(lab-python)
	@test -e my-labs/$(MY_LAB)/lab-$(MY_LAB).ipynb || { echo "make: there is no my-labs/$(MY_LAB) yet: make lab-$(MY_LAB)" >&2; exit 2; }
	@$(PYTHON) -m jupyter lab $$([ "$$(id -u)" -ne 0 ] || echo --allow-root) --ServerApp.root_dir="$$PWD" my-labs/$(MY_LAB)/lab-$(MY_LAB).ipynb

# Each lab is a Python file in jupytext's percent format, with the answers; notebooks/N-NAME.ipynb is the students' version.
NOTEBOOKS := $(wildcard notebooks/[0-9]*-*.ipynb)
source-of  = notebooks/course/$1/lab-$1.py

.PHONY: notebooks
notebooks: $(NOTEBOOKS) ### write each lab's .ipynb from its .py, and seal the answers that nothing counts
	@$(lab-python)
	@for n in $(LAB_NUMBERS); do $(PYTHON) notebooks/course/execute.py --seal notebooks/course/$$n/lab-$$n.py || exit; done

$(NOTEBOOKS): notebooks/%.ipynb: $$(call source-of,$$(firstword $$(subst -, ,$$*))) notebooks/course/student.py notebooks/course/strip.py
	@$(lab-python)
	$(PYTHON) notebooks/course/student.py $< $@
