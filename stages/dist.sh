#!/bin/bash
# dist.sh write BUILD STAGE...            BUILD/dist/attnlab-images-REVISION.tar.gz, the kernel images of these stages
# dist.sh read BUILD TARBALL STAGE...     puts them into BUILD/images, where there is no nvcc  (make dist, make images)
#
# The tarball has images/stage-N/NAME.{ptx,cubin,ptxas} and a file MANIFEST: `attnlab-images 1`, a line
# `stage stage-N HASH` for each stage, where HASH is of all files that its images are made from, and a line
# `SHA256  images/...` for each image. An image is used if its checksum and its stage's hash are right, and make knows from
# its .d file when one of those files changes. Exit status: 0; 2 usage; 5 a tarball that cannot be used.
set -eu
mode=$1 build=$2
shift 2
die() { echo "images: $2" >&2; exit "$1"; }
fetch="download it again, or run make dist where there is an nvcc"

sources() { # STAGE: the files that its images are made from
    LC_ALL=C find common/cuda stages/rules.sh stages/"${1#stage-}"-*/ -type f \
        \( -name '*.cu' -o -name '*.cuh' -o -name '*.h' -o -name '*.sh' -o -name images \) ! -path '*/sweep/*' ! -path '*/fit/*' | LC_ALL=C sort
}
hash_of() { sources "$1" | while read -r file; do sha256sum "$file"; done | sha256sum | cut -d' ' -f1; }

write() {
    local name stage
    name=attnlab-images-$(cat "$build/revision")
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    mkdir -p "$build/dist" "$tmp/images"
    for stage; do
        mkdir "$tmp/images/$stage"
        cp "$build/images/$stage"/*.{ptx,cubin,ptxas} "$tmp/images/$stage"
    done
    {
        echo "attnlab-images 1"
        for stage; do echo "stage $stage $(hash_of "$stage")"; done
        (cd "$tmp" && find images -type f | LC_ALL=C sort | xargs sha256sum)
    } > "$tmp/MANIFEST"
    # the same bytes from the same images
    tar -C "$tmp" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=a+rX -cf - MANIFEST images | gzip -9n > "$tmp/tarball"
    mv "$tmp/tarball" "$build/dist/$name.tar.gz"
    (cd "$build/dist" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
    echo "$build/dist/$name.tar.gz: $(grep -c '  images/' "$tmp/MANIFEST") files of $*"
}

read_tarball() {
    local tarball=$1 stage stale=() file other=
    shift
    [ -n "$tarball" ] || die 2 "which tarball? make images FROM=attnlab-images-REVISION.tar.gz"
    [ -r "$tarball" ] || die 5 "$tarball: cannot be read; FROM is a file that make dist wrote"
    mkdir -p "$build"
    tmp=$(mktemp -d "$build/images.XXXXXX") # one file system: the files are moved
    trap 'rm -rf "$tmp"' EXIT
    tar -xzf "$tarball" -C "$tmp" --no-same-owner --no-same-permissions 2> "$tmp/said" ||
        die 5 "$tarball: damaged ($(head -n 1 "$tmp/said")); $fetch"
    [ -f "$tmp/MANIFEST" ] && [ "$(head -n 1 "$tmp/MANIFEST")" = "attnlab-images 1" ] ||
        die 5 "$tarball: no tarball of kernel images (it has no MANIFEST of version 1); $fetch"
    # plain files of exactly these names
    other=$(grep -Evx 'attnlab-images 1|stage stage-[0-9]+ [0-9a-f]{64}|[0-9a-f]{64}  images/stage-[0-9]+/[A-Za-z0-9._-]+\.(ptx|cubin|ptxas)' \
        "$tmp/MANIFEST" || true)
    [ -z "$other" ] || die 5 "$tarball: its MANIFEST has a line of another kind; $fetch"
    (cd "$tmp" && find images ! -type d -printf '%y %p\n' | LC_ALL=C sort) > "$tmp/there"
    grep '  images/' "$tmp/MANIFEST" | sed 's/^[^ ]*  /f /' | LC_ALL=C sort | cmp -s - "$tmp/there" ||
        die 5 "$tarball: damaged (its files are not those of its MANIFEST); $fetch"
    file=$(cd "$tmp" && grep '  images/' MANIFEST | sha256sum -c --quiet --strict 2> /dev/null | head -n 1) || true
    [ -z "$file" ] || die 5 "$tarball: damaged (${file%%:*} has another checksum); $fetch"
    for stage; do
        grep -q "^stage $stage " "$tmp/MANIFEST" || die 5 "$tarball: has no images of $stage; it has $(sed -n 's/^stage \(.*\) .*/\1/p' "$tmp/MANIFEST" | paste -sd' ')"
        grep -qx "stage $stage $(hash_of "$stage")" "$tmp/MANIFEST" || stale+=("$stage")
    done
    [ ${#stale[@]} -eq 0 ] || die 5 "$tarball: stale: the sources of ${stale[*]} are not those that it was made from; take the tarball \
of this revision ($(cat "$build/revision" 2> /dev/null || git describe --always --dirty 2> /dev/null || echo unknown)), or make setup, which installs nvcc"
    for stage; do
        mkdir -p "$build/images/$stage"
        for file in "$tmp/images/$stage"/*; do
            other=$build/images/$stage/${file##*/}
            case $file in
            *.ptxas) ;;
            *) echo "$other: $(sources "$stage" | paste -sd' ')" > "$other.d" ;;
            esac
            mv -f "$file" "$other"
        done
        touch "$build/images/$stage"/*.ptx
        touch "$build/images/$stage"/*.cubin # made from the PTX
    done
    echo "images: $(wc -l < "$tmp/there") files of $* from $tarball"
}

case $mode in
write) write "$@" ;;
read) read_tarball "$@" ;;
esac
