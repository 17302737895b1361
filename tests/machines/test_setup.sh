# What setup.sh says on machines that lack something: each is a folder of commands, in an order that nothing is installed.
. tests/tap.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

# A machine with these commands and no others: bash and coreutils, the given ones, which write down what they are asked.
machine() { # NAME UID COMMAND...
    local bin=$tap_dir/$1 command
    mkdir -p "$bin"
    for command in bash dirname cat cp ln cmp env; do ln -sf "$(command -v $command)" "$bin/$command"; done
    printf '#!%s\necho %s\n' "$(command -v bash)" "$2" > "$bin/id"
    for command in "${@:3}"; do
        printf '#!%s\necho "%s $*" >> "%s/asked"\ncase $0 in */forbids/sudo) exit 1 ;; */sudo) "$@" ;; esac\n' "$(command -v bash)" "$command" "$bin" > "$bin/$command"
    done
    chmod +x "$bin"/id "${@:3}" 2> /dev/null || (cd "$bin" && chmod +x id "${@:3}")
}
tree="$tap_dir/a path with blanks" # setup.sh makes .venv beside it
mkdir -p "$tree" && cp -r setup "$tree"
sets_up() { PATH=$tap_dir/$1 bash "$tree/setup/setup.sh"; }
said() { grep -qF -- "$1" "$tap_dir/err" || { cat "$tap_dir/err"; false; }; }

machine user 1000 apt-get
status "a user without sudo" 1 sets_up user
check "he is told Debian's names in one line" said "not root and no sudo; have these installed: gcc g++ make git libc6-dev gnuplot-nox clang-format python3-venv bubblewrap libopenblas0-pthread libcmocka-dev libjansson-dev"
check "nothing was tried" test ! -e "$tap_dir/user/asked"
machine forbids 1000 apt-get sudo true
status "a user whom sudo does not let" 1 sets_up forbids
check "he is told their names, too" said "not root, and sudo does not let you; have these installed: gcc g++ make"
check "sudo was asked for nothing else" [ "$(sort -u "$tap_dir/forbids/asked")" = "sudo true" ]
machine fedora 1000 dnf
status "a user of Fedora without sudo" 1 sets_up fedora
check "he is told Fedora's names" said "installed: gcc gcc-c++ make git glibc-devel gnuplot clang-tools-extra python3 bubblewrap openblas-serial libcmocka-devel jansson-devel"
machine neither 0
status "root without apt-get and dnf" 1 sets_up neither
check "is told so" said "no apt-get and no dnf here; install these by hand: gcc g++"

asked() { # MACHINE PATTERN: what its installer was asked
    sets_up "$1" > "$tap_dir/setup" 2>&1
    grep -qE -- "$2" "$tap_dir/$1/asked" || { cat "$tap_dir/setup" "$tap_dir/$1/asked"; false; }
}
machine root 0 apt-get
check "root installs by apt-get" asked root '^apt-get install .*--no-install-recommends gcc g\+\+ .* libjansson-dev$'
check "after an update" asked root '^apt-get update'
machine sudoer 1000 apt-get sudo true
check "a user with sudo, by sudo" asked sudoer '^sudo env DEBIAN_FRONTEND=noninteractive apt-get install'
machine redhat 1000 dnf sudo true
check "on Fedora by dnf" asked redhat '^sudo env .*dnf install -q -y gcc gcc-c\+\+ .* jansson-devel$'

http_proxy=http://proxy:3128
export http_proxy
check "sudo keeps a proxy" asked sudoer '^sudo env .* http_proxy=http://proxy:3128 apt-get install'
unset http_proxy

# Where a download fails, one line has the cause and the remedy.
machine offline 0 apt-get
cat > "$tap_dir/offline/apt-get" << 'END'
#!/bin/bash
case $1 in
update) echo "W: Failed to fetch http://deb.debian.org/InRelease  Temporary failure resolving 'deb.debian.org'"; echo "W: Some index files failed." ;;
*) echo "E: Unable to locate package gcc" >&2; echo "E: Unable to locate package g++" >&2; exit 100 ;;
esac
END
said_once() { [ "$(wc -l < "$tap_dir/err")" -eq 1 ] && said "$1"; }
status "no network for packages" 1 sets_up offline
check "is told in one line why, and what to do" said_once ": Failed to fetch http://deb.debian.org/InRelease  Temporary failure resolving 'deb.debian.org'; is there a network? Behind a proxy set http_proxy"
pip() { # WHAT IT SAYS [STATUS]: one that fails so, or ends with STATUS
    printf '#!/bin/bash\nprintf "%%s\\n" "%s" >&2\nexit %d\n' "$1" "${2:-1}" > "$tap_dir/python"
    chmod +x "$tap_dir/python"
    setup/pip.sh "$tap_dir/python" setup/tools.txt
}
retry="WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<HTTPSConnection object at 0x7f>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/x/"
status "no network for wheels" 1 pip "$retry"$'\n'"ERROR: No matching distribution found for x"
check "one line has the cause, not its last consequence" said "setup: pip could not install setup/tools.txt: [Errno -3] Temporary failure in name resolution; it needs a network, and behind a proxy https_proxy"
status "no room for wheels" 1 pip "WARNING: x"$'\n'"ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"$'\n'"ERROR: y"
check "one line says so" said "setup: pip could not install setup/tools.txt: Could not install packages due to an OSError: [Errno 28] No space left on device; "
wheels=("  Downloading x-1-py3-none-any.whl (12.3 MB)" "  Downloading x-1.metadata (3 kB)" "Installing collected packages: a, b, x")
what_takes_long() { pip "$(printf '%s\n' "${wheels[@]}")" 0 | cmp - <(printf 'setup:   %s\n' "downloading x-1-py3-none-any.whl (12.3 MB)" "unpacking 3 packages"); }
check "setup says what takes long while pip works" what_takes_long

# One installation for many users: who cannot write to it gets a copy of his own.
installed=$tap_dir/installed
mkdir -p "$installed/results" && cp --parents Makefile $(git ls-files '*.mk') "$installed" && cp -r setup "$installed" && mkdir "$installed/.venv"
ln -s "$installed/Makefile" "$installed/link"
mkdir "$tap_dir/home" "$tap_dir/closed"
chmod -R a-w "$installed" "$tap_dir/closed"
as_user() { if [ "$(id -u)" -eq 0 ]; then setpriv --bounding-set=-dac_override "$@"; else "$@"; fi; } # root may write everywhere
cannot() { # VERB...
    ! as_user make -C "$installed" "$@" > "$tap_dir/said" 2>&1 &&
        grep -q "you cannot write to $installed: make a copy of your own with make mine DIR=~/attnlab" "$tap_dir/said" || { cat "$tap_dir/said"; false; }
}
check "a folder that one cannot write to says so" cannot stage-1 run
check "once" [ "$(grep -vcE '^make: (Entering|Leaving)' "$tap_dir/said")" -eq 1 ]
mine() { as_user env HOME="$tap_dir/home" make -s -C "$installed" mine DIR="$1"; }
check "a user makes a copy" mine '~/my own'
copy="$tap_dir/home/my own"
check "it can be written to" as_user test -w "$copy/setup/setup.mk"
check "it is as old, so that nothing is built again" [ ! "$copy/Makefile" -nt "$installed/Makefile" ]
check "links stay links, .venv is shared" [ -L "$copy/link" -a "$(readlink "$copy/.venv")" = "$installed/.venv" ]
check "results of others stay behind" [ ! -e "$copy/results" ]
status "a copy that is there already" 2 as_user "$installed/setup/mine.sh" "$copy"
status "without a name" 2 as_user "$installed/setup/mine.sh"
status "inside the installation" 2 as_user "$installed/setup/mine.sh" "$installed/mine"
status "where one cannot write" 5 as_user "$installed/setup/mine.sh" "$tap_dir/closed/too"
check "nothing half made is left" [ -z "$(find "$tap_dir" -maxdepth 2 -name 'too*' -o -maxdepth 2 -name 'my own.*')" ]
chmod -R u+w "$installed" "$tap_dir/closed"

# nvcc of NVIDIA's wheels
mkdir -p "$tap_dir/cu13/bin"
printf '#!/bin/sh\necho "$@"\n' > "$tap_dir/cu13/bin/nvcc"
chmod +x "$tap_dir/cu13/bin/nvcc"
linked() { NVCC=$tap_dir/cu13/bin/nvcc runtime/attnlab-nvcc x.cu | grep -qF -- " -L$(realpath "$tap_dir")/cu13/lib "; }
check "programs are linked with the wheels' libraries" linked
tap_done
