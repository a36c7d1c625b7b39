#!/bin/sh
# Guests as transient domains of libvirt: same result as without, gone afterwards whatever happens.
# Uses the daemon that runs, or starts one.
. "$(dirname "$0")/../lib.sh"
unset TMPDIR # the emulator's user must reach what is made there
hello=$WORKLOADS/hello
uri=qemu:///system
export LIBVIRT_DEFAULT_URI=$uri

for tool in virsh virt-xml-validate; do
    command -v $tool >/dev/null || skip_all "no $tool (package libvirt-clients)"
done

# The XML needs no daemon.
for options in '--accel tcg' '--accel tcg --cpus 2 --cpu qemu64' '--accel tcg --pin 0' \
    '--accel tcg --publish 0:80 --network user'; do
    # shellcheck disable=SC2086
    run_hr run --libvirt --dry-run $options "$hello" </dev/null
    is "XML with $options: status" "$status" 0
    ok "XML with $options: valid" virt-xml-validate out domain
done
like 'XML with a network: its port' out "target type='virtio' name='org.microtome.network'"
if [ -w /dev/kvm ]; then
    run_hr run --libvirt --dry-run --accel kvm --fifo "$hello" </dev/null
    ok 'XML for KVM: valid' virt-xml-validate out domain
    like 'XML for KVM: counters' out "<pmu state='on'/>"
    like 'XML for KVM: the CPU' out "mode='host-passthrough' check='none' migratable='off'"
else
    skip 3 'no /dev/kvm here'
fi
mkdir "a & 'b'"
cp "$BUILD/guest.elf" "a & 'b'/k<>.elf"
run_hr run --libvirt --dry-run --accel tcg --cpu "x<y>&'z'\"" --kernel "a & 'b'/k<>.elf" "$hello" </dev/null
ok 'XML with odd names: valid' virt-xml-validate out domain

LIBVIRT_DEFAULT_URI="qemu+unix:///system?socket=$work/none" run_hr run -q --libvirt --accel tcg "$hello" </dev/null
is 'no daemon: status' "$status" 125
like 'no daemon: message' err '^hr: --libvirt: .*No such file.*systemctl start libvirtd'
is 'no daemon: one line' "$(grep -c . err)" 1

# A daemon that never answers does not make hr deaf.
perl -MIO::Socket::UNIX -e '$| = 1; my $s = IO::Socket::UNIX->new(Local => "silent", Listen => 1) or die;
    print "up\n"; my $c = $s->accept; sysread $c, $_, 1; print "asked\n"; sysread $c, $_, 1 while 1' >silent.log &
silent=$!
# await FILE WORD: waits until a line of a growing file is this word.
await() {
    for _ in $(seq 600); do
        ! grep -qx "$2" "$1" || return 0
        sleep 0.1
    done
    return 1
}
ok 'a silent daemon: up' await silent.log up
LIBVIRT_DEFAULT_URI="qemu+unix:///system?socket=$work/silent" \
    interruptible "$HR" run -q --libvirt --accel tcg -o silent.bin "$hello" </dev/null >/dev/null 2>&1 &
hr=$!
ok 'a silent daemon: asked' await silent.log asked
kill -INT "$hr"
ok 'a silent daemon: SIGINT ends hr' wait_gone "$hr"
status=0
wait "$hr" || status=$?
is 'a silent daemon: status' "$status" 130
kill "$silent"
wait "$silent" 2>/dev/null

# start_daemon NAME COMMAND...: runs it until the test ends.
daemons=
start_daemon() {
    name=$1
    shift
    perl "$ROOT/tests/reap.pl" "$@" >"$name.log" 2>&1 </dev/null &
    daemons="$! $daemons"
}

stop_daemons() {
    for daemon in $daemons; do
        kill "$daemon" 2>/dev/null
        wait "$daemon" 2>/dev/null
    done
    daemons=
}
trap 'stop_daemons; rm -rf "$work"' EXIT

# A /dev/kvm that QEMU may probe and its user may not use makes libvirt probe anew at each start: here it is none.
own_daemon() {
    cat >daemon.sh <<'E2'
echo 'namespaces = []' >qemu.conf
mount --bind qemu.conf /etc/libvirt/qemu.conf
[ ! -e /dev/kvm ] || { (umask 077; : >nokvm); mount --bind nokvm /dev/kvm; }
exec libvirtd
E2
    mkdir -p /run/libvirt
    pgrep -x virtlogd >/dev/null || start_daemon virtlogd virtlogd
    start_daemon libvirtd unshare -m sh daemon.sh
    for _ in $(seq 100); do
        virsh -q list >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    return 1
}

# no_daemon REASON: the rest cannot run.
no_daemon() {
    skip 35 "no libvirt daemon runs, and $1"
    done_testing
}

if ! virsh -q list >/dev/null 2>&1; then
    for tool in libvirtd virtlogd unshare; do
        command -v $tool >/dev/null || no_daemon "there is no $tool (package libvirt-daemon-system)"
    done
    [ "$(id -u)" -eq 0 ] || no_daemon 'only root starts one'
    unshare -m true 2>/dev/null || no_daemon 'name spaces are not allowed here'
    own_daemon || { result 1 'libvirtd starts'; sed 's/^/# /' libvirtd.log; done_testing; }
fi

# domains: those of hr that there are.
domains() {
    virsh -q list --all --name | grep -c '^microtome-'
}
before=$(domains)
directories() {
    find /tmp -maxdepth 1 -name 'microtome-??????' -user "$(id -un)" | wc -l
}
directories_before=$(directories)

# gone NAME: waits until there are no more domains than at first.
gone() {
    for _ in $(seq 100); do
        [ "$(domains)" != "$before" ] || break
        sleep 0.1
    done
    is "$1: the domain is gone" "$(domains)" "$before"
}

# same NAME PROGRAM ARG...: a run with libvirt and one without give the same.
same() {
    name=$1
    shift
    run_hr run -q --accel tcg --libvirt -o domain.bin "$@" <"$work/input"
    is "$name: status" "$status" "$wanted"
    is "$name: the domain is gone at once" "$(domains)" "$before"
    mv out domain.out
    run_hr run -q --accel tcg -o direct.bin "$@" <"$work/input"
    same_file "$name: output" domain.out out
    "$HR" stat --json domain.bin | jq '.events' >domain.json
    "$HR" stat --json direct.bin | jq '.events' >direct.json
    same_file "$name: totals" domain.json direct.json
    "$HR" dump --format csv domain.bin >domain.csv
    "$HR" dump --format csv direct.bin >direct.csv
    same_file "$name: samples" domain.csv direct.csv
    ok "$name: hr check" "$HR" check domain.bin
}

head -c 300000 "$HR" >input
wanted=0
same 'hello' "$hello"
same 'standard streams' /bin/busybox sha256sum
wanted=42
same 'exit status' /bin/busybox sh -c 'exit 42'
is 'nothing is left in /tmp' "$(directories)" "$directories_before"

run_hr run -q --accel tcg --libvirt --timeout 300ms "$WORKLOADS/spin" 100000000000 </dev/null
is 'timeout: status' "$status" 124
gone 'timeout'

# begin OPTION...: a long run in the background; hr's process id in $hr, the emulator's in $qemu, once the guest runs.
begin() {
    : >err # before the run is in the background: an earlier run's line is no sign of this one
    "$HR" run -v --accel tcg --libvirt "$@" "$WORKLOADS/spin" 100000000000 </dev/null >out 2>>err &
    hr=$!
    for _ in $(seq 600); do
        ! grep -q '^guest:' err || break
        sleep 0.1
    done
    qemu=$(pgrep -f "guest=microtome-$hr," | head -n 1)
    [ -n "$qemu" ] || kill "$hr" # nothing else would end it
}

run_hr run -q --accel tcg --libvirt --cpus 1 --pin 0 "$hello" </dev/null
like 'too few CPUs to pin' err "1 host CPU for the guest's 2"
begin --pin 0
is 'pinned: the CPU' "$(for t in /proc/"$qemu"/task/*; do
    grep -q TCG "$t/comm" && sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$t/status"; done)" 0
kill -9 "$hr"
wait "$hr" 2>/dev/null
gone 'hr killed'
ok 'hr killed: the emulator, too' wait_gone "$qemu"

begin
kill -9 "$qemu"
status=0
wait "$hr" || status=$?
is 'emulator killed: status' "$status" 125
like 'emulator killed: message' err "log /var/log/libvirt/qemu/microtome-$hr.log says why"
gone 'emulator killed'

if [ -e "$BUILD/guest-test.elf" ]; then
    run_hr run -q --accel tcg --libvirt --kernel "$BUILD/guest-test.elf" --panic-test start-null "$hello" </dev/null
    is 'kernel panic: status' "$status" 125
    like 'kernel panic: message' err 'the guest kernel panicked'
    gone 'kernel panic'
else
    skip 3 'no guest-test.elf was built'
fi

run_hr run -q --accel tcg --libvirt --cpu no-such-cpu "$hello" </dev/null
is 'a domain that does not start: status' "$status" 125
like 'a domain that does not start: message' err '--libvirt: the domain does not start: .*no-such-cpu'
gone 'a domain that does not start'
is 'nothing is left in /tmp after all' "$(directories)" "$directories_before"
stop_daemons
done_testing
