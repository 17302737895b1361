#!/bin/bash
# The mutation gate on the real kernels, run by the emulator.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
. tests/mutants/mutate.sh
device=emu
mutate ${STAGES:-1 2 3 4 6}
tap_done
