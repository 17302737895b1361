#!/bin/bash
# Installs what this machine lacks to build, test and plot; says what it does; does nothing when all
# is there.
#
#   packages   Debian and Ubuntu, through apt-get, and Fedora, through dnf (sudo only if needed): compiler, gnuplot,
#              cmocka, jansson, clang-format, Python's venv. A user without sudo is told their names in one line.
#   .venv      the notebook tools of notebooks/course/requirements.txt
#   tools      setup/tools.txt into .venv: nvdisasm
#   attnlab    the command, linked into .venv/bin
#   CUDA       setup/headers.txt and cuda.txt into .venv, if no nvcc is on PATH or in /usr/local/cuda; only headers.txt where images
#              come from a tarball (FROM)
set -eu
cd "$(dirname "$0")/.."

say() { echo "setup: $*"; }
die() { echo "setup: $*" >&2; exit 1; }

# ---- Packages ------------------------------------------------------------------------------------
missing=()
# The same packages by Fedora's names.
declare -A fedora=([g++]=gcc-c++ [libc6-dev]=glibc-devel [gnuplot-nox]=gnuplot [clang-format]=clang-tools-extra
    [python3-venv]=python3 [libopenblas0-pthread]=openblas-serial [libcmocka-dev]=libcmocka-devel
    [libjansson-dev]=jansson-devel)
installer=
for each in apt-get dnf; do [ -n "$installer" ] || ! command -v $each > /dev/null || installer=$each; done
need() { # PACKAGE COMMAND...: the package is missing if the command fails
    local package=$1
    shift
    "$@" > /dev/null 2>&1 && return
    [ "$installer" = dnf ] && package=${fedora[$package]:-$package}
    missing+=("$package")
}
library() { echo "int main(void){return 0;}" | gcc -x c - -o /dev/null -l:"$1"; }
cause() { # the first that apt-get or dnf complained of in $said
    local line
    while read -r line; do
        case $line in 'W: Failed to fetch '* | E:\ * | Error:\ *) echo "${line#*: }"; return ;; esac
    done <<< "$said"
    echo "no word of why"
}
header() { echo "#include <$1>" | gcc -E -include stdint.h -include stdarg.h -include setjmp.h -x c -; }

need gcc command -v gcc
need g++ command -v g++ # nvcc preprocesses with it
need make command -v make
need git command -v git
need libc6-dev header stdio.h
need gnuplot-nox command -v gnuplot
need clang-format command -v clang-format
need python3-venv python3 -c 'import ensurepip, venv'
need bubblewrap command -v bwrap
need libopenblas0-pthread library libopenblas.so.0
need libcmocka-dev eval 'header cmocka.h && library libcmocka.so.0'
# Fedora has no static jansson: the Makefile takes the shared one there.
need libjansson-dev eval 'header jansson.h && { library libjansson.a || library libjansson.so; }'
need libjs-d3 test -e /usr/share/javascript/d3/d3.min.js # draws pages of watch

if [ ${#missing[@]} -gt 0 ]; then
    [ -n "$installer" ] || die "no apt-get and no dnf here; install these by hand: ${missing[*]}"
    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo > /dev/null || die "not root and no sudo; have these installed: ${missing[*]}"
        sudo true 2> /dev/null || die "not root, and sudo does not let you; have these installed: ${missing[*]}"
        sudo=sudo
    fi
    say "installing ${missing[*]}"
    as_root=($sudo env DEBIAN_FRONTEND=noninteractive)
    for each in http_proxy https_proxy; do [ -z "${!each-}" ] || as_root+=("$each=${!each}"); done # sudo drops them
    if [ "$installer" = apt-get ]; then
        # A source that fails need not matter; where a package is then missing, it is the cause.
        said=$("${as_root[@]}" apt-get update -qq 2>&1) || :
        said+=$'\n'$("${as_root[@]}" apt-get install -qq -y --no-install-recommends "${missing[@]}" 2>&1) && missing=()
    else
        said=$("${as_root[@]}" dnf install -q -y "${missing[@]}" 2>&1) && missing=()
    fi
    [ ${#missing[@]} -eq 0 ] || die "$installer could not install ${missing[*]}: $(cause); is there a network? Behind a proxy set http_proxy"
fi

# ---- Python and CUDA -----------------------------------------------------------------------------
wanted=(notebooks/course/requirements.txt setup/tools.txt)
if command -v nvcc > /dev/null; then :
elif [ -x /usr/local/cuda/bin/nvcc ]; then :
elif [ -n "${FROM-}" ]; then wanted+=(setup/headers.txt)
else wanted+=(setup/headers.txt setup/cuda.txt)
fi

if [ ! -x .venv/bin/pip ]; then
    say "making .venv"
    said=$(python3 -m venv .venv 2>&1) || die "Python could not make .venv: ${said##*$'\n'}"
fi
for list in "${wanted[@]}"; do
    installed=.venv/installed-$(basename "$list")
    cmp -s "$list" "$installed" && continue
    say "installing $list into .venv (a minute or two)"
    setup/pip.sh .venv/bin/python "$list" || exit
    cp "$list" "$installed"
done
ln -sfn "$PWD/runtime/python/attnlab_command.py" .venv/bin/attnlab
say "all is there"
