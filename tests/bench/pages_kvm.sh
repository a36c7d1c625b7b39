#!/bin/sh
# What looks at the page tables take of a program's time on KVM's own code: runs with and without them, in turn, inside the
# host that kvm-host boots.  RUNS of each (11), ROUNDS of the program touched (100), TIME between looks (20ms: everything takes
# 10 to 20 times as long in there as on a machine).
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/kvm/host.sh"

rounds=${ROUNDS:-100} count=${RUNS:-11}

plan_runs() {
    plan_begin
    for i in $(seq "$count"); do
        guest "without-$i" -q --mem 64M -m off -- "$TOOLS/touched" 1024 10 10 "$rounds"
        guest "with-$i" -q --mem 64M -m off --pages "${TIME:-20ms}" -- "$TOOLS/touched" 1024 10 10 "$rounds"
    done
}

# spent NAME: the least of its times, and the median.
spent() {
    cat results/"$1"-*.out | sort -n | awk '{ value[NR] = $1 } END { print value[1], value[int((NR + 1) / 2)] }'
}

plan_runs
boot 'looks under KVM' || exit 1
seen "with-$count"
looks=$("$HR" memory -f json hr.bin | jq .look_count)
echo "$(spent without) $(spent with) $looks" | awk '{
    printf "least: without %.1f ms, with %.1f ms: %+.2f %%\n", $1 / 1e6, $3 / 1e6, 100 * ($3 / $1 - 1)
    printf "median: without %.1f ms, with %.1f ms: %+.2f %%; %d looks in the last run\n", $2 / 1e6, $4 / 1e6, 100 * ($4 / $2 - 1), $5 }'
