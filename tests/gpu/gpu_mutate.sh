#!/bin/bash
# The mutation gate on the real kernels on a GPU: what kills them there too. STAGES="1 4": these.
. tests/tap.sh
. tests/commands/stages.sh
. tests/mutants/mutate.sh
device=cuda
mutate $(stages | sed 's/.*-//')
tap_done
