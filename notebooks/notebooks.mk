# A lab is a Python file in jupytext's percent format; its .ipynb is generated from it and has no outputs.
LABS := $(wildcard notebooks/lab-*.py)

.PHONY: notebooks
notebooks: $(LABS:.py=.ipynb) ## write each lab's .ipynb from its .py; open them with .venv/bin/jupyter lab (LAB_DEVICE=auto runs the stages)

notebooks/%.ipynb: notebooks/%.py
	@test -x .venv/bin/jupytext || { echo "make: jupytext is missing; run 'make setup'" >&2; exit 1; }
	.venv/bin/jupytext --quiet --to ipynb --opt notebook_metadata_filter=-all --output $@ $<
	@$(PYTHON) notebooks/stable.py $@
