#!/bin/bash
# Wrong kernels, made by rule: some of them (KERNEL_MUTANTS in ten thousand), the same ones every time. All: make mutants.
# Thorough: it takes minutes, and make test leaves it out.
exec python3 tests/mutants/mutants_kernels.py "${BUILD:-build}" "${KERNEL_MUTANTS:-6}"
