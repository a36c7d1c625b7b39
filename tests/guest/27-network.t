#!/bin/sh
# Runs over the network: the kernel with its TCP/IP in the emulator, hr collect outside. What arrives is what
# `hr run` gives, whatever happens to the connection.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/collector.sh"

emulator=$(network_emulator) || skip_all 'no emulator with a user network'
! grep -qa 'this kernel was built without network streaming' "$KERNEL" || skip_all 'the kernel was built without lwIP'
virtual='-icount shift=0,sleep=off'
exact="$virtual -smp 1" # virtual time, for runs without a service CPU
served='-smp 2'

# boot NAME ARCHIVE CARD 'QEMU OPTIONS' WORD...: boots the kernel with these words on its command line, until it is
# done; what it says on the serial port is in NAME.serial.
boot() {
    name=$1 archive=$2 card=$3 how=$4
    shift 4
    # shellcheck disable=SC2086
    timeout -k 5 300 "$emulator" -machine q35 -accel tcg -cpu max $how -m 512 -nodefaults -display none -no-reboot \
        -device isa-debug-exit,iobase=0xf4,iosize=4 -netdev "${NETDEV:-user,id=net}" -device "$card,netdev=net" \
        -kernel "$KERNEL" -initrd "$archive.cpio" -serial "file:$name.serial" \
        -append "output=network collector=10.0.2.2:$port machine=$name run=$archive $*" </dev/null >"$name.qemu" 2>&1
}

# worked NAME: hundredths of a second that the emulator of that machine has worked.
worked() {
    awk '{ print $14 }' "/proc/$(pgrep -f "^$emulator.*machine=$1 " | head -n 1)/stat" 2>/dev/null || echo 1000000
}

# archive NAME [OPTION...] PROGRAM...
archive() {
    name=$1
    shift
    "$HR" pack -o "$name.cpio" "$@" >/dev/null 2>pack.err || sed 's/^/# /' pack.err
}

# Every card, DHCP and static addresses: the same counts as through virtio-serial.
archive phases -i 10us "$WORKLOADS/phases-musl" 5 1
run_guest -q -i 10us "$WORKLOADS/phases-musl" 5 1
mv out reference.out
wanted=$(total hr.bin instructions)
samples=$(stat_of hr.bin .samples)
collector cards 0 --runs 3
while read -r card address; do
    boot "$card" phases "$card" "$exact" buffer=64M "id=1 address=$address"
    got=results/$card/phases-1
    ok "$card, $address: the trace is complete" "$HR" check "$got/hr.bin"
    is "$card, $address: instructions" "$(total "$got/hr.bin" instructions)" "$wanted"
    is "$card, $address: lost" "$(stat_of "$got/hr.bin" .lost)" 0
    within "$card, $address: samples" "$(stat_of "$got/hr.bin" .samples)" $((samples - 1)) $((samples + 1))
    same_file "$card, $address: stdout" "$got/stdout" reference.out
    like "$card, $address: the log names the address" "$got/log.txt" 'address 10\.0\.2\.15/24'
done <<'CARDS'
virtio-net-pci dhcp
e1000 10.0.2.15/24
e1000e dhcp
CARDS
ended "$collector"
is 'every card: the collector is content' "$status" 0

# Much output through little memory, from a program with a CPU of its own.
lines=700000 # more than the buffer and the small disk hold
[ -z "${HR_TEST_LONG:-}" ] || lines=200000000
gcc -O2 -static -o lines "$ROOT/tests/programs/lines.c"
archive seq --cpus 1 --mode off ./lines $lines 0
seq 1 $lines >seq.out
collector output 0 --runs 1
boot output seq virtio-net-pci "$served" buffer=4M id=2
ended "$collector"
is 'much output: complete' "$status" 0
same_file 'much output: nothing is missing' results/output/seq-1/stdout seq.out

# A trace that is many times as long as the memory that it waits in: on one CPU the program waits, and nothing is lost.
rounds=500 buffer=4M least=16000000
[ -z "${HR_TEST_LONG:-}" ] || rounds=50000 buffer=64M least=2000000000
gcc -O2 -static -o noise "$ROOT/tests/programs/noise.c"
archive noise --cpus 0 -g dwarf,32768 -i 50us ./noise $rounds
run_guest -q --qemu "$emulator" --mode off --cpu max ./noise $rounds
collector much 0 --runs 1
boot much noise virtio-net-pci "$exact" buffer=$buffer id=10
ended "$collector"
is 'a long trace: complete' "$status" 0
within 'a long trace: bytes' "$(stat -c %s results/much/noise-1/hr.bin)" $least 9000000000
ok 'a long trace: every chunk is good' "$HR" check results/much/noise-1/hr.bin
is 'a long trace: lost' "$(stat_of results/much/noise-1/hr.bin .lost)" 0
is 'a long trace: instructions' "$(total results/much/noise-1/hr.bin instructions)" "$(total hr.bin instructions)"
rm results/much/noise-1/hr.bin

# With a CPU of its own the program does not wait: while nobody takes its samples, they are dropped and counted.  In virtual
# time there are as many samples on a busy machine, whose timers come late.
archive drops --cpus 1 -g dwarf,32768 -i 20us ./noise 20000
collector gone 0
boot drops drops e1000e "-smp 2 $virtual" buffer=3M id=11 &
machine=$!
for _ in $(seq 600); do
    [ "$(stat -c %s results/drops/drops-1/hr.bin 2>/dev/null || echo 0)" -lt 1000000 ] || break
    sleep 0.1
done
stopped "$collector" KILL 2>/dev/null
has_worked=$(worked drops)
for _ in $(seq 600); do # for 0.3 s of processor time: many times what the buffer holds
    [ "$(worked drops)" -lt $((has_worked + 30)) ] || break
    sleep 0.1
done
collector back "$port" --runs 1
wait "$machine"
ended "$collector"
is 'nobody takes it: the run is complete all the same' "$status" 0
ok 'nobody takes it: every chunk is good' "$HR" check results/drops/drops-1/hr.bin
within 'nobody takes it: samples that were lost, and counted' "$(stat_of results/drops/drops-1/hr.bin .lost)" 1 1000000
within 'nobody takes it: samples that came' "$(stat_of results/drops/drops-1/hr.bin .samples)" 100 1000000
like 'nobody takes it: the collector says so' back.err 'drops/drops-1: complete: .* samples, [1-9][0-9,]* lost'

# The collector is killed and started again while the program runs.
archive killed --cpus 1 -i 10us ./lines $lines 1000
collector before 0
boot killed killed e1000e "$served" buffer=64M id=3 &
machine=$!
for _ in $(seq 600); do
    [ "$(stat -c %s results/killed/killed-1/stdout 2>/dev/null || echo 0)" -lt 1000000 ] || break
    sleep 0.05
done
stopped "$collector" KILL 2>/dev/null
within 'killed: so much had come' "$(stat -c %s results/killed/killed-1/stdout)" 1000000 $(($(stat -c %s seq.out) - 1))
collector after "$port" --runs 1
wait "$machine"
ended "$collector"
is 'killed: another collector sees the run complete' "$status" 0
same_file 'killed: stdout' results/killed/killed-1/stdout seq.out
ok 'killed: the trace is complete' "$HR" check results/killed/killed-1/hr.bin
is 'killed: lost' "$(stat_of results/killed/killed-1/hr.bin .lost)" 0
like 'killed: the log says so' results/killed/killed-1/log.txt 'connected to the collector again'

# Two machines at once; the disk is full for a while.
mkdir disk
size=100m
mount -t tmpfs -o size=4m none disk 2>/dev/null && { size=4m; trap 'umount "$work/disk"; rm -rf "$work"' EXIT; }
collector two 0 --runs 2 -o disk/results
boot first seq virtio-net-pci "$served" buffer=64M id=4 &
first=$!
boot second seq e1000 "$served" buffer=64M id=5 &
second=$!
if [ $size = 4m ]; then
    ok 'disk full: the collector says so' wait_line two.err 'cannot be written: No space left'
    mount -o remount,size=10g disk
else
    skip 1 'a small file system cannot be mounted'
fi
wait "$first"
wait "$second"
ended "$collector"
is 'two machines: both runs are complete' "$status" 0
same_file 'two machines: the first one'\''s output' disk/results/first/seq-1/stdout seq.out
same_file 'two machines: the second one'\''s' disk/results/second/seq-1/stdout seq.out
[ $size != 4m ] || { umount disk; trap 'rm -rf "$work"' EXIT; }

# The collector loses patience with nobody, and refuses who does not know the token: no program starts then.
echo right >token
collector token 0 --token token -o guarded
boot wrong phases virtio-net-pci "$exact" buffer=64M token=wrong id=6
like 'a wrong token: the machine says so' wrong.serial 'the collector refused: the token is wrong'
ok 'a wrong token: nothing was written' test ! -e guarded/wrong
boot right phases virtio-net-pci "$exact" buffer=64M token=right id=7
is 'the token: accepted' "$(total guarded/right/phases-1/hr.bin instructions)" "$wanted"
stopped "$collector" TERM

# What is not there is named, after half a minute: of the machine, whose clock is a hundred times as fast as its work.
soon='-icount shift=7,sleep=off -smp 1'
boot nobody phases virtio-net-pci "$soon" buffer=64M id=8
NETDEV=hubport,id=net,hubid=0 boot dhcp phases virtio-net-pci "$soon" buffer=64M id=9
like 'no collector: the machine says so' nobody.serial 'no collector: connection refused'
like 'no DHCP answer: the machine says so' dhcp.serial 'no network: .*DHCP'
done_testing
