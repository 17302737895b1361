# attnlab.forward and attnlab.records from Python: tests/runtime/forward.py; as an installed package, too.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
python=${PYTHON:-.venv/bin/python}
if ! $python -c 'import numpy' 2> /dev/null; then
    skip "attnlab.forward" "no NumPy here; make setup installs it"
    tap_done
fi
PYTHONPATH=runtime/python:tests:tests/runtime BUILD=$build $python tests/runtime/forward.py > "$tap_dir/tap" 2>&1
grep -E '^(ok|not ok|#|Traceback|[A-Za-z]*Error)' "$tap_dir/tap" | sed -E 's/^(ok|not ok) [0-9]+/\1/'
tap_n=$(grep -cE '^(ok|not ok)' "$tap_dir/tap") tap_failed=$(grep -c '^not ok' "$tap_dir/tap")
check "it came to its end" grep -q "^1..$tap_n\$" "$tap_dir/tap"

# pip install -e . , beside the environment that is there
installs() {
    $python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --prefix "$tap_dir/prefix" -e . &&
        (cd / && "$here" -c "import glob, site; site.addsitedir(glob.glob('$tap_dir/prefix/l*/python*/site-packages')[0]); import attnlab; attnlab.forward")
}
here=$(realpath -s "$(command -v "$python")")
check "pip install -e . installs" installs
command_installed() { # with its own Python, which finds the package as above
    (cd / && PYTHONPATH=$root/runtime/python "$tap_dir/prefix/bin/attnlab" --dry-run stage 3 run) > "$tap_dir/said" 2>&1
    grep -q -e "-C $root stage-3 run$" "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
root=$PWD
check "it installs the command attnlab" command_installed
tap_done
