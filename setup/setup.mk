# `make setup test` on a fresh machine: what setup installs (nvcc, cmocka ...) is looked for while
# make reads its makefiles. So setup runs as the remaking of an included makefile; make then starts
# afresh, with MAKE_RESTARTS set, and reads everything again before it goes on with the other goals.

##start-1 setup: Install what is missing on this machine.
##  make setup
##
##  On Debian, Ubuntu and Fedora: packages, Python's tools into .venv, and CUDA's compiler where there is no nvcc.
##  Other goals may follow: make setup compare.
.PHONY: setup
setup: ; @:

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
