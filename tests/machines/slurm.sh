# A cluster on loopback for tests of Slurm: munged, slurmctld and two slurmd (n1, n2: a core, 4000 MB and a GPU that is none
# each), all below $1. `cluster FOLDER` starts it, cluster_end ends it; node_kill n2 and node_start n2 act on one node.
# Needs root and Debian's slurm-wlm (its slurmd may run several times on one machine) and munge.
cluster_can() { [ "$(id -u)" -eq 0 ] && command -v slurmctld slurmd munged sbatch > /dev/null && slurmd -C -N n1 > /dev/null 2>&1; }

cluster() {
    local at=$1 port=$((20000 + RANDOM % 10000)) i
    cluster_at=$at
    mkdir -p "$at/state"
    chmod 755 "$at"
    (umask 077; head -c 128 /dev/urandom > "$at/key")
    munged --force --socket="$at/munge.sock" --key-file="$at/key" --pid-file="$at/munged.pid" --seed-file="$at/seed" --log-file="$at/munged.log" || return
    cat > "$at/slurm.conf" << END
ClusterName=loopback
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$at/munge.sock
CredType=cred/munge
StateSaveLocation=$at/state
SlurmdSpoolDir=$at/spool-%n
SlurmctldPidFile=$at/slurmctld.pid
SlurmdPidFile=$at/%n.pid
SlurmctldLogFile=$at/slurmctld.log
SlurmdLogFile=$at/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdTimeout=10
KillWait=2
MinJobAge=2
ReturnToService=2
GresTypes=gpu
NodeName=n[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 2))] CPUs=1 RealMemory=4000 Gres=gpu:1
PartitionName=main Nodes=n[1-2] Default=YES MaxTime=60 State=UP
END
    printf 'NodeName=n1 Name=gpu File=/dev/null\nNodeName=n2 Name=gpu File=/dev/null\n' > "$at/gres.conf"
    export SLURM_CONF=$at/slurm.conf
    slurmctld -i || return
    node_start n1 && node_start n2 || return
    for ((i = 0; i < 100; i++)); do
        [ "$(sinfo -h -N -o %T 2> /dev/null | sort -u)" = idle ] && return
        sleep 0.2
    done
    tail -n 3 "$at"/*.log
    return 1
}
node_start() { slurmd -N "$1"; }
node_processes() { # those of the node's jobs, and what started them
    python3 - "$1" "$SLURM_CONF" << 'END'
import pathlib, sys
found = set()
for each in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        said = (each / "environ").read_bytes().split(b"\0")
        if all(f"{name}={value}".encode() in said for name, value in zip(("SLURMD_NODENAME", "SLURM_CONF"), sys.argv[1:])):
            found |= {int(each.name), int((each / "stat").read_text().rsplit(")", 1)[1].split()[1])}
    except OSError:
        pass
print(*sorted(found - {1}), sep="\n", end="")
END
}
node_kill() { # as if its power failed
    local each
    kill -9 "$(cat "$cluster_at/$1.pid")"
    for each in $(node_processes "$1"); do
        case $(cat "/proc/$each/comm" 2> /dev/null) in
        slurmd | "") ;;
        *) kill -9 "$each" ;;
        esac
    done 2> /dev/null
    true
}
cluster_end() {
    local each
    scancel -u "$(id -un)" 2> /dev/null
    for each in n1 n2 slurmctld munged; do kill "$(cat "$cluster_at/$each.pid")"; done 2> /dev/null
    sleep 1
    for each in n1 n2 slurmctld munged; do kill -9 "$(cat "$cluster_at/$each.pid")"; done 2> /dev/null
    true
}
