#!/bin/bash
# mine.sh DIR: make DIR a copy of this folder that you can write to, where one installation serves many users.
# What was built is copied; .venv is linked; results and labs of others stay behind. DIR is made whole or not at all.
# Exit status: 0; 2 DIR is missing or there already; 5 it could not be written.
set -u
here=$(cd "$(dirname "$0")/.." && pwd -P)
dir=${1:-}
dir=${dir/#\~\//$HOME/}
fail() { echo "mine: $2" >&2; exit "$1"; }
[ -n "$dir" ] || fail 2 "name the folder of your copy: make mine DIR=~/attnlab"
[ ! -e "$dir" ] && [ ! -L "$dir" ] || fail 2 "$dir is there already: name a new folder"
dir=$(realpath -m "$dir")
[[ $dir/ != "$here"/* ]] || fail 2 "$dir lies in $here: name a folder outside it"
mkdir -p "$(dirname "$dir")" 2> /dev/null && part=$(mktemp -d "$dir.XXXXXX" 2> /dev/null) ||
    fail 5 "cannot write beside $dir: name a folder of your own"
trap 'chmod -R u+w "$part" 2> /dev/null; rm -rf "$part"' EXIT

cd "$here" || fail 5 "cannot read $here"
why=$(find . -mindepth 1 -maxdepth 1 ! -name .venv ! -name results ! -name my-labs ! -name submitted \
    -exec cp -R --preserve=mode,timestamps,links --reflink=auto -t "$part" {} + 2>&1) ||
    fail 5 "could not copy $here: ${why%%$'\n'*}"
chmod -R u+w "$part" && chmod 755 "$part"
[ ! -e .venv ] || ln -s "$(realpath .venv)" "$part/.venv"
mv -T "$part" "$dir" || fail 5 "could not make $dir"
echo "Your copy is $dir. Next: cd $dir; make stage-3 run"
