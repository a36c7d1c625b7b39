#!/bin/sh
# On KVM's own code, with two CPUs for the program: each counts and samples its own, threads meet, and the end finds
# both.  A host CPU for each of the guest's.  Two guests at once, by hr sweep pair.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/kvm/host.sh"

timer='-i 5ms -e instructions,branches'
overflow='-F 50 -e instructions,cycles'

# shellcheck disable=SC2086 # the options are words
plan_cpus() {
    plan_begin
    guest off --cpus 2 -m off -e instructions:u,branches:u -- spin-musl 9000000
    guest overflow --cpus 2 -c 2000003 -e instructions:u,branches:u -- spin-musl 9000000
    guest sync --cpus 2 $timer -- threads-musl sync 2 50
    guest pingpong --cpus 2 $overflow -- threads-musl pingpong 2 200
    guest work --cpus 2 $timer -- calls threads 2 20000000
    guest ipi --cpus 2 -m ipi $timer -- calls threads 2 20000000
    guest race --cpus 2 --mem 128M $overflow -- racefuzz-musl 3 300
    guest exit --cpus 2 $timer -- threads-musl exit 2
    # shellcheck disable=SC2016 # for the shell in there
    inside 'timeout 90 "$HR" sweep pair --accel kvm --repeat 1 --mem 32M -e instructions:u,branches:u -f csv \
        "$WORKLOADS/spin-musl" 2000000 ::: "$WORKLOADS/spin-musl" 3000000 >/out/pair.out 2>/out/pair.err
        echo $? >/out/pair.status; read -r now _ </proc/uptime; echo "$now pair"'
}

for kernel in ${KERNELS:-6.1}; do
    echo "# Linux $kernel"
    plan_cpus
    boot "Linux $kernel" -k "$kernel" -c 3 || continue
    seen off
    off=$(stat_of hr.bin '[.events[].total] | join(" ")')
    is 'one thread: 18 million instructions' "${off%????? *}" 180
    seen overflow
    is 'overflow: the totals are those without sampling' "$(stat_of hr.bin '[.events[].total] | join(" ")')" "$off"
    conserved 'two CPUs, overflow' 2000003
    for run in 'sync 0 sync: sum 150, turns 10' 'pingpong 0 pingpong: 0' 'work 0 calls: threads 2' \
        'ipi 0 calls: threads 2' 'race 0 racefuzz: calls and faults' 'exit 7 exit: while 1 spin'; do
        name=${run%% *} wanted=${run#* }
        seen "$name"
        is "$name: the result" "$status $(cat out)" "$wanted"
        ok "$name: the trace is whole" "$HR" check hr.bin
    done
    seen pair
    is 'a pair' "$status $(cat err)" '0 '
    is 'a pair: its quantities, and with whom they were measured' "$(cut -d, -f 3-4 out | tr '\n' ' ')" \
        'program,quantity A,time_ns A,instructions A,branches B,time_ns B,instructions B,branches '
    is 'a pair: two CPUs' "$(cut -d, -f 2 out | sed 1d | sort -u | wc -l)" 2
    is 'a pair: company changes no count' "$(awk -F, '/instr|branch/ && $5 != $6' out)" ''
    is 'a pair: of millions of instructions' "$(awk -F, '/instr/ { printf "%d ", $5 / 1000000 }' out)" '4 6 '
    is 'a pair: times of both ways, and how much the other one ran' \
        "$(awk -F, 'NR > 1 && ($5 <= 0 || $6 <= 0 || $7 < 0 || $7 > 1)' out)" ''
    for run in work ipi; do
        seen "$run"
        is "$run: samples of both CPUs" "$("$HR" dump --format csv hr.bin | awk -F, 'NR > 1 { n[$2]++ }
            END { for (c in n) cpus += n[c] > 3; print cpus + 0 }')" 2
        within "$run: samples" "$(stat_of hr.bin .samples)" 10 100000
    done
done
done_testing
