#!/bin/sh
# From hr usb to hr collect through real firmware: runs of a stick whose results go over the network.
. "$(dirname "$0")/../lib.sh"
QEMU=$(network_emulator) || skip_all "no emulator with a user network"
. "$ROOT/tests/firmware/lib.sh"
. "$ROOT/tests/collector.sh"
PATH=$PATH:/usr/sbin:/sbin
command -v sfdisk >/dev/null || skip_all 'sfdisk is not installed (package fdisk)'
! grep -qa 'this kernel was built without network streaming' "$BUILD/guest.elf" || skip_all 'the kernel was built without lwIP'
all_done='runs ended as planned'

# networked CARD REGEX [OPTION...]: boots usb.img with a network card until the machine says REGEX.
networked() {
    card=$1 regex=$2
    shift 2
    usb_boot_until usb.img "$regex" -netdev user,id=net -device "$card,netdev=net" "$@"
    is "$card: the machine comes so far" "$status" 0
}

# pack NAME ARG...
pack() {
    name=$1
    shift
    run_hr pack --target-cpu all -o "$name.cpio" "$@"
    is "pack $name: status" "$status" 0
}

# In virtual time, by DHCP, with a token: the same counts as hr run gives.
cpu=$("$HR" run --dry-run --accel tcg "$WORKLOADS/phases" | sed -n 's/.* -cpu \([^ ]*\) .*/\1/p')
run_hr run -q --accel tcg -o run.bin "$WORKLOADS/phases" 5 1
is 'hr run: status' "$status" 0
mv out run.out
echo a-secret >token
collector exact 0 --token token --runs 1
run_hr usb -o usb.img --size 100M --mem 64M --buffer 8M --cpus 0 --network "10.0.2.2:$port" --token token --machine exact "$WORKLOADS/phases" 5 1
is 'hr usb: status' "$status" 0
until_gone=$collector # after that the firmware would wait for real time, in which virtual time is slow
usb_boot_until usb.img nothing -netdev user,id=net -device e1000e,netdev=net -cpu "$cpu" -icount shift=0,sleep=off
until_gone=
ended "$collector"
is 'exact: the collector is content' "$status" 0
got=results/exact/phases-1
ok 'exact: the trace is complete' "$HR" check "$got/hr.bin"
for what in '.events[] | [.name, .total, .source] | @csv' .lost .emulated .exit_status; do
    is "exact: $what" "$(stat_of "$got/hr.bin" "$what")" "$(stat_of run.bin "$what")"
done
samples=$(stat_of run.bin .samples) # a device's interrupt may come just where one is due
within 'exact: samples' "$(stat_of "$got/hr.bin" .samples)" $((samples - 1)) $((samples + 1))
same_file 'exact: stdout' "$got/stdout" run.out
like 'exact: the log has the network'\''s address' "$got/log.txt" '10\.0\.2\.15/24.*DHCP'

# A batch with two CPUs and a static address: a program with files, one that crashes, one that hangs, twice each.
mkdir -p tree/work
seq 30000 >input
pack files --root tree --keep-files --stdin input busybox tee /work/copy
pack crash "$WORKLOADS/crash" segv
pack hang --timeout 300ms -m off busybox sh -c 'while :; do :; done'
collector batch 0 --runs 6
run_hr usb -o usb.img --force --size 100M --mem 64M --buffer 8M --network "10.0.2.2:$port" --address 10.0.2.77/24 --gateway 10.0.2.2 --machine batch \
    --repeat 2 files.cpio crash.cpio hang.cpio
is 'batch: hr usb: status' "$status" 0
networked virtio-net-pci "$all_done" -smp 2
like 'batch: the loader says how many' said ' of 6 runs ended as planned'
ended "$collector"
is 'batch: all are complete' "$status" 0
for n in 1 2; do
    same_file "batch: files, time $n: stdout" "results/batch/files-$n-1/stdout" input
    same_file "batch: files, time $n: the file that it made" "results/batch/files-$n-1/files/work/copy" input
    is "batch: crash, time $n: status" "$(stat_of "results/batch/crash-$n-1/hr.bin" .exit_status)" 139
    like "batch: crash, time $n: a line says so" batch.err "batch/crash-$n-1: complete.*killed by signal 11"
    like "batch: hang, time $n: a line says so" batch.err "batch/hang-$n-1: complete.*stopped by its time limit"
    ok "batch: hang, time $n: the trace is complete" "$HR" check "results/batch/hang-$n-1/hr.bin"
done

# Boot services are left first; the collector is killed while the program runs, and comes back.
pack words --cpus 1 busybox seq 1 400000
seq 1 400000 >words
collector exit 0
run_hr usb -o usb.img --force --size 100M --mem 64M --buffer 8M --network "10.0.2.2:$port" --machine exit --firmware exit --at-end reboot words.cpio
is 'exit: hr usb: status' "$status" 0
(
    for _ in $(seq 2000); do
        [ "$(stat -c %s results/exit/words-1/stdout 2>/dev/null || echo 0)" -lt 200000 ] || break
        sleep 0.1
    done
    kill -KILL "$collector"
    stat -c %s results/exit/words-1/stdout >had
    exec timeout 200 "$HR" collect -l "tcp:$port" --runs 1 2>again.err
) &
again=$!
networked e1000 "$all_done" -smp 2
wait "$collector" 2>/dev/null
ended "$again"
is 'exit: another collector sees the run complete' "$status" 0
within 'exit: the first one was killed in the middle' "$(cat had)" 200000 $(($(stat -c %s words) - 1))
like 'exit: it went on' again.err 'exit/words-1: goes on after'
same_file 'exit: stdout' results/exit/words-1/stdout words
ok 'exit: the trace is complete' "$HR" check results/exit/words-1/hr.bin
is 'exit: lost' "$(stat_of results/exit/words-1/hr.bin .lost)" 0

# Nobody listens: no program starts, and the stick has the reason.  The machine tries for half a minute, of a clock that is
# 128 times as fast as its work.
run_hr usb -o usb.img --force --size 100M --mem 64M --buffer 8M --network "10.0.2.2:$port" --machine nobody crash.cpio
networked e1000e "$all_done" -smp 2 -icount shift=7,sleep=off
like 'nobody: the loader says so' said 'no collector: connection refused'
run_hr usb --collect usb.img -o stick
ok 'nobody: the stick has the reason' grep -q 'no collector: connection refused' stick/001/log.txt
done_testing
