#!/bin/bash
# A machine without nvcc: `make dist` packs the kernel images here, `make images` puts them into a copy of the sources, and a
# stage runs there on the emulator. A tarball that is damaged, or of other sources, is refused and changes nothing.
. tests/tap.sh
unset MAKEFLAGS MFLAGS MAKELEVEL ARGS DEVICE FROM TESTS NVCC
build=$(realpath "$build")
check "make dist" make BUILD="$build" stage-1 dist
tarball=$(ls -t "$build"/dist/attnlab-images-*.tar.gz | head -n 1)
sum=$(sha256sum < "$tarball")
check "its checksum lies beside it" bash -c 'cd "${1%/*}" && sha256sum -c --quiet "$1.sha256"' - "$tarball"
check "the same images make the same bytes" bash -c 'make BUILD="$1" stage-1 dist && [ "$(sha256sum < "$2")" = "$3" ]' - "$build" "$tarball" "$sum"

# ---- The other machine: the sources, host code that is compiled already, CUDA's headers in .venv, no compiler of CUDA's
tree=$tap_dir/tree
mkdir -p "$tree/build/stages" "$tree/build/images"
git ls-files -z -- Makefile '*.mk' common emulator profiler stages plots runtime setup chips | xargs -0 cp -a --parents -t "$tree"
cp -a "$build"/{common,emulator,profiler,include,libattnlab.a,revision,alone,stage-1} "$tree/build"
cp -a "$build/stages/1-scalar" "$tree/build/stages"
find "$tree" -path "$tree/build" -prune -o -type f -exec touch -d 2020-01-01 {} +
cuda=$(make -s -f - <<< 'x: ; @:' > /dev/null; for each in "$(command -v nvcc)" /usr/local/cuda/bin/nvcc "$PWD"/.venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
    [ -x "$each" ] && dirname "$(dirname "$(realpath "$each")")" && break; done)
site=$tree/.venv/lib/python3.11/site-packages/nvidia/cu13
mkdir -p "$site" "$tap_dir/bin"
ln -s "$cuda/include" "$site/include"
# PATH without nvcc, and no toolkit in its usual place
path=$(tr : '\n' <<< "$PATH" | while read -r each; do [ -x "$each/nvcc" ] || echo "$each"; done | paste -sd:)
there() { (cd "$tree" && PATH=$path make NVCC=none "$@"); }
refuses() { # PATTERN COMMAND...
    "${@:2}" > "$tap_dir/said" 2>&1 && { cat "$tap_dir/said"; return 1; }
    grep -q -e "$1" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
    [ -z "$(ls "$tree/build/images/stage-1" 2> /dev/null)" ]
}
images() { there stage-1 images FROM="$1"; }
check "no nvcc, no images: the cause and both remedies" refuses "^make: there is no nvcc.*: run make setup.*, or take images: make help images" there stage-1 run DEVICE=emu

# ---- Tarballs that are refused
bad=$tap_dir/bad.tar.gz
mkdir "$tap_dir/open"
tar -xzf "$tarball" -C "$tap_dir/open"
repacked() { # COMMAND... changes the files in this folder; packed as $bad
    rm -rf "$tap_dir/work"
    cp -a "$tap_dir/open" "$tap_dir/work"
    (cd "$tap_dir/work" && "$@")
    tar -czf "$bad" -C "$tap_dir/work" .
}
check "no tarball named" refuses "which tarball?" there stage-1 images
check "a tarball that is not there" refuses "none.tar.gz: cannot be read" images "$tap_dir/none.tar.gz"
head -c 20000 "$tarball" > "$bad"
check "one that is cut" refuses "^images: .*: damaged (.*); download it again, or run make dist" images "$bad"
echo text | gzip > "$bad"
check "one that is none" refuses "no tarball of kernel images (it has no MANIFEST" images "$bad"
repacked rm MANIFEST
check "one without a MANIFEST" refuses "no tarball of kernel images" images "$bad"
repacked bash -c 'echo >> images/stage-1/d64.compute_89.ptx'
check "one image was changed" refuses "damaged (images/stage-1/d64.compute_89.ptx has another checksum)" images "$bad"
repacked rm images/stage-1/d64.compute_89.ptx
check "one image is missing" refuses "damaged (its files are not those of its MANIFEST)" images "$bad"
repacked bash -c 'touch images/stage-1/more.ptx'
check "one image too many" refuses "damaged (its files are not those of its MANIFEST)" images "$bad"
repacked bash -c 'rm images/stage-1/d64.compute_89.ptx && ln -s /etc/passwd images/stage-1/d64.compute_89.ptx'
check "a link in place of an image" refuses "damaged (its files are not those of its MANIFEST)" images "$bad"
repacked bash -c 'sed -i "s,images/stage-1/d64.compute_89.ptx,images/stage-1/../../../Makefile," MANIFEST'
check "a file outside of its folder" refuses "line of another kind" images "$bad"
check "a stage that it does not have" refuses "has no images of stage-2; it has stage-1" there stage-2 images FROM="$tarball"
for file in stages/1-scalar/kernel.cu stages/1-scalar/images common/cuda/ptx.cuh; do
    echo "# changed" >> "$tree/$file"
    check "stale: $file was changed" refuses "stale: the sources of stage-1 are not those .* take the tarball of this revision" images "$tarball"
    cp "$file" "$tree/$file"
    touch -d 2020-01-01 "$tree/$file"
done
check "nothing is left of them" bash -c '! ls -d "$1"/build/images.?*' - "$tree"

# ---- One that is right
check "make images" images "$tarball"
check "the images are those of here" diff -r -x '*.d' "$build/images/stage-1" "$tree/build/images/stage-1"
there stage-1 run DEVICE=emu ARGS="--seqlen 64 --heads 1 --counters SHARED" > "$tap_dir/said" 2>&1
check "the stage runs on the emulator" bash -c 'cat "$1"; grep -q "RIGHT" "$1"' - "$tap_dir/said"
check "nothing was compiled for it" bash -c '! grep -q nvcc "$1"' - "$tap_dir/said"
touch "$tree/common/cuda/ptx.cuh"
check "a later change of a source is noticed" bash -c 'cd "$1" && PATH=$2 make NVCC=none stage-1 2>&1 | grep "there is no nvcc"' - "$tree" "$path"
tap_done
