#!/bin/sh
# How a guest is launched: the accelerator, pinning, memory, and what is said when it cannot be.
. "$(dirname "$0")/../lib.sh"
fake=$TOOLS/fakeguest
hello=$WORKLOADS/hello
spin=$WORKLOADS/spin

# refused NAME REGEX OPTION...: status 125, one line on stderr that matches, nothing was started.
refused() {
    name=$1
    words=$2
    shift 2
    rm -f hr.bin
    run_hr run -q "$@" "$hello" </dev/null
    is "$name: status" "$status" 125
    like "$name: message" err "$words"
    is "$name: one line" "$(grep -c . err)" 1
    ok "$name: no trace" test ! -e hr.bin
}

# The CPUs that a process here may use, one a line.
cpus() {
    perl -ne 'if (/^Cpus_allowed_list:\s*(.*)/) { for (split /,/, $1) { my ($a, $b) = split /-/;
        print "$_\n" for $a .. $b // $a } }' /proc/self/status
}
cpu_count=$(cpus | wc -l)
first=$(cpus | head -n 1)
second=$(cpus | sed -n 2p)

# places PID: each thread of a process and where it may run, as "name:list" in lines.
places() {
    for task in /proc/"$1"/task/*; do
        echo "$(cat "$task/comm"):$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$task/status")"
    done
}

# begin_spin OPTION...: a long run in the background; hr's process id in $hr, the emulator's in $qemu, once the
# program runs.
begin_spin() {
    mkfifo lines 2>/dev/null
    "$HR" run -v --accel tcg "$@" -o spin.bin "$spin" 100000000000 </dev/null >spin.out 2>lines &
    hr=$!
    # The kernel's log comes after the guest was let go.
    while read -r line; do case $line in guest:*) break ;; esac; done <lines
    qemu=$(emulator_of "$hr")
}

end_spin() {
    kill -9 "$hr"
    wait "$hr" 2>/dev/null
    ok "$1: the emulator ends with hr" wait_gone "$qemu"
}

# hr tunes the emulator's C library, unless the user does.
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "$GLIBC_TUNABLES" >tunables\nexit 1\n' >emulator
chmod +x emulator
(unset GLIBC_TUNABLES && run_hr run --accel tcg --qemu ./emulator "$spin")
like 'the emulator allocates in huge pages' tunables '^glibc\.malloc\.hugetlb=1:'
GLIBC_TUNABLES=glibc.malloc.arena_max=4 run_hr run --accel tcg --qemu ./emulator "$spin"
is "the user's own tunables stay" "$(cat tunables)" glibc.malloc.arena_max=4

refused 'a CPU that is not there' 'no CPU 1023; choose from' --accel tcg --pin 1023
refused 'a CPU number too large' 'end at 1023' --accel tcg --pin 5000
refused 'no list' '2-5,8' --accel tcg --pin 1-x
refused 'an empty list' '2-5,8' --accel tcg --pin ''
refused 'a CPU named twice' 'named twice' --accel tcg --pin "$first,$first"
refused 'too few CPUs' "1 host CPU for the guest's 3" --accel tcg --cpus 2 --pin "$first"

refused 'overflow without counters' 'the emulator has none; use --mode timer' --accel tcg -c 1000
refused 'overflow on an interval' 'with --mode overflow leave it out' --accel tcg -i 1us -m overflow
refused 'calls on an interval' 'with --mode instructed leave it out' --accel tcg -i 1us -m instructed
refused 'nothing that could be paused' '--mode off has no trigger' --accel tcg --paused -m off
refused 'calls that could be paused' '--mode instructed has no trigger' --accel tcg --paused -m instructed
refused 'a period with a sign' '--count \+5: not a number' --accel tcg -c +5

offline=$(grep -l 0 /sys/devices/system/cpu/cpu[0-9]*/online 2>/dev/null | sed -n '1s/.*cpu\([0-9]*\).online/\1/p')
if [ -n "$offline" ]; then
    refused 'a CPU that is offline' "CPU $offline is offline; switch it on" --accel tcg --pin "$offline"
else
    skip 4 'no CPU of this machine is offline; unit tests cover it'
fi

begin_spin --pin "$first"
is 'shared mode: the CPU is pinned' "$(places "$qemu" | grep -c "TCG:$first\$")" 1
if [ "$cpu_count" -gt 1 ]; then
    is 'shared mode: the other threads are elsewhere' \
        "$(places "$qemu" | grep -v TCG | grep -cE ":(.*[,-])?$first([,-].*)?\$")" 0
else
    skip 1 'this machine has one CPU'
fi
end_spin 'shared mode'

if [ "$cpu_count" -gt 1 ]; then
    begin_spin --cpus 1 --pin "$second,$first"
    is 'two CPUs: the service CPU' "$(places "$qemu" | grep -c "CPU 0/TCG:$second\$")" 1
    is 'two CPUs: the workload CPU' "$(places "$qemu" | grep -c "CPU 1/TCG:$first\$")" 1
    end_spin 'two CPUs'
else
    skip 3 'this machine has one CPU'
fi

# Pinned or not, the same samples.
run_hr run -q --accel tcg -o free.bin "$hello" </dev/null
run_hr run -q --accel tcg --pin "$first" -o pinned.bin "$hello" </dev/null
is 'pinned: status' "$status" 0
"$HR" dump --format csv free.bin >free.csv
"$HR" dump --format csv pinned.bin >pinned.csv
same_file 'pinned: the same samples' free.csv pinned.csv
is 'pinned: -q is quiet' "$(grep -c '^hr:' err)" 0

if [ -z "$(tr -d '\n' </sys/devices/system/cpu/isolated 2>/dev/null)" ]; then
    run_hr run --accel tcg --pin "$first" "$hello" </dev/null
    like 'a CPU that others use: a warning' err "^hr: --pin: CPU $first is not isolated.*isolcpus=$first"
    is 'a CPU that others use: no error' "$status" 0
else
    skip 2 'this machine has isolated CPUs; unit tests cover it'
fi

# With a limit of 0 even root may not, without the privilege.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    status=0
    prlimit --rtprio=0 setpriv --bounding-set -sys_nice --inh-caps -sys_nice \
        "$HR" run -q --accel tcg --fifo "$hello" >out 2>err </dev/null || status=$?
    is 'no leave for --fifo: status' "$status" 125
    like 'no leave for --fifo: message' err 'SCHED_FIFO: Operation not permitted; allow it with .ulimit -r 1'
elif ! chrt -f 1 true 2>/dev/null; then
    run_hr run -q --accel tcg --fifo "$hello" </dev/null
    is 'no leave for --fifo: status' "$status" 125
    like 'no leave for --fifo: message' err 'SCHED_FIFO: Operation not permitted; allow it with .ulimit -r 1'
else
    skip 2 'everybody may use SCHED_FIFO here'
fi
if chrt -f 1 true 2>/dev/null; then
    begin_spin --fifo
    is '--fifo: the policy of the CPU' "$(for t in /proc/"$qemu"/task/*; do
        grep -q TCG "$t/comm" && chrt -p "${t##*/}" | grep -c SCHED_FIFO; done)" 1
    end_spin '--fifo'
else
    skip 2 'no leave for SCHED_FIFO'
fi

# Emulators that are none, with a guest that waits for its placing.
printf '#!/bin/sh\nexec >&2; echo broken; exit 3\n' >dies
printf '#!/bin/bash\nprintf "rubbish\\n" >&111; exec sleep 100\n' >babbles
printf '#!/bin/bash\nexec 111>&-; exec sleep 100\n' >hangs_up
chmod +x dies babbles hangs_up
run_hr run -q --accel tcg --qemu ./dies --pin "$first" "$hello" </dev/null
is 'an emulator that dies: status' "$status" 125
like 'an emulator that dies: its end is told' err 'ended with status 3'
like 'an emulator that dies: its words' err '^broken$'
run_hr run -q --accel tcg --qemu ./babbles --pin "$first" "$hello" </dev/null
is 'an emulator that babbles: status' "$status" 125
like 'an emulator that babbles: message' err 'control socket .QMP.*not JSON'
is 'an emulator that babbles: one line' "$(grep -c . err)" 1
run_hr run -q --accel tcg --qemu ./hangs_up --pin "$first" "$hello" </dev/null
is 'an emulator that hangs up: status' "$status" 125
like 'an emulator that hangs up: message' err 'closed its control socket'
FAKEGUEST=normal run_hr run -q --accel tcg --qemu "$fake" --pin "$first" "$hello" </dev/null
is 'an emulator without QMP that ran to its end: status' "$status" 0

# The choice of the accelerator.
run_hr run -v --dry-run "$hello" </dev/null
like 'auto says why' err '^hr: (KVM|emulation), because: '
if grep -q '^hr: emulation' err; then
    like 'auto: the emulator' out '-accel tcg '
else
    like 'auto: KVM with its counters' err 'has a vPMU'
fi
run_hr run --dry-run --accel tcg "$hello" </dev/null
is 'emulation: no control socket without need' "$(grep -c 'qmp' out)" 0
run_hr run --dry-run --accel tcg --pin "$first" "$hello" </dev/null
like 'pinned: started paused' out 'mode=control -S$'

# as_nobody COMMAND...: runs a command as a user who may not use /dev/kvm.
as_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

if [ "$(id -u)" -eq 0 ] && [ -e /dev/kvm ] && ! as_nobody test -w /dev/kvm; then
    mkdir open && chmod 755 open . && cp "$HR" "$BUILD/guest.elf" "$hello" open/ && chmod 755 open/*
    status=0
    (cd open && as_nobody ./hr run -q -o /dev/null --accel kvm ./hello) >out 2>err </dev/null || status=$?
    is 'no permission for KVM: status' "$status" 125
    like 'no permission for KVM: message' err '/dev/kvm: Permission denied; join the group kvm, or use --accel tcg'
    (cd open && as_nobody ./hr run -v --dry-run ./hello) >out 2>err </dev/null
    like 'no permission for KVM: auto emulates and says why' err 'emulation, because: no permission for /dev/kvm'
else
    skip 3 'not root, no /dev/kvm, or everybody may use it'
fi

if [ -w /dev/kvm ]; then
    run_hr run -v --dry-run --accel kvm "$hello" </dev/null
    is 'KVM: status' "$status" 0
    like 'KVM: the CPU with its counters' out '-cpu host,migratable=off,pmu=on'
    like 'KVM: what backs the memory' err '^hr: memory: (reserved|transparent) huge pages'
    like 'KVM: whether it is locked' err '^hr: memory: (not|to be) locked'
    is 'KVM: locked as it says' "$(grep -c mem-lock=on out)" "$(grep -c '^hr: memory: to be locked' err)"
    is 'KVM: filled as it says' "$(grep -c prealloc=on out)" "$((1 - $(grep -c '^hr: memory: not filled' err)))"
    is 'KVM: one -overcommit at most' "$(grep -o -e '-overcommit' out | sed 1d | wc -l)" 0
    off=$(grep -l '^[N0]' /sys/module/kvm*/parameters/enable_pmu /sys/module/kvm_*/parameters/pmu 2>/dev/null | head -n 1)
    if [ -n "$off" ]; then
        like 'KVM without vPMU: a warning' err "KVM has no vPMU: parameter ${off##*/} of module kvm"
        refused 'KVM without vPMU and --require-pmu' "--require-pmu: KVM has no vPMU: parameter ${off##*/} of" \
            --accel kvm --require-pmu
        refused 'KVM without vPMU and a CPU event' 'KVM without a vPMU has no performance counters' \
            --accel kvm -e r81d0
    else
        skip 9 'no parameter switches the vPMU off here; unit tests cover it'
    fi
else
    skip 16 'no /dev/kvm here'
fi

# The kernel is named in the manifest.
cat >show <<'E2'
#!/bin/sh
tr '\0' '\n' </proc/self/fd/100 | grep -a '^kernel-path=' >&2
exit 1
E2
chmod +x show
run_hr run -q --accel tcg --qemu ./show "$hello" </dev/null
like 'the kernel in the manifest' err "^kernel-path=$(realpath "$BUILD/guest.elf")\$"
done_testing
