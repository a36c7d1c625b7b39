#!/bin/sh
# From hr usb to hr usb --collect through real firmware: what comes back is what hr run gives, and a batch goes on.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/firmware/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
command -v sfdisk >/dev/null || skip_all 'sfdisk is not installed (package fdisk)'
all_done='runs ended as planned'

# events FILE: every event with its total and where that comes from.
events() {
    stat_of "$1" '.events[] | [.name, .total, .source] | @csv'
}

# In virtual time, on the CPU that hr run gives a guest: the same, to the instruction.
cpu=$("$HR" run --dry-run --accel tcg "$WORKLOADS/phases" | sed -n 's/.* -cpu \([^ ]*\) .*/\1/p')
run_hr run -q --accel tcg -o run.bin "$WORKLOADS/phases"
is 'hr run: status' "$status" 0
mv out run.out
run_hr usb -o usb.img --size 100M --mem 64M --buffer 8M --cpus 0 "$WORKLOADS/phases"
is 'hr usb: status' "$status" 0
usb_boot_until usb.img "$all_done" -cpu "$cpu" -icount shift=0,sleep=off
is 'the run ends' "$status" 0
run_hr usb --collect usb.img -o r
is 'collect: status' "$status" 0
like 'collect: row' out '^001 +phases .* done +status 0 '
same_file 'the same output' r/001/stdout run.out
is 'the same events, exactly' "$(events r/001/hr.bin)" "$(events run.bin)"
# Page faults and system calls take a little more or less time in a kernel that lies elsewhere, so samples may move by some ns.
samples=$(stat_of run.bin .samples)
within 'as many samples' "$(stat_of r/001/hr.bin .samples)" $((samples - 5)) $((samples + 5))
functions() {
    "$HR" report -f csv "$1" | awk -F , 'NR > 1 && $4 > 100 { print $1 }' | sort
}
is 'the same hot functions' "$(functions r/001/hr.bin)" "$(functions run.bin)"
ok 'the trace is complete' "$HR" check r/001/hr.bin
is 'it says that it was emulated' "$(stat_of r/001/hr.bin .emulated)" true

# Three runs, as a machine with two CPUs does them; the second crashes and the third hangs.
mkdir tree tree/work
seq 1000 >input
run_hr pack --target-cpu all --root tree --keep-files --stdin input -o first.cpio busybox tee /work/copy
is 'pack: status' "$status" 0
run_hr pack --target-cpu all -o second.cpio "$WORKLOADS/crash" segv
run_hr pack --target-cpu all -m off -o third.cpio busybox sh -c 'while :; do :; done'
run_hr pack --target-cpu all --cpus 3 -g -o fourth.cpio "$WORKLOADS/threads" sync 4
run_hr usb -o usb.img --force --size 100M --mem 64M --buffer 8M --timeout 2s first.cpio second.cpio third.cpio fourth.cpio
is 'a batch: status' "$status" 0
usb_boot usb.img -smp 2
is 'the machine switches itself off' "$status" 0
run_hr usb --collect usb.img -o batch
is 'a batch: the results are whole' "$status" 0
like 'the first ends' out '^001 +first .* done +status 0 +[0-9]'
like 'the second crashes' out '^002 +second .* done +signal 11 +[0-9]'
like 'the third is stopped' out '^003 +third .* done +timeout +[0-9]'
like 'the fourth ends' out '^004 +fourth .* done +status 0 +[0-9]'
same_file 'the first: its input was there, and its output' batch/001/stdout input
same_file 'the first: the file that it made' batch/001/files/work/copy input
"$HR" stat batch/002/hr.bin >stat.out
like 'the second: its trace says so, too' stat.out 'SIGSEGV|signal 11'
for number in 001 002 003 004; do
    ok "$number: a complete trace" "$HR" check batch/$number/hr.bin
done
ok 'the first: samples' test "$(stat_of batch/001/hr.bin .samples)" -gt 10
like 'the fourth: fewer CPUs than asked for' batch/004/log.txt 'notice: --cpus 3: '
before=$(find batch -type f -exec cksum {} + | sort)
run_hr usb --collect usb.img -o batch --clear
is 'collected again: the same' "$status $(find batch -type f -exec cksum {} + | sort)" "0 $before"
is 'cleared' "$(mdir -b -i usb.img@@1M ::/results/)" ''
usb_boot usb.img -smp 1 -m 512M
is 'again, with one CPU and little memory: it switches itself off' "$status" 0
run_hr usb --collect usb.img -o again
is 'again: the results are whole' "$status" 0
same_file 'again: the same output' again/001/stdout batch/001/stdout
done_testing
