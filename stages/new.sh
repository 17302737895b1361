#!/bin/bash
# new.sh STAGE FROM: makes stages/STAGE, a copy of stages/FROM that builds, runs, and is compared with it
# (make stage-N diff). Sweeps, notes and records stay where they were made.
set -eu
die() { echo "make: $*" >&2; exit 2; }
stage=${1:-} from=${2:-}
[ -n "$stage" ] && [ -n "$from" ] || die "say both: make new STAGE=7-mine FROM=3-wmma-pv"
[[ $stage =~ ^[1-9][0-9]*-[a-z0-9-]+$ ]] || die "'$stage' is no number-name, such as 7-mine"
[ -d "stages/$from" ] || die "there is no stages/$from; there are $(cd stages && echo [0-9]*-*)"
for there in stages/"${stage%%-*}"-*; do
    [ ! -e "$there" ] || die "$there is there already: take another number"
done

cp -r "stages/$from" "stages/.new-$stage"
cd "stages/.new-$stage"
rm -rf ./*.mk sweep notes
sed -i "s|stages/$from/|stages/$stage/|g" $(grep -rlF "stages/$from/" . || true) /dev/null 2> /dev/null || true
sed -i "/^previous /d; 1i previous $from" images
printf '# Stage %s: %s\n\nA copy of [%s](../%s).\n' "${stage%%-*}" "${stage#*-}" "$from" "$from" > README.md
for section in "What changed" "Why it should help" "What the counters say" "What still hurts" "Try"; do
    printf '\n## %s\n' "$section" >> README.md
done
cd ../..
mv "stages/.new-$stage" "stages/$stage"
echo "stages/$stage: a copy of $from; make stage-${stage%%-*} run, make stage-${stage%%-*} diff"
