# One installation, many users: who cannot write to this folder works in a copy of his own.

##start-8 mine: Make a copy of an installation that you cannot write to.
##  make mine DIR=~/attnlab
##
##  For a machine where attnlab is installed once for many users. The copy has what was built and shares .venv.
ifneq ($(filter mine,$(MAKECMDGOALS)),)
SPEAKING += mine
override DIR := $(value DIR)
export DIR
.PHONY: mine
mine:
	@setup/mine.sh "$$DIR"
else ifeq ($(SPEAKING)$(filter doctor,$(MAKECMDGOALS))$(shell test ! -w . || echo yes),)
$(error you cannot write to $(CURDIR): make a copy of your own with make mine DIR=~/attnlab)
endif
