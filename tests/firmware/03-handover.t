#!/bin/sh
# What a kernel that sends over the network is told, with boot services and without.
. "$(dirname "$0")/../lib.sh"
QEMU=$(network_emulator) || skip_all "no emulator with a user network"
. "$ROOT/tests/firmware/lib.sh"

printf 'm\nk 1 0\ns 12 0\n' >sent.cpio
printf 'p no link\nn 4\n' >unsent.cpio
printf 'k 1 1\n' >changed.cpio
network='output = network'
place='collector = 10.1.2.3:99'

stick_make usb.img 64 "$FAKE_KERNEL" 'memory = 64M' 'buffer = 8M' "$network" "$place" 'token = s3cret' 'machine = lab-2' -- \
    sent.cpio,repeat=2 unsent.cpio
usb_boot usb.img -device e1000,netdev=n -netdev user,id=n
is 'with boot services: status' "$status" 0
like 'the header says so' said 'on lab-2: 3 runs, results over the network$'
like 'DHCP, collector, token and names arrive; repetitions differ' said \
    'run 2 of 3: sent: program ended with status 0: network 00000000 00000000 00000000 0302010a 99 token s3cret machine lab-2 run sent-2$'
like 'what is wrong with the network' said 'run 3 of 3: unsent: not everything was sent: no link$'
results_get usb.img
is 'the loader'\''s own words are on the stick' "$(echo results/*/*)" \
    'results/001/log.txt results/001/result.conf results/002/log.txt results/002/result.conf results/003/log.txt results/003/result.conf'
is 'end' "$(for i in 1 2 3; do result_of 00$i end; done | xargs)" 'done done unsent'

stick_make usb.img 64 "$FAKE_KERNEL" 'memory = 64M' "$network" "$place" 'firmware = exit' 'buffer = 8M' \
    'address = 10.1.2.4/24' 'gateway = 10.1.2.1' -- changed.cpio sent.cpio unsent.cpio
printf 'k 1 2\n' >other
stick_put usb.img other /microtome/runs/changed.cpio
usb_boot usb.img
is 'without boot services: the machine is switched off' "$status" 0
like 'a damaged archive is said before' said 'run changed is left out: .*it is damaged'
like 'the firmware is left' said "left the firmware's boot services$"
like 'a static address arrives; runs follow' said \
    'run 2 of 3: sent: program ended with status 0: network 0402010a 00ffffff 0102010a 0302010a 99 token  machine .* run sent$'
like 'the last run' said 'run 3 of 3: unsent: not everything was sent: no link$'
like 'the end' said 'end: switch off$'
results_get usb.img
is 'nothing is on the stick' "$(ls results)" ''
done_testing
