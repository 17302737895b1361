#!/bin/bash
# `make setup` on whole systems, each made by debootstrap below $SYSTEMS_TMP (/tmp) and removed again: Debian 12 and 13, by
# root, by a user with sudo and by one without, with a home that cannot be written, without gnuplot, without Python's venv,
# without a network, in a path with blanks and in one of 200 characters. Then a stage runs there on the emulator. Prints a
# table of what the revision that is checked out does; what is not committed is not in it.
# Only with SYSTEMS="bookworm trixie"; needs root, debootstrap, a network, 6 GB of disk and some minutes a system.
. tests/tap.sh
if [ -z "${SYSTEMS-}" ] || [ "$(id -u)" -ne 0 ] || ! command -v debootstrap > /dev/null; then
    skip "systems" "only with SYSTEMS=\"bookworm trixie\", root and debootstrap"
    tap_done
fi
work=$(mktemp -d "${SYSTEMS_TMP:-/tmp}/systems.XXXXXX")
end() { # what runs in a system outlives a signal otherwise: it is the first process of its own
    local each
    for each in /proc/[0-9]*; do [[ $(readlink "$each/root") != "$work"/* ]] || kill -9 "${each#/proc/}"; done 2> /dev/null
    sleep 0.2
    rm -rf "$work" "$tap_dir"
}
trap end EXIT
trap 'exit 143' TERM
revision=$(git rev-parse --short HEAD) # of all rows
mirror=${MIRROR:-http://deb.debian.org/debian}

inside() { # USER COMMAND...: in the system, with its own mounts, which end with it; with no_network=--net, without a network
    local user=$1
    shift
    unshare $no_network --mount --pid --fork --kill-child bash -c '
        root=$1 user=$2
        shift 2
        mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount --bind /etc/ssl/certs "$root/etc/ssl/certs" || exit
        if [ -e "$root/home/ro" ]; then
            mount --bind "$root/home/ro" "$root/home/ro" && mount -o remount,bind,ro "$root/home/ro" || exit
        fi
        exec chroot --userspec="$user" "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME="/home/$user" LANG=C.UTF-8 \
            ${PIP_CERT:+PIP_CERT="$PIP_CERT"} "$@"' - "$root" "$user" "$@"
}
tree() { # FOLDER OWNER: a checkout
    mkdir -p "$root/$1"
    git archive "$revision" | tar -x -C "$root/$1"
    chown -R --reference="$root/home/$2" "$root/$1"
}
no_network=
offline() { local no_network=--net; "$@"; }
row() { # WHAT STATUS PATTERN COMMAND...: a line of the table
    local what=$1 wanted=$2 pattern=$3 start=$SECONDS
    shift 3
    "$@" > "$tap_dir/out" 2>&1
    local got=$? passed=0
    [ $got -eq "$wanted" ] && grep -qe "$pattern" "$tap_dir/out" && passed=1
    tail -n 15 "$tap_dir/out" > "$tap_dir/tail"
    tap_result "$suite: $what" $passed "$tap_dir/tail"
    rows+=("$(printf '%-12s %-66s %-6s %4d s' "$system" "$what" "$([ $passed -eq 1 ] && echo works || echo FAILS)" $((SECONDS - start)))")
}
setup() { inside "$1" bash -c 'cd "$1" && make setup' - "$2"; }
# A stage of a system is compiled once; elsewhere it is only linked.
built() { # FOLDER OWNER
    cp -a "$root/srv/root/build" "$root/$1"
    find "$root/$1" -path "$root/$1/build" -prune -o -type f -exec touch -d 2020-01-01 {} +
    chown -R --reference="$root/home/$2" "$root/$1/build"
}
stage() { inside "$1" bash -c 'cd "$1" && make -j2 stage-1 run DEVICE=emu ARGS="--seqlen 64 --heads 1"' - "$2"; }

rows=()
for suite in $SYSTEMS; do
    root=$work/$suite
    if ! debootstrap --variant=minbase --include=make,sudo,ca-certificates "$suite" "$root" "$mirror" > "$work/said" 2>&1; then
        check "$suite is made" tail -n 3 "$work/said"
        continue
    fi
    system="Debian $(cat "$root/etc/debian_version")"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    for user in admin plain ro; do inside root useradd -m "$user"; done
    mkdir -p "$root/home/root"
    echo "admin ALL=(ALL) NOPASSWD: ALL" > "$root/etc/sudoers.d/admin"
    long=/srv/$(printf 'x%.0s' {1..90})/$(printf 'y%.0s' {1..90})/attnlab-in-200-
    tree /srv/root root
    tree "/srv/a path with/some blanks" ro
    tree "$long" admin
    tree /srv/plain plain

    row "a user whom sudo does not let: what is missing, in one line" 2 "sudo does not let you; have these installed: gcc g++ .*libjansson-dev" setup plain /srv/plain
    row "root, no network: packages cannot be had, in one line" 2 "^setup: apt-get could not install gcc g++ .*: Failed to fetch .*; is there a network?" offline setup root /srv/root
    row "root: packages, .venv and nvcc" 0 "setup: all is there" setup root /srv/root
    row "root: stage 1 runs" 0 "RIGHT" stage root /srv/root
    row "a second time there is nothing to do, and no network is needed" 0 "^setup: all is there" offline setup root /srv/root
    row "a user without sudo, no network: wheels cannot be had, in one line" 2 "^setup: pip could not install .*: .*Temporary failure in name resolution; it needs a network" offline setup plain /srv/plain
    inside root bash -c 'ln -s /srv/root/.venv/lib/python3*/site-packages/nvidia/cu13 /usr/local/cuda' # the others have an nvcc
    chmod -R a+rX "$root/srv/root"
    inside root apt-get -qq purge -y gnuplot-nox gnuplot-data > /dev/null 2>&1
    row "a user without sudo, no gnuplot" 2 "have these installed: gnuplot-nox$" setup plain /srv/plain
    row "a user with sudo, no gnuplot, a path of ${#long} characters" 0 "setup: all is there" setup admin "$long"
    built "$long" admin
    row "stage 1 runs in that path" 0 "RIGHT" stage admin "$long"
    row "a user without sudo, home read-only, a path with blanks" 0 "setup: all is there" setup ro "/srv/a path with/some blanks"
    built "/srv/a path with/some blanks" ro
    row "stage 1 runs in that path, too" 0 "RIGHT" stage ro "/srv/a path with/some blanks"
    inside root bash -c 'apt-get -qq purge -y "python3*-venv"' > /dev/null 2>&1
    row "a user without sudo, no venv module" 2 "have these installed: python3-venv$" setup plain /srv/plain
    rm -rf "$root"
done
echo "#| revision $revision, $(date +%F), $(nproc) cores of$(sed -n 's/^model name.*://p' /proc/cpuinfo | head -n 1)"
printf '#| %-12s %-66s %-6s %6s\n' system situation result time
printf '#| %s\n' "${rows[@]}"
tap_done
