# Functions for what runs inside kvm-host, in busybox's shell.  HR and WORKLOADS are set before.
# shellcheck shell=sh

# run_once NAME ARG...: `hr run` under KVM; everything about it goes to /out/NAME.*.  Stdin: the file $input.  $took: hundredths
# of a second.
run_once() {
    name=$1
    shift
    status=0
    read -r began _ </proc/uptime
    timeout -k 10 "${LIMIT:-90}" "$HR" run --accel "${accel:-kvm}" -o "/out/$name.bin" "$@" \
        >"/out/$name.out" 2>"/out/$name.err" <"${input:-/dev/null}" || status=$?
    read -r now _ </proc/uptime
    took=$((${now%.*} * 100 + 1${now#*.} - ${began%.*} * 100 - 1${began#*.}))
    echo "$now $name: $status"
}

# run NAME ARG...: run_once.  One that stands still until its limit is done once more, and both lines say so: see stop.
run() {
    run_once "$@"
    if [ "$status" -eq 143 ]; then # SIGTERM, by its limit
        sed 's/^/hr: /' "/out/$name.err"
        run_once "$@"
    fi
    echo "$status" >"/out/$name.status"
}

mkdir -p /w
cd /w || exit 1
# shellcheck disable=SC3045 # of busybox
ulimit -s 512 # of the emulator's threads, too: their stacks are locked and filled

# without_vpmu: loads KVM again, without a vPMU for its guests.
without_vpmu() {
    rmmod kvm_amd && rmmod kvm && insmod /lib/modules/kvm.ko enable_pmu=0 && insmod /lib/modules/kvm-amd.ko
}

# trace_begin: traces exits from the first one in a program's code on.
trace_begin() {
    tracing=/sys/kernel/tracing
    echo 0 >$tracing/tracing_on
    echo >$tracing/trace
    for event in kvm_exit kvm_msr kvm_inj_virq; do
        echo 1 >$tracing/events/kvm/$event/enable
    done
    echo 16384 >$tracing/buffer_size_kb
    start='traceon if guest_rip >= 0x400000 && guest_rip < 0x480000 && vcpu_id == 1'
    grep -q traceon: $tracing/events/kvm/kvm_exit/trigger || echo "$start" >$tracing/events/kvm/kvm_exit/trigger
}

# trace_end NAME: the trace goes to /out/NAME.exits.
trace_end() {
    echo 0 >$tracing/tracing_on
    cp $tracing/trace "/out/$1.exits"
}

# lives PID: it is there, and does not just wait to be asked for its status.  Its name has no space.  A program, such as cut,
# takes 10 ms to start in there.
lives() {
    { read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null && [ "$state" != Z ]
}

# ended PID: waits up to 60 s until a child does not live.
ended() {
    for _ in $(seq 300); do
        lives "$1" || return 0
        usleep 200000
    done
    return 1
}

# emulators: how many live.
emulators() {
    count=0
    for process in $(pidof qemu-system-x86_64); do
        ! lives "$process" || count=$((count + 1))
    done
    echo $count
}

# stop_once: the run of stop; sets status and left.
stop_once() {
    rm -f "/out/stop-$number.bin"
    "$HR" run -q --accel kvm --mem 32M -o "/out/stop-$number.bin" "$@" "$WORKLOADS/crash-musl" loop \
        >/dev/null 2>"/out/stop-$number.err" </dev/null &
    pid=$!
    for _ in $(seq 240); do
        [ "$from" = start ] && [ "$(emulators)" -eq 0 ] && [ -e "/proc/$pid" ] || break
        usleep 50000
    done
    for _ in $(seq 400); do
        [ "$from" = trace ] && [ ! -s "/out/stop-$number.bin" ] && [ -e "/proc/$pid" ] || break
        usleep 150000
    done
    [ "$kind" = timeout ] || usleep $((after * 1000))
    case $kind in
    hr) kill -9 $pid ;;
    int) kill -2 $pid ;;
    emulator) kill -9 "$(pidof qemu-system-x86_64 | cut -d ' ' -f 1)" ;;
    esac
    ended $pid || { echo "stop $number: hr hangs"; kill -9 $pid; }
    status=0
    wait $pid || status=$?
    for _ in $(seq 100); do
        left=$(emulators)
        [ "$left" -ne 0 ] || break
        usleep 100000
    done
    echo "stop $number: $kind after $after ms from $from: status $status, emulators left: $left"
    # shellcheck disable=SC2046
    [ "$left" -eq 0 ] || kill -9 $(pidof qemu-system-x86_64)
}

# stop NUMBER KIND FROM MILLISECONDS WANTED OPTION...: an endless run that ends that long after its emulator's start, or
# after the trace's first bytes (FROM: start, trace): by SIGKILL or SIGINT to hr, by SIGKILL to the emulator, or by
# --timeout.  A run that never came to its trace, or ended with another status than WANTED, is done once more: the
# emulated machine loses an interrupt in one of some seventy runs.  Only what repeats is a fault of ours.
stop() {
    number=$1 kind=$2 from=$3 after=$4 wanted=$5
    shift 5
    [ "$kind" != timeout ] || set -- --timeout "${after}ms" "$@"
    stop_once "$@"
    if [ "$left" -eq 0 ] && { [ "$status" -ne "$wanted" ] ||
        { [ "$from" = trace ] && [ ! -s "/out/stop-$number.bin" ]; }; }; then
        sed 's/^/hr: /' "/out/stop-$number.err"
        stop_once "$@"
    fi
    echo "$number $kind $from $after $wanted $status $left" >>/out/stops
}

# start_libvirt: its daemon, with what Debian's package prepares.
start_libvirt() {
    mkdir -p /etc/libvirt /var/log/libvirt/qemu /var/lib/libvirt/qemu /var/cache/libvirt/qemu /run/libvirt
    ln -s /run /var/run
    echo 'libvirt-qemu:x:64055:107::/var/lib/libvirt:/usr/sbin/nologin' >>/etc/passwd
    printf 'kvm:x:107:\nlibvirt-qemu:x:64055:libvirt-qemu\n' >>/etc/group
    printf 'passwd: files\ngroup: files\n' >/etc/nsswitch.conf
    echo 'namespaces = []' >/etc/libvirt/qemu.conf
    chown root:107 /dev/kvm
    chmod 660 /dev/kvm
    virtlogd -d
    libvirtd -d
    for _ in $(seq 100); do
        virsh -q list >/dev/null 2>&1 && return
        usleep 200000
    done
    echo 'libvirtd does not answer'
}

# pinned_domain: a domain with its CPUs pinned; where they may run goes to /out/pinned; then hr is killed.
pinned_domain() {
    "$HR" run -v --libvirt --pin 0,1 --accel kvm --mem 32M -i 5ms -o /out/pinned.bin "$WORKLOADS/crash-musl" loop \
        >/dev/null 2>/out/pinned.err </dev/null &
    pid=$!
    for _ in $(seq 600); do
        if grep -q '^guest:' /out/pinned.err || [ ! -e "/proc/$pid" ]; then break; fi
        usleep 100000
    done
    for status in /proc/"$(pidof qemu-system-x86_64)"/task/*/status; do
        grep -q 'CPU [0-9]*/KVM' "$status" && sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$status"
    done | sort >/out/pinned
    kill -9 $pid
    for _ in $(seq 100); do
        [ "$(emulators)" -ne 0 ] || [ -n "$(virsh -q list --all)" ] || break
        usleep 200000
    done
}
