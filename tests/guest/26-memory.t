#!/bin/sh
# Output into memory, as on a stick: by a test build of the kernel, whose command line says where.
# The guest's memory is a file, so what a loader would find is there when the emulator is gone.
. "$(dirname "$0")/../lib.sh"
command -v qemu-system-x86_64 >/dev/null || skip_all 'no qemu-system-x86_64'
model=$("$HR" run --dry-run --accel tcg "$WORKLOADS/hello" | sed -n 's/.* -cpu \([^ ]*\) .*/\1/p')
shared='-icount shift=0,sleep=off -smp 1'

# memory_run BUFFER 'QEMU OPTIONS' PACK-ARGUMENT...: result in the file serial, output in the directory got.
memory_run() {
    buffer=$1 machine=$2
    shift 2
    rm -rf got ram serial
    mkdir got
    "$HR" pack -o run.cpio "$@" 2>err || return 1
    truncate -s 256M ram
    # shellcheck disable=SC2086
    timeout -k 10 "$LIMIT" qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -accel tcg \
        -machine q35,usb=off,vmport=off,i8042=off,sata=off,smbus=off,smm=off,memory-backend=ram \
        -object "memory-backend-file,id=ram,mem-path=ram,size=256M,share=on" -m 256M -cpu "$model" $machine \
        -rtc base=2024-01-01T00:00:00,clock=vm -bios qboot.rom -kernel "$KERNEL" \
        -initrd run.cpio -append "buffer=$buffer" -serial file:serial \
        -device isa-debug-exit,iobase=0xf4,iosize=4 >qemu.log 2>&1
    sent=$(result_of sent)
    "$TOOLS/unframe" ram "$buffer" "${sent:-0}" got 2>>err
}

# result_of FIELD: of boot_info.result.
result_of() {
    sed -n "s/^result: .*\\b$1 \\([0-9]*\\).*/\\1/p" serial
}

ok 'a buffer with room: whole frames' memory_run 8000000:400000 "$shared" "$WORKLOADS/hello"
is 'the run is done' "$(sed -n 's/ sent.*//p' serial)" 'result: end 1 exit 1 0'
run_hr run --accel tcg "$WORKLOADS/hello"
same_file 'stdout' got/stdout out
is 'the program executed what it does under hr run' "$(total got/trace instructions)" "$(total hr.bin instructions)"
# A device's interrupt costs the program's clock nothing, but may come just where a sample is due.
samples=$(stat_of hr.bin .samples)
within 'and was sampled as often, but for one' "$(stat_of got/trace .samples)" $((samples - 1)) $((samples + 1))
like 'the log' got/log '^microtome .* ready after'

# Three pieces, in which frames and their headers straddle.
memory_run 8000000:400000 "$shared" -i 1us "$WORKLOADS/phases" 4 2
all=$(stat_of got/trace .samples) count=$(total got/trace instructions)
ok 'a full buffer: whole frames' memory_run 8000000:81000,9000000:1000,a000000:105000 "$shared" -i 1us "$WORKLOADS/phases" 4 2
is 'the run is done all the same' "$(result_of end)" 1
is 'totals are right' "$(total got/trace instructions)" "$count"
lost=$(stat_of got/trace .lost)
within 'samples are lost' "$lost" 1000 "$((all - 1000))"
# page faults take other times where memory lies elsewhere
within 'every sample is there or counted' "$(($(stat_of got/trace .samples) + lost))" $((all - 3)) $((all + 3))
is 'the loader is told' "$(result_of lost)" "$lost"
"$HR" stat got/trace >stat
like 'the summary says why' stat 'lost .*the buffer was full'
like 'and so does the log' got/log "^notice: $lost samples and 0 other records did not fit"
like 'output has room' got/stdout .
"$HR" check got/trace >check
like 'the losses have their times' check 'lost: CPU 0, [0-9]+ samples between .* ms and .*: the buffer was full'

ok 'output that does not fit' memory_run 8000000:200000 "$shared" -i 1ms /bin/busybox dd if=/dev/zero bs=64k count=64
is 'the program notices nothing' "$(sed -n 's/ sent.*//p' serial)" 'result: end 1 exit 1 0'
like 'the log says how much is missing' got/log \
    "^notice: no room for $((4194304 - $(wc -c <got/stdout))) bytes of stdout: the buffer has 2 MiB; see buffer in"
like 'stderr is there' got/stderr '64.0 records'
is 'what is there has no holes' "$(tr -d '\0' <got/stdout | wc -c)" 0

ok 'service and workload CPUs' memory_run 8000000:800000 '-smp 4' --cpus 3 "$WORKLOADS/threads" count 3 20000
is 'they end the run' "$(sed -n 's/ sent.*//p' serial)" 'result: end 1 exit 1 0'
like 'all threads ran' got/stdout .
is 'on three CPUs' "$("$HR" dump --format records got/trace | grep -c '^ *activity ')" 3

memory_run 8000000:100000 "$shared" "$WORKLOADS/hello"
is 'a buffer that cannot hold the end of a trace: nothing runs' "$(sed -n 's/ report.*//p' serial)" \
    'result: end 4 exit 0 0 sent 0 lost 0'
within 'the report says so' "$(result_of report)" 50 200

for how in panic null stack; do
    ok "$how: frames are whole" memory_run 8000000:400000 "$shared" --panic-test "end-$how" "$WORKLOADS/hello"
    is "$how: the loader is told" "$(result_of end)" 2
    within "$how: with registers and stack" "$(result_of report)" 100 8192
    like "$how: what was sent is there" got/stdout Hello
done
memory_run 8000000:400000 '-smp 3' --cpus 2 --panic-test end-null "$WORKLOADS/hello"
is 'a panic on a workload CPU: the loader is told' "$(result_of end)" 2
within 'with registers and stack' "$(result_of report)" 100 8192

# Each of 8 CPUs executes 1,000 instructions an interval, as at 1 us with a billion a second; so does the service CPU.
eight='-icount shift=0,sleep=off -smp 9'
memory_run 8000000:2000000 "$eight" --cpus 8 -i 9us "$WORKLOADS/threads" compute 8 800
is '8 CPUs: no sample is lost while there is room' "$(result_of end) $(stat_of got/trace .lost)" '1 0'
within 'and their rings were filled more than once' "$(stat_of got/trace .samples)" $((2 * 8 * 8192)) 1000000
memory_run 8000000:300000 "$eight" --cpus 8 -e "$five" -i 9us "$WORKLOADS/threads" compute 8 800
"$HR" stat got/trace >stat
like 'nor by a ring when there is none any more' stat 'lost .* % of all: the buffer was full'
ok 'and the trace is right' sh -c '"$HR" check got/trace | grep -c "lost: CPU" | grep -qx "[89]\|1[0-9]\|20"'

# Nobody gives input but the archive.
printf 'two\nlines\n' >input
for machine in "$shared" '-smp 2'; do
    cpus=$(echo "$machine" | grep -c 'smp 2')
    memory_run 8000000:400000 "$machine" --cpus "$cpus" --stdin input /bin/busybox cat
    same_file "--cpus $cpus: the archive's input" got/stdout input
    memory_run 8000000:400000 "$machine" --cpus "$cpus" /bin/busybox cat
    is "--cpus $cpus: without it there is none" "$(sed -n 's/ sent.*//p' serial)$(cat got/stdout)" \
        'result: end 1 exit 1 0'
done
memory_run 8000000:400000 "$shared" --stdin input "$WORKLOADS/io_stdin" poll
run_hr run --accel tcg "$WORKLOADS/io_stdin" poll <input
same_file 'polls of it' got/stdout out
for bytes in 0 1 65536 100000; do
    head -c "$bytes" "$BUILD/guest.elf" >input
    memory_run 8000000:400000 "$shared" --stdin input /bin/busybox cat
    same_file "$bytes bytes of input" got/stdout input
done

# The kernel's own time limit: of a program that computes, sleeps, or waits.
for machine in "$shared" '-smp 3'; do
    cpus=$(($(echo "$machine" | grep -c 'smp 3') * 2))
    for program in 'busybox yes' 'busybox sleep 1000' 'spin 100000000000 loop'; do
        # shellcheck disable=SC2086
        set -- $program
        case $1 in busybox) path=/bin/busybox ;; *) path=$WORKLOADS/$1 ;; esac
        shift
        memory_run 8000000:400000 "$machine" --cpus "$cpus" --mode off --timeout 100ms "$path" "$@"
        is "--cpus $cpus: $program is stopped" "$(sed -n 's/ sent.*//p' serial)" 'result: end 1 exit 3 9'
        within "--cpus $cpus: $program: when it is time" "$(stat_of got/trace '.duration_ns / 1000000 | floor')" 100 "$((100 + cpus * 2000))"
    done
    memory_run 8000000:400000 "$machine" --cpus "$cpus" --timeout 300s "$WORKLOADS/threads" stuck 3
    is "--cpus $cpus: who waits for ever is not waited for" "$(sed -n 's/ sent.*//p' serial)" 'result: end 1 exit 2 9'
done
for limit in 1ns 9000000000s; do
    for machine in "$shared" '-smp 2'; do
        cpus=$(echo "$machine" | grep -c 'smp 2')
        memory_run 8000000:400000 "$machine" --cpus "$cpus" --timeout "$limit" "$WORKLOADS/hello"
        like "--cpus $cpus: a limit of $limit does no harm" serial '^result: end 1 exit '
    done
done
# The kernel waits ten seconds for a CPU that hangs: of a clock that is 128 times as fast as the work.
soon='-icount shift=7,sleep=off -smp 2'
memory_run 8000000:400000 "$soon" --cpus 1 -i 1ms --timeout 1s --panic-test end-hang "$WORKLOADS/spin" 100000000000 loop
is 'a CPU that does not stop the program is left behind' "$(sed -n 's/ sent.*//p' serial)" 'result: end 3 exit 3 9'
like 'the log says which' got/log '^notice: CPU 1 did not end the run, or let it be ended'
ok 'what the trace holds stays' test "$(stat_of got/trace .samples)" -ge 10
memory_run 8000000:400000 "$soon" --cpus 1 --panic-test end-hang "$WORKLOADS/hello"
is 'so is one that hangs when the program has ended' "$(sed -n 's/ sent.*//p' serial)" 'result: end 3 exit 1 0'
is 'and the output stays' "$(cat got/stdout)" 'Hello from a program that runs alone.'

# Encodings for a CPU that this one is not: without counters none are needed.
memory_run 8000000:400000 "$shared" --cpus 0 --target-cpu intel-6-106 -e instructions,LLC-misses "$WORKLOADS/hello"
is 'a machine without counters needs no encodings' "$(sed -n 's/ sent.*//p' serial)" 'result: end 1 exit 1 0'
done_testing
