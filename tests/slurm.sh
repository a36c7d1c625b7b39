#!/bin/sh
# A cluster of Slurm on this machine, for tests: slurm_start NODES DIR starts it, slurm_stop ends it.  Debian's packages
# slurmctld, slurmd, slurm-client and munge.  Its state is in DIR; nothing of it needs a service of the system.

slurm_is_here() {
    command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v sbatch >/dev/null && command -v munged >/dev/null
}

slurm_start() {
    slurm=$2
    slurm_port=$((20000 + $$ % 20000))
    export SLURM_CONF="$slurm/slurm.conf"
    mkdir -p "$slurm/state"
    cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=localhost
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.socket
SlurmctldPort=$slurm_port
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/%n.pid
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool-%n
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SlurmdTimeout=10
KillWait=1
NodeName=n[1-$1] NodeHostname=localhost Port=[$((slurm_port + 1))-$((slurm_port + $1))] CPUs=1
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    dd if=/dev/urandom of="$slurm/munge.key" bs=1024 count=1 2>/dev/null
    chmod 600 "$slurm/munge.key"
    munged --force --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" --pid-file="$slurm/munged.pid" \
        --log-file="$slurm/munged.log" --seed-file="$slurm/munged.seed" 2>"$slurm/start.log" || return 1
    slurmctld 2>>"$slurm/start.log" || return 1
    for slurm_node in $(seq "$1"); do
        mkdir "$slurm/spool-n$slurm_node"
        slurmd -N "n$slurm_node" 2>>"$slurm/start.log" || return 1
    done
    for _ in $(seq 150); do
        [ "$(sinfo -h -N -t idle 2>/dev/null | wc -l)" -ne "$1" ] || return 0
        sleep 0.1
    done
    return 1
}

slurm_stop() {
    scancel --user="$(id -un)" 2>/dev/null
    for slurm_pid in "$slurm"/*.pid; do
        [ ! -e "$slurm_pid" ] || kill "$(cat "$slurm_pid")" 2>/dev/null
    done
    for _ in $(seq 50); do
        ls "$slurm"/*.pid >/dev/null 2>&1 || break
        sleep 0.1
    done
}
