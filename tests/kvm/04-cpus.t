#!/bin/sh
# On KVM's own code, with two CPUs for the program: each counts and samples its own, threads meet, and the end finds
# both.  A host CPU for each of the guest's.
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
    for run in work ipi; do
        seen "$run"
        is "$run: samples of both CPUs" "$("$HR" dump --format csv hr.bin | awk -F, 'NR > 1 { n[$2]++ }
            END { for (c in n) cpus += n[c] > 3; print cpus + 0 }')" 2
        within "$run: samples" "$(stat_of hr.bin .samples)" 10 100000
    done
done
done_testing
