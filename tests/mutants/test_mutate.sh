#!/bin/bash
# The mutation gate on the real kernels, run by the emulator.
. tests/tap.sh
. tests/mutants/mutate.sh
device=emu
mutate ${STAGES:-1 2 3 4 6}
tap_done
