#!/bin/sh
# The loader, with a kernel that leaves behind what its archive says: batch, results, what goes wrong.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/firmware/lib.sh"

printf 'm\no out\ne err\nl a line of the kernel\nt 300\nf 10\nk 1 7\ns 1234 56\n' >one.cpio
printf 'o before\nk 2 11\n' >crash.cpio
printf 'o before the panic\nt 5\np it broke\np registers\nn 2\n' >panic.cpio
printf 'o before the hang\nk 3 15\nn 3\n' >hung.cpio

# A batch in which something happens to each run but the first two.
stick_make usb.img 64 "$FAKE_KERNEL" 'memory = 32M' 'part = 128K' 'machine = lab-1' -- \
    one.cpio,repeat=2,timeout=10s crash.cpio,name=boom panic.cpio hung.cpio
usb_boot usb.img -m 192M -vga std
is 'the machine switches itself off' "$status" 0
like 'the batch is announced' said 'Microtome .* on lab-1: 5 runs, results on the stick$'
like 'a run begins' said 'run 2 of 5: one #2: starts$'
like 'a run ends' said 'run 2 of 5: one: program ended with status 7'
like 'a crash is said' said 'run 3 of 5: boom: program ended by signal 11$'
like 'a panic is said' said 'run 4 of 5: panic: the kernel gave up: it broke$'
like 'a hang is said' said 'run 5 of 5: hung: the kernel hung and was left; program stopped after its time limit$'
like 'the batch ends' said '2 of 5 runs ended as planned$'
results_get usb.img
is 'results are numbered' "$(echo results/*)" 'results/001 results/002 results/003 results/004 results/005'

for run in 001 002 003 004 005; do ok "$run: files are as listed" result_verify "$run"; done
is 'stdout' "$(cat results/001/stdout)" out
is 'stderr' "$(cat results/001/stderr)" err
pattern 300 >wanted
cat results/001/hr.bin results/001/hr.bin.1 results/001/hr.bin.2 >joined
same_file 'the trace, in parts' joined wanted
is 'parts are as long as said' "$(wc -c <results/001/hr.bin.1)" 131072
pattern 10 >wanted
same_file 'kept files' results/001/files.bin wanted
fails 'no kept files, no files.bin' test -e results/003/files.bin
fails 'no trace, no hr.bin' test -e results/003/hr.bin
ok 'an empty stderr is there' test -f results/003/stderr
is 'end' "$(for i in 1 2 3 4 5; do result_of 00$i end; done | xargs)" 'done done done panic hung'
is 'exit-kind' "$(for i in 1 2 3 4 5; do result_of 00$i exit-kind; done | xargs)" \
    'status status signal none timeout'
is 'exit-code' "$(for i in 1 2 3 4 5; do result_of 00$i exit-code; done | xargs)" '7 7 11 0 15'
is 'samples' "$(result_of 001 samples) $(result_of 001 lost-samples)" '1234 56'
is 'run, archive, repetition, machine' \
    "$(for key in run archive repetition machine; do result_of 002 $key; done | xargs -0 echo)" \
    "$(printf 'one\n%s\n2\nlab-1\n' '\microtome\runs\one.cpio')"
is 'reason' "$(result_of 004 reason)" 'it broke'
ok 'started is a time' test "$(date -d "$(result_of 001 started)" +%s)" -gt 1600000000
like 'the log has the kernel'\''s lines' results/001/log.txt '^a line of the kernel$'
like 'and the loader'\''s' results/001/log.txt '^microtome: run 1 of 5: one #1: starts$'
like 'and a panic'\''s report' results/004/log.txt '^registers$'
like 'boot_info: entry, output, time-out, archive; .bss is zero every time' results/002/log.txt \
    '^entry 2 output 1 timeout 10000000000 unix [0-9]+ kernel [0-9a-f]*00000 trampoline [0-9a-f]{4,5} rsdp 1 smbios 1 archive 6[0-9] zeroed 1$'
like 'boot_info: firmware tables' results/001/log.txt '^acpi RSD smbios _SM$'
like 'boot_info: 32 MiB of RAM' results/001/log.txt '^range 1 [0-9a-f]+ 2000000$'
like 'boot_info: the rest is buffer' results/001/log.txt '^range 3 [0-9a-f]+ [0-9a-f]{7}$'

# A second boot from the same stick, on a machine without a screen, keeps what is there.
usb_boot usb.img -m 176M
is 'a second boot: status' "$status" 0
cp -r results before
results_get usb.img
is 'no table on the serial port' "$(grep -ac 'program  *samples' serial)" 0
ok 'nothing was overwritten' diff -r before results/ --exclude='00[6-9]' --exclude=010
ok 'new numbers' test -f results/010/result.conf
done_testing
