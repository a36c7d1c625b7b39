#!/bin/sh
# A test build of the kernel drives network cards that real firmware has set up, behind a bridge, twice: the second
# run finds the card as the first has left it.
. "$(dirname "$0")/../lib.sh"
QEMU=$(network_emulator) || skip_all "no emulator with a user network"
. "$ROOT/tests/firmware/lib.sh"
ok 'an archive' "$HR" pack -o net.cpio --cpus 1 --panic-test start-net "$WORKLOADS/hello"

for card in e1000e virtio-net-pci; do
    ok "$card: a stick" stick_make usb.img 64 "$BUILD/guest-test.elf" memory=64M buffer=8M -- net.cpio,repeat=2
    usb_boot usb.img -smp 2 -device pcie-root-port,id=below,chassis=1 -netdev user,id=net,restrict=on \
        -device "$card,netdev=net,bus=below,mac=52:54:00:0a:0b:0c"
    is "$card: status" "$status" 0
    results_get usb.img
    for run in 001 002; do
        is "$card, run $run: ends" "$(result_of $run end) $(result_of $run exit-code)" 'done 0'
        like "$card, run $run: is found, and its address" results/$run/log.txt \
            'network card .* at 0[1-9]:00\.0: .*52:54:00:0a:0b:0c'
        like "$card, run $run: the host answers" results/$run/log.txt '10.0.2.2 is at 52:55:0a:00:02:02'
        like "$card, run $run: all echoes come back" results/$run/log.txt '1000 of 1000 echoes came back, 0 other'
    done
done
done_testing
