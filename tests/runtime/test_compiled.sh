#!/bin/bash
# Kernels that Triton and Numba compiled, from Python. Where the packages are, their tables of kernels, too (they take a
# minute): PYTHON=python make test TESTS=compiled, a Python with NumPy and triton or numba-cuda.
. tests/tap.sh
python=${PYTHON:-.venv/bin/python}
has() { "$python" -c "import $1" 2> /dev/null; }
here() { env PYTHONPATH=runtime/python BUILD="$build" "$python" "$@"; }

if ! has numpy; then
    skip "kernels that others compiled" "no NumPy here"
    tap_done
fi
check "what Triton and Numba hand out" here tests/runtime/compiled.py
# Each kernel of the committed tables: its name must stand there as right.
for package in triton numba; do
    if [ $package = triton ] && has triton || [ $package = numba ] && has numba.cuda; then
        check "kernels of $package" here tests/runtime/of_$package.py
        grep ' right$' "$tap_dir/out" | cut -c1-36 | sort > "$tap_dir/names"
        check "each is in the table" bash -c 'sed -n "/^$2 /,/^$/p" tests/public/python_kernels.txt | cut -c1-36 | sort | comm -23 "$1" - | grep . && exit 1; exit 0' - "$tap_dir/names" $package
    else
        skip "kernels of $package" "it is not installed"
    fi
done
check "a table of 30 right kernels and more, none wrong" bash -c '[ "$(grep -c " right$" tests/public/python_kernels.txt)" -ge 30 ] && ! grep -qE "WRONG|did not run" tests/public/python_kernels.txt'
tap_done
