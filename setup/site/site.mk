# The tools of the site have a folder of their own: .venv stays as small as it is.
SITE_TOOLS := $(BUILD)/site/tools
$(SITE_TOOLS)/done: setup/site/requirements.txt
	@python3 -m venv $(SITE_TOOLS) || { echo "make: no Python venv here: run make setup" >&2; exit 1; }
	@echo "pip install -r $<"; setup/pip.sh $(SITE_TOOLS)/bin/python $< && touch $@

##look-6 docs: Make a site of all READMEs and notes, to search.
##  make docs
##
##  Writes build/site/html; the first time it installs mkdocs-material (170 MB) into build/site/tools.
.PHONY: docs
docs: $(SITE_TOOLS)/done
	@NO_MKDOCS_2_WARNING=1 $(SITE_TOOLS)/bin/mkdocs build --strict --clean -f setup/site/mkdocs.yml \
	    -d $(abspath $(BUILD)/site/html) 2> $(BUILD)/site/said || { grep -v '^INFO' $(BUILD)/site/said >&2; exit 1; }
	@echo "$(BUILD)/site/html: python3 -m http.server -b 127.0.0.1 -d $(BUILD)/site/html 8000, then http://localhost:8000 in a browser"
