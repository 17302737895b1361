# A lab is a folder notebooks/course/N; lab 0 has no kernel. make lab-1, make lab-1 check, make lab-1 hint.
LAB_NUMBERS := $(notdir $(patsubst %/,%,$(wildcard notebooks/course/[0-9]*/)))
MY_LAB      := $(patsubst lab-%,%,$(filter lab-%,$(MAKECMDGOALS)))
$(foreach n,$(filter-out $(LAB_NUMBERS),$(MY_LAB)),$(error there is no lab-$n; there are $(LAB_NUMBERS:%=lab-%)))
MY_VERB     := $(filter check hint see watch notebook,$(MAKECMDGOALS))
one-lab      = test $(words $(MY_LAB) $(MY_EXAM)) -eq 1 || { echo "make: name one lab: make lab-1 $@" >&2; exit 2; }
lab-python   = test -x $(PYTHON) || { echo "make: $(PYTHON) is missing; run 'make setup'" >&2; exit 1; }
PYTHON_VERBS += $(LAB_NUMBERS:%=lab-%) check hint see notebook notebooks
# Its stage's program and our own kernel's images: PTX, whose counts a check compares with, and machine code for `see`.
lab-builds   = $(if $(filter $1,$(KERNEL_LABS)),$(BUILD)/$(call lab-stage,$1) $(filter $(IMAGES_OF_VERB),$(call lab-images,$1)))
IMAGES_OF_VERB = %.ptx $(if $(filter see watch,$(MY_VERB)),%.cubin)

##course-1 lab-N: Begin a lab: its notebook and kernel in my-labs/N.
##  make lab-1
##
##  Lab 0 reads a counter, a bank map and a race report; labs 1 to 6 write the heart of a kernel each.
# Without a verb its folder is made.
.PHONY: $(LAB_NUMBERS:%=lab-%)
$(LAB_NUMBERS:%=lab-%): lab-%: $$(call lab-builds,$$*)
	@$(if $(MY_VERB),:,$(lab-python))
	@$(if $(MY_VERB),:,$(PYTHON) notebooks/course/start.py $*)

.PHONY: check hint see notebook
##course-2 check: Check your kernel's answers, races and counts.
##  make lab-1 check
##
##  DEVICE=auto|cuda|emu   where it runs
check: $(MY_LAB:%=lab-%)
	@$(one-lab); $(lab-python)
	@set -f; BUILD=$(BUILD) NVCC=$(NVCC) $(PYTHON) $(or $(exam-check),notebooks/course/check.py $(MY_LAB)) --device "$$DEVICE" $$ARGS

##course-3 hint: Give the next of three hints on the first open part.
##  make lab-1 hint
##
##  ARGS="--part 2"   a hint on another part
hint:
	@$(one-lab); $(lab-python)
	@set -f; $(PYTHON) notebooks/course/hint.py $(or $(MY_EXAM),$(MY_LAB)) $$ARGS

##course-4 see: Predict how fast your kernel would be, beside ours.
##  make lab-1 see
##
##  The time is an H200's. DEVICE=cuda measures it as well.
see: $(MY_LAB:%=lab-%)
	@$(one-lab); $(lab-python)
	@set -f; BUILD=$(BUILD) NVCC=$(NVCC) $(PYTHON) $(or $(exam-see),notebooks/course/see.py $(MY_LAB)) --device "$$DEVICE" $$ARGS

##course-5 notebook: Open a lab's notebook in JupyterLab.
##  make lab-1 notebook
MY_NOTEBOOK = my-labs/$(MY_LAB)/lab-$(MY_LAB).ipynb
# PYTHONPATH: a notebook finds the course, whatever path its first cell names.
it-starts = echo "JupyterLab starts: some ten seconds, then its address. Ctrl-C twice ends it."
notebook: export PYTHONPATH := $(CURDIR)/notebooks/course$(addprefix :,$(PYTHONPATH))
notebook:
	@$(one-lab); $(lab-python)
	@test -e $(MY_NOTEBOOK) || { echo "make: there is no my-labs/$(MY_LAB) yet: make lab-$(MY_LAB)" >&2; exit 2; }; $(it-starts)
	@$(PYTHON) -m jupyter lab $$([ "$$(id -u)" -ne 0 ] || echo --allow-root) --ServerApp.root_dir="$$PWD" $(MY_NOTEBOOK)

# Each lab is a Python file in jupytext's percent format, with the answers; notebooks/N-NAME.ipynb is the students' version.
NOTEBOOKS := $(wildcard notebooks/[0-9]*-*.ipynb)
source-of  = notebooks/course/$1/lab-$1.py

##tables-8 notebooks: Write each lab's notebook from its Python source.
##  make notebooks
##
##  Seals the answers that nothing counts.
.PHONY: notebooks
notebooks: $(NOTEBOOKS)
	@$(lab-python)
	@for n in $(LAB_NUMBERS); do $(PYTHON) notebooks/course/execute.py --seal notebooks/course/$$n/lab-$$n.py || exit; done

$(NOTEBOOKS): notebooks/%.ipynb: $$(call source-of,$$(firstword $$(subst -, ,$$*))) notebooks/course/student.py notebooks/course/strip.py
	@$(lab-python)
	$(PYTHON) notebooks/course/student.py $< $@
