# A wheel of attnlab in a fresh environment, without the checkout, make and compilers: tests/machines/package.py.
# Thorough: it takes minutes, and make test leaves it out.
. tests/tap.sh
python=$(realpath -s "$(command -v "${PYTHON:-.venv/bin/python}")")
if ! $python -c 'import numpy, setuptools' 2> /dev/null; then
    skip "attnlab as a wheel" "no NumPy or setuptools here; make setup installs them"
    tap_done
    exit
fi

wheel() {
    BUILD=$build $python -m pip wheel . --quiet --disable-pip-version-check --no-build-isolation --no-deps -w "$tap_dir/wheels" &&
        [ "$(ls "$tap_dir/wheels")" = "attnlab-1.0-py3-none-linux_$(uname -m).whl" ]
}
check "a wheel is built" wheel
fresh() { # with the NumPy that is here, for want of a network
    local site
    $python -m venv --without-pip "$tap_dir/venv" && site=$(echo "$tap_dir"/venv/lib/python3*/site-packages) &&
        $python -m pip --quiet --disable-pip-version-check --python "$tap_dir/venv/bin/python" install --no-index --no-deps "$tap_dir"/wheels/*.whl &&
        cp -r "$($python -c 'import numpy, os; print(os.path.dirname(numpy.__file__))')"* "$site"
}
check "it installs" fresh
alone() { # with the checkout hidden, where this machine lets it be
    local hidden=()
    bwrap --dev-bind / / --tmpfs "$PWD" true 2> /dev/null && hidden=("$(command -v bwrap)" --dev-bind / / --tmpfs "$PWD")
    cp tests/machines/package.py tests/tap.py "$tap_dir" && cd "$tap_dir" &&
        env -i PATH=/nothing HOME=/nothing "${hidden[@]}" venv/bin/python package.py > tap 2>&1
}
(alone)
grep -E '^(ok|not ok|#|Traceback|[A-Za-z.]*Error)' "$tap_dir/tap" | sed -E 's/^(ok|not ok) [0-9]+/\1/'
tap_n=$((tap_n + $(grep -cE '^(ok|not ok)' "$tap_dir/tap"))) tap_failed=$((tap_failed + $(grep -c '^not ok' "$tap_dir/tap")))
check "it came to its end" grep -q '^1\.\.' "$tap_dir/tap"
tap_done
