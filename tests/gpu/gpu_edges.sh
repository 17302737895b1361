#!/bin/bash
# The same on the GPU, all of it. EDGES=large: past 2^31 elements too, a minute a stage and 30 GB on the host.
exec .venv/bin/python tests/commands/edges.py "${BUILD:-build}" cuda "${STAGES:-1 2 3 4 6}" "${EDGES:-all}"
