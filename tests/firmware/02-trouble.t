#!/bin/sh
# What goes wrong costs one run at most, or is said before anything is run.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/firmware/lib.sh"

printf 'o fine\nt 20\nk 1 0\n' >fine.cpio
printf 'o good\nt 8\nd\nt 8\n' >bad-frame.cpio
printf 'o good\nt 8\ng\n' >gap.cpio
printf 'o good\nt 8\nc\n' >cut.cpio
printf 'o good\nt 8\nk 1 0\nx\n' >too-much.cpio
printf 'o good\nk 1 0\nr 77\n' >strange.cpio
printf 'l notice: no such event\nl more\nk 4 22\n' >refused.cpio
printf 'k 1 0\n' >changed.cpio
printf 'k 1 0\n' >gone.cpio

stick_make usb.img 64 "$FAKE_KERNEL" 'memory = 64M' 'buffer = 8M' 'end = reboot' -- bad-frame.cpio gap.cpio cut.cpio \
    too-much.cpio strange.cpio changed.cpio gone.cpio fine.cpio refused.cpio
printf 'k 1 1\n' >other
stick_put usb.img other /microtome/runs/changed.cpio
mdel -i usb.img ::/microtome/runs/gone.cpio
usb_boot usb.img
is 'the machine starts anew (which ends the emulator)' "$status" 0
like 'and says so' said 'end: restart$'
results_get usb.img
for run in 1 2 3 4; do
    is "damage $run: what is good is kept" "$(cat results/00$run/stdout)" good
    like "damage $run: the log says so" results/00$run/log.txt '^microtome: what the run left is damaged: '
    ok "damage $run: files are as listed" result_verify "00$run"
done
pattern 8 >wanted
same_file 'a bad frame ends the trace' results/001/hr.bin wanted
same_file 'a gap ends the trace' results/002/hr.bin wanted
is 'of a cut frame there is what there is' "$(head -c 8202 results/003/hr.bin | tail -c 10)" 0123456789
same_file 'what was never written is not taken for a trace' results/004/hr.bin wanted
like 'a kernel that returns nonsense' said 'run 5 of 9: strange: the kernel gave up; .* its memory is damaged$'
is 'is a panic' "$(result_of 005 end)" panic
like 'a damaged archive is named' said \
    'run 6 of 9: changed: not started: .microtome.runs.changed.cpio: it is damaged: its checksum'
is 'it costs its run' "$(result_of 006 end)" not-started
like 'the reason is in result.conf' results/006/result.conf '^reason = .*it is damaged'
like 'so is an archive that is not there' results/007/log.txt 'runs.gone.cpio: not found$'
is 'the run after them is fine' "$(result_of 008 end) $(result_of 008 exit-code)" 'done 0'
like 'a refusal is said with its reason' said \
    'run 9 of 9: refused: program could not be started .error 22.: no such event$'
is 'in result.conf, too' "$(result_of 009 exit-kind) $(result_of 009 reason)" 'refused no such event'
like 'runs are counted' said '1 of 9 runs ended as planned$'

# next_stick NUMBER IMAGE [OPTION OF THE DRIVE]: options of QEMU for one more stick, from which it boots after the others.
next_stick() {
    echo "-drive if=none,id=next$1,format=raw,file=$2${3:-} -device usb-storage,drive=next$1,bootindex=$1,removable=on"
}

# A stick that becomes full: the first run loses the end of its trace, the second nearly all, the third
# has no room at all.
printf 'o first\nt 60000\nf 3000\nk 1 0\nl the log\n' >large.cpio
stick_make full.img 40 "$FAKE_KERNEL" 'memory = 64M' -- large.cpio fine.cpio,repeat=2
usb_boot full.img
is 'a full stick: the batch goes on to its end' "$status" 0
results_get full.img
ok 'what is there is as listed' result_verify 001
is 'what came first is whole' "$(cat results/001/stdout) $(wc -c <results/001/files.bin)" 'first 3072000'
cut=$(result_of 001 cut)
there=$(wc -c <results/001/hr.bin)
is 'the trace is cut' "${cut% *}" hr.bin
is 'what is there and what is missing make a whole' $((${cut#* } + there)) $((60000 * 1024))
within 'the stick is filled' "$there" 37000000 40000000
pattern 60000 | head -c "$there" >wanted
same_file 'what is there is good' results/001/hr.bin wanted
like 'the log says so' results/001/log.txt 'hr.bin: the disk is full: [0-9]+ bytes are there, [0-9]+ are missing$'
like 'the log is whole' results/001/log.txt '^the log$'
is 'a run for which little is left says so' "$(sed -n 's/^cut = //p' results/002/result.conf | cut -d ' ' -f 1 | xargs)" \
    'log.txt hr.bin'
ok 'what is there of it is as listed' result_verify 002
like 'the third run is run' said 'run 3 of 3: fine: program ended with status 0$'
like 'the serial port says that nothing of it is kept' said \
    'results.003: the disk is full: nothing of this run is kept$'
fails 'nothing of it is there' test -e results/003
fsck.fat -n full.img >fsck.log 2>&1
is 'the file system is sound' $? 0

# Before anything is run.  The firmware, to which each of them goes back, takes the next one.
stick_make usb.img 64 "$FAKE_KERNEL" 'memory = 64M' 'colour = blue' -- fine.cpio
stick_make kernel.img 64 "$FAKE_KERNEL" 'memory = 64M' -- fine.cpio
stick_put kernel.img fine.cpio /microtome/guest.elf
stick_make protected.img 64 "$FAKE_KERNEL" 'memory = 64M' -- fine.cpio
stick_make little.img 64 "$FAKE_KERNEL" 'memory = 1G' 'buffer = 100M' 'end = wait' -- fine.cpio
# shellcheck disable=SC2046
usb_boot_until usb.img 'waiting for a key: switch off' $(next_stick 1 kernel.img) $(next_stick 2 protected.img ,readonly=on) \
    $(next_stick 3 little.img)
is 'too little memory, at last: the end is waited for' "$status" 0
awk '{ print >("said." n + 1) } /nothing was run: going back/ { n++ }' said
back() { tail -n 1 "said.$1" | grep -c 'nothing was run: going back'; }
is 'a wrong configuration: back to the firmware' "$(back 1)" 1
like 'file, line and what' said.1 '.microtome.conf: line 6: unknown key: colour: '
is 'a damaged kernel: back to the firmware' "$(back 2)" 1
like 'it is named' said.2 'the kernel cannot be used: .microtome.guest.elf: it is [0-9]+ bytes long, not [0-9]+'
is 'a write-protected stick: back to the firmware' "$(back 3)" 1
like 'before anything is run' said.3 'results cannot be written: the disk is write-protected$'
# on a busy machine firmware does not find the last one at first, and begins again
like 'how much is wanted, and how much there is' said \
    'not enough memory: memory = 1024 MiB and buffer = 100 MiB are wanted; [0-9]+ MiB are free'
results_get little.img
is 'the run was not started' "$(result_of 001 end)" not-started
done_testing
