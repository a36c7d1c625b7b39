#!/bin/sh
# A stick in a machine with fewer CPUs than its runs ask for: they run on those that there are, and say so.
. "$(dirname "$0")/../lib.sh"
QEMU=qemu-system-x86_64 # no counters are needed
. "$ROOT/tests/firmware/lib.sh"

archive() {
    name=$1
    shift
    "$HR" pack --accel tcg -o "$name.cpio" "$@" >/dev/null 2>pack.err || sed 's/^/# /' pack.err
}
archive three --cpus 3 "$WORKLOADS/threads" sync 3 50
archive ipi --cpus 1 --mode ipi -i 100us "$WORKLOADS/hello"
archive panic --cpus 1 --panic-test end-null "$WORKLOADS/hello"
stick_make stick.img 64 "$BUILD/guest-test.elf" buffer=8M memory=96M -- three.cpio ipi.cpio panic.cpio

for cpus in 1 2; do
    usb_boot stick.img -smp $cpus
    is "$cpus: the machine switches itself off" "$status" 0
    results_get stick.img
    mv "results/00$((cpus * 3 - 2))" three
    mv "results/00$((cpus * 3 - 1))" ipi
    mv "results/00$((cpus * 3))" panic
    for run in three ipi; do
        is "$cpus: $run ends" "$(sed -n 's/^end = //p; s/^exit-\(kind\|code\) = //p' $run/result.conf | xargs)" \
            'done status 0'
    done
    is "$cpus: the program is right" "$(cat three/stdout)" 'sync: sum 300, turns 15'
    is "$cpus: one CPU runs it" "$("$HR" dump --format records three/hr.bin | grep -c '^ *activity ')" 1
    if [ $cpus -eq 1 ]; then
        like '1: and everything else' three/log.txt '^notice: --cpus 3: this machine has one CPU, which does everything$'
    else
        like '2: beside a service CPU' three/log.txt '^notice: --cpus 3: only 1 workload CPUs started$'
    fi
    like "$cpus: nobody is left to interrupt it" ipi/log.txt \
        "^notice: --mode ipi needs three CPUs, and this machine has $cpus: --mode timer$"
    "$HR" dump --format records ipi/hr.bin >records
    like "$cpus: so its timer does" records 'sampling.trigger=local APIC timer'
    like "$cpus: a panic is told" panic/result.conf '^reason = exception 14 in the kernel, error 2, address 8$'
    like "$cpus: with the stack" panic/log.txt '^ *#1 ffffffff8'
    rm -rf three ipi panic
done
done_testing
