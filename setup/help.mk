# What make says of itself. The words stand beside each verb: a block of comments in the makefile that has its rule,
#
#   ##look-2 banks: Show which banks a shared-memory access uses.
#   ##  make stage-1 banks LINE=102
#   ##
#   ##  what `make help banks` adds
#
# A block has its group and its place in the group (setup/help.sh has their titles), the verb, one sentence, and an
# example. Nothing else lists verbs: help, completion and the guess at a misspelt verb read these blocks and rules.

##start-6 help: Explain a verb or a stage; alone, list the verbs.
##  make help source
##
##  make help           what one can do, by what one wants
##  make help VERB      one verb, with its variables
##  make help stage-3   one stage
##  make help-more      verbs for those who change or measure the workbench itself

##start-7 completion: Let bash or zsh complete verbs and stages.
##  make completion
##
##  Prints a script for the shell; `source <(make completion)` completes in this shell.
##  Its first lines say what to write into ~/.bashrc or ~/.zshrc to have it always.

$(if $(findstring $$,$(MAKECMDGOALS)),$(error a goal is a verb, a stage or a file: make help lists the verbs))
SPEAKING := $(filter start help help-more completion,$(or $(MAKECMDGOALS),start))
shell-word = '$(subst ','\'',$1)'

ifneq ($(SPEAKING),)
ASKED := $(filter-out $(SPEAKING),$(MAKECMDGOALS))
.PHONY: $(SPEAKING) $(ASKED)
$(SPEAKING):
	@setup/help.sh $@ $(foreach a,$(ASKED),$(call shell-word,$a))
$(ASKED): ; @:
else ifeq ($(MAKELEVEL)$(MAKE_RESTARTS),0)
# Goals with a dot or a slash are files, which have rules or not.
$(foreach why,$(shell setup/help.sh unknown $(foreach g,$(MAKECMDGOALS),$(call shell-word,$g)) | tr ' ' '~'),\
    $(error $(subst ~, ,$(why))))
endif
