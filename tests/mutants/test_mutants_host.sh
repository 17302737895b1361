#!/bin/bash
# Wrong host programs, made by rule: some of them (MUTANTS in a thousand), the same ones every time. All: make mutants.
# Thorough: it takes minutes, and make test leaves it out.
exec python3 tests/mutants/mutants.py "${BUILD:-build}" "${MUTANTS:-25}"
