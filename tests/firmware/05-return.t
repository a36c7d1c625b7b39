#!/bin/sh
# The kernel gives the machine back to the firmware as it was: CPU state, timers, other CPUs, files, reset.
# An application of the tests' own calls it (return_app.c), on OVMF.  QEMU: an emulator with a modelled PMU.
. "$(dirname "$0")/../lib.sh"

ovmf=${OVMF:-$TOOLS/OVMF.fd}
reference=${QEMU:-}
emulator=qemu-system-x86_64
app=$TOOLS/return_app.efi
limit=${HR_TEST_BOOT_LIMIT:-300} # seconds for one boot
for tool in qemu-system-x86_64 mformat mmd mcopy; do
    command -v $tool >/dev/null || skip_all "$tool is not installed"
done
[ -f "$ovmf" ] || skip_all "no OVMF firmware at $ovmf (package ovmf, then make test-tools)"

# archive NAME PROGRAM [ARG...] with pack's options in $options: NAME.cpio.
archive() {
    name=$1
    shift
    # shellcheck disable=SC2086
    "$HR" pack -o "$name.cpio" --accel tcg $options "$@" >pack.log 2>&1 || sed 's/^/# /' pack.log
}

# boot NAME KERNEL 'ARCHIVE...' [QEMU OPTION...]: what the application found is in the file results.
boot() {
    what=$1 kernel=$2 archives=$3
    shift 3
    rm -f image written
    truncate -s 64M image
    mformat -i image -F ::
    mmd -i image ::/EFI ::/EFI/BOOT
    mcopy -i image "$app" ::/EFI/BOOT/BOOTX64.EFI
    mcopy -i image "$kernel" ::/guest.elf
    [ -z "${reset:-}" ] || mcopy -i image nothing.cpio ::/reset
    count=0
    for one in $archives; do
        count=$((count + 1))
        mcopy -i image "$one.cpio" "::/run$count.cpio"
    done
    status=0
    GLIBC_TUNABLES=$emulators_tunables timeout -k 10 "$limit" "$emulator" -machine q35 -accel tcg -m 320 -bios "$ovmf" -display none \
        -serial file:serial -nic none -no-reboot -device qemu-xhci \
        -drive if=none,id=stick,format=raw,file=image -device usb-storage,drive=stick \
        "$@" >qemu.log 2>&1 </dev/null || status=$?
    is "$what: the machine was switched off" "$status" 0
    mcopy -n -i image ::/results.txt written 2>mcopy.log || : >written
    tr -d '\r' <written >results
    like "$what: every run came back" results '^all done'
    is "$what: nothing is different" "$(grep -a FAILED results)" ''
}

# ends NAME RUN END EXIT-KIND: how a run ended.
ends() {
    like "$1" results "^run $2: end $3, $3, exit kind $4,"
}

echo >nothing.cpio
: >empty.cpio
options='--cpus 0' archive one "$WORKLOADS/hello"
options='--cpus 0' archive sync "$WORKLOADS/threads" sync 3 50
options='--cpus 1' archive two "$WORKLOADS/hello"
options='--cpus 3' archive four "$WORKLOADS/threads" sync 3 50
options='--cpus 3 --mode ipi' archive observed "$WORKLOADS/hello"
options='--cpus 2' archive spins "$WORKLOADS/threads" exit 2
for how in panic null stack; do
    options="--cpus 0 --panic-test start-$how" archive "$how-0" "$WORKLOADS/hello"
    options="--cpus 2 --panic-test start-$how" archive "$how-2" "$WORKLOADS/hello"
done

options='--cpus 2 --timeout 300ms --panic-test end-hang' archive hang-2 "$WORKLOADS/spin" 100000000000 loop

boot 'one CPU' "$BUILD/guest.elf" 'one sync empty nothing one' -cpu max
ends 'one CPU: a kernel without memory gives up at once' 3 2 0
ends 'one CPU: a kernel in another place than the loader says does not start' 4 2 0
like 'one CPU: and says so' results '^run 4: report: the kernel is not where boot_info says'
for run in 1 2 5; do
    ends "one CPU: run $run is done" $run 1 1
    is "one CPU: what was looked at after run $run" "$(grep -c "^run $run: .*: ok" results)" 9
done

reset=1
boot 'two CPUs' "$BUILD/guest.elf" 'two one two' -cpu max -smp 2
reset=
for run in 1 2 3; do
    ends "two CPUs: run $run is done" $run 1 1
done
is 'two CPUs: both answer the firmware' "$(grep -c 'the other CPUs answer: ok' results)" 4

boot 'four CPUs' "$BUILD/guest.elf" 'four observed spins one' -cpu Icelake-Server -smp 4
for run in 1 2 4; do
    ends "four CPUs: run $run is done" $run 1 1
done
like 'four CPUs: a program that exits while others compute' results '^run 3: end 1, 1, exit kind 1, code 7,'
like 'four CPUs: the firmware has all of them' results '^run 4: 4 CPUs'

boot 'panics' "$BUILD/guest-test.elf" 'panic-0 null-0 stack-0 panic-2 null-2 stack-2 two' -cpu max -smp 4
for run in 1 2 3 4 5 6; do
    ends "panics: run $run says so" $run 2 0
done
is 'panics: six reports' "$(grep -c '^run .: report: panic: ' results)" 6
ends 'panics: the run after them is done' 7 1 1

# The kernel waits ten seconds for a CPU that hangs: of a clock that is 256 times as fast as the work.
boot 'a hang' "$BUILD/guest-test.elf" 'hang-2 two' -cpu max -smp 4 -icount shift=8,sleep=off
ends 'a hang: the CPU is left behind' 1 3 3
ends 'a hang: the run after it is done' 2 1 1

# Without XSAVE the kernel gives up; without x2APIC, TSC deadline and other novelties it runs.
boot 'an old CPU' "$BUILD/guest.elf" 'one two' -cpu core2duo -smp 2
ends 'an old CPU: the kernel does not run there' 1 2 0
like 'an old CPU: and says why' results '^run 2: report: panic: this CPU has no XSAVE'
boot 'an AMD CPU' "$BUILD/guest.elf" 'one two' -cpu EPYC -smp 2 -m 5G
ends 'an AMD CPU: run 1 is done' 1 1 1
ends 'an AMD CPU: run 2 is done' 2 1 1
like 'archive and buffer were above 4 GiB' results '^run 2: archive at 1[0-9a-f]{8}, buffer at 1[0-9a-f]{8}$'

if [ -n "$reference" ]; then
    emulator=$reference
    options='--cpus 0 --mode overflow -c 1000000 --target-cpu intel-6-106 -e instructions:u' archive overflow-0 "$WORKLOADS/spin" 5000000
    options='--cpus 2 --mode overflow -c 1000000 --target-cpu intel-6-106 -e instructions' archive overflow-2 "$WORKLOADS/spin" 5000000
    boot 'counters' "$BUILD/guest.elf" 'overflow-0 overflow-2 overflow-0' -cpu Icelake-Server,model=106,pmu=on -smp 4
    for run in 1 2 3; do
        ends "counters: run $run is done" $run 1 1
    done
else
    skip 1 'QEMU names no emulator with a PMU'
fi
done_testing
