# A wheel of attnlab in a fresh environment, without the checkout, make and compilers: tests/machines/package.py. A source
# distribution, from which the same wheel comes; the example notebook; a user's file under mypy --strict.
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

# As `python -m build` does: a source distribution, and a wheel from that. What is built lies there already, newer than the sources.
source() {
    $python -c 'import sys, setuptools.build_meta as b; b.build_sdist(sys.argv[1])' "$tap_dir" && tar -xzf "$tap_dir"/attnlab-1.0.tar.gz -C "$tap_dir" &&
        cp -a "$build" "$tap_dir/attnlab-1.0/build" && find "$tap_dir/attnlab-1.0" -path "*/build" -prune -o -type f -exec touch -d 2020-01-01 {} + &&
        (cd "$tap_dir/attnlab-1.0" && env -u BUILD $python -m pip wheel . --quiet --disable-pip-version-check --no-build-isolation --no-deps -w "$tap_dir/second")
}
check "a source distribution is enough for a wheel" source
names() { $python -c 'import sys, zipfile; print(*sorted(zipfile.ZipFile(sys.argv[1]).namelist()), sep="\n")' "$1"/*.whl | grep -v dist-info; }
check "which has the same files" cmp <(names "$tap_dir/wheels") <(names "$tap_dir/second")
rm -rf "$tap_dir/attnlab-1.0"

site=$(echo "$tap_dir"/venv/lib/python3*/site-packages)
if $python -c 'import nbclient' 2> /dev/null && command -v nvcc > /dev/null; then
    notebook() { # in a folder of its own, with the package that was installed
        cp runtime/python/example.ipynb "$tap_dir" && cd "$tap_dir" && env -u BUILD PYTHONPATH="$site" $python -c 'from nbclient.cli import main; main()' --inplace example.ipynb && cd "$OLDPWD" || return
        $python -c 'import json, sys
told = [["".join(o.get("text", "")) for o in c["outputs"] if o.get("name") == "stdout"] for path in sys.argv[1:] for c in json.load(open(path))["cells"] if c["cell_type"] == "code"]
half = len(told) // 2
new, here = (["".join(each) for each in part] for part in (told[:half], told[half:]))
print(*new, *here, sep="\n---\n")
sys.exit(new[1:4] != here[1:4] or "us" not in new[4])' "$tap_dir/example.ipynb" runtime/python/example.ipynb
    }
    check "the example notebook says what it is shown to say" notebook
else
    skip "the example notebook" "no nbclient or no nvcc here"
fi
mypy=$(command -v mypy)
if [ -n "$mypy" ]; then
    typed() { cp tests/machines/typed_user.py "$tap_dir" && cd "$tap_dir" && MYPYPATH= "$mypy" --strict --python-executable venv/bin/python typed_user.py; }
    check "a user's file with types passes mypy --strict" typed
    wrong() { cd "$tap_dir" && sed 's/, np.int32(96)), shared/), shraed/' typed_user.py > wrong_user.py && ! "$mypy" --strict --python-executable venv/bin/python wrong_user.py; }
    check "one with a slip does not" wrong
else
    skip "a user's file under mypy --strict" "no mypy here; pip install mypy brings it"
fi
tap_done
