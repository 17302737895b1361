#!/bin/bash
# The container and the workflow: what .devcontainer/ and .github/workflows/ name is there. With CONTAINER_TEST=1 buildah builds
# the Containerfile, and the commands of README.md run in the image as its user and without a network; so do the steps of
# .devcontainer/. No registry of images is asked: the image that it begins with is Debian 12 by debootstrap, with the
# certificates of this machine. Needs root, buildah, debootstrap, Debian's packages and PyPI, 8 GB of disk and ten minutes.
# CONTAINER_STORE=FOLDER keeps the images there: a second run builds what has changed.
# Prints a table of what the revision that is checked out does; what is not committed is not in it.
. tests/tap.sh
python=$(command -v "${PYTHON:-.venv/bin/python}" || command -v python3)

field() { # FILE EXPRESSION: of a JSON or YAML file, as `f`; lists a line each
    $python -c 'import json, sys
text = open(sys.argv[1]).read()
if sys.argv[1].endswith(".json"): f = json.loads(text)
else:
    import yaml
    f = yaml.safe_load(text)
said = eval(sys.argv[2])
print(*(said if isinstance(said, list) else [said]), sep="\n")' "$@"
}
dev=.devcontainer/devcontainer.json workflow=.github/workflows/ci.yml
last() { sed -n "s/^$1 //p" Containerfile | tail -n 1; } # of an instruction
check "the folder's container is built from a file that is there" [ "$(realpath ".devcontainer/$(field $dev 'f["build"]["dockerfile"]')")" = "$PWD/Containerfile" ]
check "of this checkout" [ "$(realpath ".devcontainer/$(field $dev 'f["build"]["context"]')")" = "$PWD" ]
check "its user is the image's" [ "$(field $dev 'f["remoteUser"]')" = "$(last USER)" ]
check "it links what the image has" [ "$(field $dev 'f["postCreateCommand"]')" = "ln -sfn $(last WORKDIR)/.venv .venv" ]
if $python -c 'import yaml' 2> /dev/null; then
    steps='[each for each in f["jobs"]["tests"]["steps"]]'
    check "the workflow has continuous integration's own step" [ "$(field $workflow "sum(e.get('run') == '.ci/run' for e in $steps)")" = 1 ]
    check "which can be run" test -x .ci/run
    schema=$(command -v check-jsonschema || ls .venv/bin/check-jsonschema 2> /dev/null)
    if [ -n "$schema" ]; then
        check "it is a workflow by the schema of those" "$schema" --builtin-schema vendor.github-workflows $workflow
    else
        skip "the workflow's schema" "no check-jsonschema here; pip install check-jsonschema brings it"
    fi
else
    skip "the workflow" "no PyYAML here; make setup installs it"
fi
if [ -z "${CONTAINER_TEST-}" ] || [ "$(id -u)" -ne 0 ] || ! command -v debootstrap buildah > /dev/null; then
    skip "the container" "only with CONTAINER_TEST=1, root, buildah and debootstrap"
    tap_done
fi

work=$(mktemp -d "${CONTAINER_TMP:-/tmp}/container.XXXXXX")
end() {
    local each
    for each in /proc/[0-9]*; do [[ $(readlink "$each/root") != "$work"/* ]] || kill -9 "${each#/proc/}"; done 2> /dev/null
    sleep 0.2
    grep -o " $work[^ ]*" /proc/mounts | sort -r | xargs -r umount 2> /dev/null
    rm -rf "$work" "$tap_dir"
}
trap end EXIT
trap 'exit 143' TERM
store=${CONTAINER_STORE:-$work/store}
buildah() { command buildah --root "$store" --runroot "$work/run" "$@"; }
rows=()
row() { # WHAT COMMAND...: a line of the table
    local what=$1 start=$SECONDS passed=0
    shift
    "$@" > "$tap_dir/out" 2>&1 < /dev/null && ! grep -q "command not found" "$tap_dir/out" && passed=1
    tail -n 15 "$tap_dir/out" > "$tap_dir/tail"
    tap_result "$what" $passed "$tap_dir/tail"
    [ $passed -eq 1 ] || cp "$tap_dir/out" "$build/tests/container-$tap_n.txt"
    rows+=("$(printf '%-70s %-6s %4d s' "$what" "$([ $passed -eq 1 ] && echo works || echo FAILS)" $((SECONDS - start)))")
}
base() {
    local made
    ! buildah inspect --type image "docker.io/library/$(last FROM)" || return 0
    debootstrap --variant=minbase bookworm "$work/base" "${MIRROR:-http://deb.debian.org/debian}" || return
    cp -L /etc/ssl/certs/ca-certificates.crt "$work/base/etc/host-ca.crt" && printf '[global]\ncert = /etc/host-ca.crt\n' > "$work/base/etc/pip.conf"
    made=$(buildah from scratch) && buildah add -q "$made" "$work/base" / && rm -rf "$work/base" &&
        buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$made" &&
        buildah commit -q "$made" "docker.io/library/$(last FROM)" && buildah rm "$made"
}
row "Debian 12, which the image begins with" base
git clone -q --depth 1 "file://$PWD" "$work/context"
mkdir "$work"/context/{build,.venv} && touch "$work"/context/{build,.venv}/of-the-host
build() {
    buildah bud --layers --isolation chroot --pull-never --volume /etc/resolv.conf:/etc/resolv.conf:ro -f "$work/context/Containerfile" -t attnlab "$work/context"
}
row "the Containerfile is built" build
box=$(buildah from --pull-never attnlab 2> /dev/null)
if [ -z "$box" ]; then tap_done; fi
# In the image, as its user, with no other network than loopback.
inside() {
    unshare --net bash -c 'ip link set lo up; exec "$@"' - \
        buildah --root "$store" --runroot "$work/run" run --isolation chroot "${volume[@]}" "$box" -- bash -c "$1"
}
volume=()
row "it runs as a user who is not root, without a network" inside '[ "$(id -un)" = student ] && ! getent hosts deb.debian.org'
row "nothing that was built on the host came along" inside '! ls build/of-the-host .venv/of-the-host'
while read -r command; do row "$command" inside "$command"; done < <(sed -n '/^## No GPU/,/^The second/s/^    \(make [^#]*[^# ]\) *#.*/\1/p' README.md | head -n 3)
row "$(grep -o 'make setup test' CONTRIBUTING.md)" inside 'make setup test'
rows+=("    $(tail -n 1 "$tap_dir/out")")
row "the comparison drew its plots" inside 'ls -l results/*.png | grep -c . | grep -q "^[1-9]"'
while read -r step; do row "the workflow's $step" inside "$step"; done < <(field $workflow "[e['run'] for e in $steps if e.get('run', '').startswith('make ')]")
row "what it keeps is there" inside "$(field $workflow "['ls -d ' + p for e in $steps if 'upload-artifact' in e.get('uses', '') for p in e['with']['path'].split() if 'tests' not in p]" | head -n 1)"

# The folder's container: the checkout is mounted from outside, owned by a user of the same number.
mkdir "$work/checkout" && git archive HEAD | tar -x -C "$work/checkout" && chown -R 1000:1000 "$work/checkout"
place=$(field $dev 'f["workspaceFolder"]')
volume=(--volume "$work/checkout:$place:rw" --workingdir "$place")
row "the folder's container: what is done once it is made" inside "$(field $dev 'f["postCreateCommand"]')"
row "there a stage is built and runs" inside 'make -j2 stage-1 run ARGS="--seqlen 64 --heads 1" | grep -w RIGHT'
row "and setup has nothing to do" inside 'make setup | grep -x "setup: all is there"'
echo "#| revision $(git rev-parse --short HEAD), $(date +%F), $(command buildah --version | cut -d' ' -f1-3), $(nproc) cores of$(sed -n 's/^model name.*://p' /proc/cpuinfo | head -n 1)"
printf '#| %s\n' "${rows[@]}"
tap_done
