# `make setup test` on a fresh machine: what setup installs (nvcc, cmocka ...) is looked for while
# make reads its makefiles. So setup runs as the remaking of an included makefile; make then starts
# afresh, with MAKE_RESTARTS set, and reads everything again before it goes on with the other goals.

.PHONY: setup
setup: ; @: ## install what is missing (Debian, Ubuntu): packages, .venv, CUDA if there is no nvcc

ifneq ($(filter setup,$(MAKECMDGOALS)),)
ifeq ($(MAKE_RESTARTS),)
.PHONY: run-setup
run-setup:
	@setup/setup.sh
$(BUILD)/setup.mk: run-setup
	@mkdir -p $(@D) && touch $@
include $(BUILD)/setup.mk
endif
endif
