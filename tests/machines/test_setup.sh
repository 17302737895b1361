# What setup.sh says on machines that lack something: each is a folder of commands, in an order that nothing is installed.
. tests/tap.sh

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
check "on Fedora by dnf" asked redhat '^sudo dnf install -q -y gcc gcc-c\+\+ .* jansson-devel$'
tap_done
