#!/bin/bash
# Infinities, NaN, subnormals, 65504, scales, empty and single rows, many heads on one: tests/commands/edges.py.
# Thorough: it takes minutes, and make test leaves it out.
exec .venv/bin/python tests/commands/edges.py "${BUILD:-build}" emu "${STAGES:-1 2 3 4 6}" "${EDGES:-quick}"
