#!/bin/bash
# The mutation gate on the real kernels on a GPU: what kills them there too.
. tests/tap.sh
. tests/mutate.sh
device=cuda
mutate ${STAGES:-1 2 3 4 6}
tap_done
