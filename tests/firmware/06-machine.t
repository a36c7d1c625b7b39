#!/bin/sh
# The machine as a run from a stick sees it: firmware's tables by way of the loader, threads of cores, memory.
. "$(dirname "$0")/../lib.sh"
QEMU=qemu-system-x86_64 # no counters are needed
. "$ROOT/tests/firmware/lib.sh"

"$HR" pack --accel tcg -e instructions --cpus 1 -o hello.cpio "$WORKLOADS/hello" >pack.log 2>&1 || exit 1
stick_make usb.img 64 "$BUILD/guest.elf" 'machine = lab-1' memory=64M buffer=8M -- hello.cpio || exit 1
usb_boot usb.img -m 1G -smp 4,sockets=1,cores=2,threads=2 \
    -smbios type=1,manufacturer=Maker,product=Bench,version=v9,serial=PRIVATE1,uuid=12345678-9abc-def0-1234-56789abcdef0 \
    -smbios type=2,manufacturer=Boards,product=B1,version="rev 2",serial=PRIVATE2,asset=PRIVATE3 \
    -smbios type=17,speed=3200,serial=PRIVATE4
is 'the machine switches itself off' "$status" 0
results_get usb.img
trace=results/001/hr.bin
fact() { stat_of "$trace" ".machine.facts.$1"; }

is 'the run is complete' "$(stat_of "$trace" '[.complete, .exit_status] | @csv')" true,0
is 'started by' "$(fact boot_entry)" uefi
is 'machine, board' "$(fact system); $(fact board)" 'Maker, Bench, v9; Boards, B1, rev 2'
like 'the firmware itself' "$(fact bios >bios && echo bios)" 'OVMF|EDK|EFI'
is 'memory modules' "$(fact memory_modules)" '1 x 1 GiB at 3200 MT/s, made for 3200 MT/s'
is 'packages, cores, threads' "$(fact packages) $(fact cores) $(fact threads)" '1 2 4'
is 'CPUs of the program, threads beside them' "$(fact program_apic_ids) $(fact siblings_active) $(fact siblings_idle)" '2 null 3'
like 'the loader keeps memory for results' "$(fact map_buffer >map && echo map)" '^[0-9.]+ [MG]B in [0-9]+ range'
is 'a record of its CPU' "$(stat_of "$trace" '.machine.cpus[] | [.cpu, .apic_id] | @csv')" 1,2
is 'nothing private is in any result' "$(grep -rlaE 'PRIVATE|12345678-9abc|9ABC-DEF0' results | wc -l)" 0
done_testing
