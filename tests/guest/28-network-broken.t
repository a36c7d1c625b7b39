#!/bin/sh
# Runs over the network where something is missing, wrong or breaks again and again.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/collector.sh"

emulator=$(network_emulator) || skip_all 'no emulator with a user network'
! grep -qa 'this kernel was built without network streaming' "$KERNEL" || skip_all 'the kernel was built without lwIP'

# boot ARCHIVE CARD WORD...: boots the kernel with these words on its command line; what it says is in the file serial.
boot() {
    archive=$1 card=$2
    shift 2
    timeout -k 5 300 "$emulator" -machine q35 -accel tcg -cpu max -smp 2 -m 256 -nodefaults -display none -no-reboot \
        -device isa-debug-exit,iobase=0xf4,iosize=4 -netdev user,id=net ${card:+-device "$card,netdev=net"} \
        -kernel "$KERNEL" -initrd "$archive.cpio" -serial file:serial \
        -append "output=network collector=10.0.2.2:$port machine=m run=r buffer=8M $*" </dev/null >qemu.log 2>&1
}

"$HR" pack -o hello.cpio "$WORKLOADS/hello-musl" >/dev/null 2>&1
collector one 0
boot hello '' id=1
like 'no card' serial '^no network: no network card that this kernel has a driver for'
boot hello rtl8139 id=1
like 'a card without a driver is named' serial '^network card 10ec:8139 .*no driver for it'
boot hello virtio-net-pci id=1 address=10.0.2.20/24 collector=192.168.7.7
like 'a collector elsewhere, and no gateway' serial '^no network: the collector is in another network, and there is no gateway'
boot hello virtio-net-pci id=1 collector=x
like 'a collector that is no address' serial '^no collector is configured'
boot hello virtio-net-pci id=1 machine=../x
like 'a name that no file can have' serial "^the machine's or the run's name cannot name a file"
boot hello virtio-net-pci id=1 buffer=1M
like 'a buffer that is too small' serial '^no buffer of 4 MiB'
ok 'no program was started' test ! -e results/m
boot hello virtio-net-pci id=1
is 'and when all is right, one is' "$(cat results/m/r-1/stdout)" 'Hello from a program that runs alone.'
is 'which is all that there is to say' "$(grep -v '^boot step: ' serial)" ''
boot hello virtio-net-pci id=1
like 'an id that was used' serial '^the collector refused: the collector has a complete run with the id of this one'
stopped "$collector" TERM

# A program with a CPU of its own writes on while its collector is killed and started again, three times.
lines=1000000
seq 1 $lines >seq.out
gcc -O2 -static -o lines "$ROOT/tests/programs/lines.c"
"$HR" pack --cpus 1 --mode off -o seq.cpio ./lines $lines 2000 >/dev/null 2>&1
rm -rf results
collector two 0
boot seq e1000e id=2 &
machine=$!
for million in 1 3 5; do
    for _ in $(seq 1200); do
        [ "$(stat -c %s results/m/r-1/stdout 2>/dev/null || echo 0)" -lt ${million}000000 ] || break
        sleep 0.05
    done
    stopped "$collector" KILL 2>/dev/null
    collector two "$port" --runs 1
done
wait "$machine"
ended "$collector"
is 'three breaks: the last collector sees the run complete' "$status" 0
same_file 'three breaks: the output is whole' results/m/r-1/stdout seq.out
ok 'three breaks: the trace is complete' "$HR" check results/m/r-1/hr.bin
is 'three breaks: they are in the log' "$(grep -c 'connected to the collector again' results/m/r-1/log.txt)" 3
is 'three breaks: nothing was dropped' "$(grep -c dropped results/m/r-1/log.txt)" 0
done_testing
