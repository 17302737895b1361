# A lab is a Python file in jupytext's percent format, with the answers; its .ipynb is the students' version.
LABS := $(wildcard notebooks/lab-*.py)

.PHONY: notebooks
notebooks: $(LABS:.py=.ipynb) ## write each lab's .ipynb from its .py; LAB_DEVICE=auto makes lab 1 run its stage instead of replaying

notebooks/%.ipynb: notebooks/%.py notebooks/student.py
	@test -x $(PYTHON) || { echo "make: $(PYTHON) is missing; run 'make setup'" >&2; exit 1; }
	$(PYTHON) notebooks/student.py $< $@
