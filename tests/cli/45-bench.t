#!/bin/sh
# hr bench: commands, their parameters, what is done on the host, exports.  hr bench memory: what it prints, that an emulator's peak is not kept, and what it refuses.
. "$(dirname "$0")/../lib.sh"

run_hr bench memory --accel tcg --size 1M
is 'status' "$status" 0
is 'a row for each size' "$(awk '/KiB/ { printf "%s ", $1 }' out)" '16 32 64 128 256 512 1024 '
is 'four figures a row' "$(awk '/KiB/ && $3 > 0 && $4 > 0 && $5 > 0 && $6 > 0' out | wc -l)" 7
is 'emulation is named' "$(cat err)" \
    "hr: the run was emulated: these figures are the emulator's, and no peak is kept"
fails 'no peak is kept' sh -c 'test -e cache/microtome/peak-*'
run_hr bench memory --accel tcg --size 1M --format json
is 'json' "$(jq -c '[.emulated, (.sizes | length), (.sizes[6] | .size, .read_bytes_per_us > 0)]' out)" '[true,7,1048576,true]'

run_hr bench memory disk
is 'memory takes no argument' "$status.$(head -n 1 err)" '2.hr bench memory: disk: hr bench memory takes options only; leave it out'
run_hr bench memory --size 1K
is 'a size that is too small' "$status" 2
run_hr bench memory --qemu /nonexistent --accel tcg
like 'a run that fails: the reason' err '^hr: bench memory: the run ended with status 12[57]: .*/nonexistent'
ok 'a run that fails: status' test "$status" -ne 0
is 'nothing is left' "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'microtome-bench.*' -user "$(id -u)" -newer "$work" | wc -l)" 0

# Commands: phases runs the same code once, twice ...
bench() { run_hr bench -q --accel tcg "$@"; }
bench --export all.json --export all.csv --export all.md -P 'n=1..3..2' -L 'what=hello,spin' -- "$WORKLOADS/{what}" '{n}'
is 'each command with each value' "$status $(jq -c '[.results[].parameters | .n + .what]' all.json)" '0 ["1hello","1spin","3hello","3spin"]'
is 'one run of each in virtual time' "$(jq -c '[.results[] | .exact, (.times | length)] | unique' all.json)" '[true,1]'
on_host() { "$HR" run -q -m off -o "$1" --accel tcg "$WORKLOADS/spin" 3 </dev/null >/dev/null 2>&1 && "$HR" stat --json "$1"; }
is 'what hr run counts' "$(jq '.results[3].events.instructions.values[0]' all.json)" "$(on_host alone.bin | jq '.events[0].total')"
is 'its time' "$(jq '.results[3].mean * 1e9 | round' all.json)" "$("$HR" stat --json alone.bin | jq .duration_ns)"
is 'csv: the same' "$(awk -F, 'NR == 5 { print $8 }' all.csv)" "$(jq '.results[3].events.instructions.values[0]' all.json)"
is 'csv: parameters' "$(head -n 1 all.csv)" 'command,mean,stddev,median,min,max,runs,instructions,cycles,relative,parameter_n,parameter_what'
is 'markdown: a row each' "$(grep -c '^| `' all.md)" 4
is 'the fastest' "$(grep ' ran$' out)" "$(jq -r '.results | min_by(.mean) | .command' all.json) ran"
times=$(jq '[.results[].mean] | max / min * 100 | round / 100' all.json)
like 'and how many times as fast' out "^  ${times}0* times as fast as "

# A signal ends what a command of the host started, too.
# shellcheck disable=SC2016
"$HR" bench -q --accel tcg --prepare 'sh -c "echo \$\$ >there; exec sleep 60"; :' -- /bin/true >/dev/null 2>&1 &
for _ in $(seq 200); do
    [ ! -s there ] || break
    sleep 0.05
done
kill -TERM $!
wait $!
is 'a signal: status' $? 143
for _ in $(seq 100); do
    kill -0 "$(cat there)" 2>/dev/null || break
    sleep 0.05
done
fails 'a signal: no process is left' kill -0 "$(cat there)"

# Commands of the host, with the parameters, in their order; words and quotes of a command.
# shellcheck disable=SC2016
bench --repeat 2 --warmup 1 --setup 'echo setup {n} >>log' --prepare 'echo prepare >>log' --cleanup 'echo cleanup {n} >>log' \
    -P n=7..8 --command "$WORKLOADS/hello '{n} a'" --command /bin/true
is 'setup, prepare and cleanup' "$(tr '\n' ',' <log)" "$(for i in 7 8 7 8; do printf 'setup %s,prepare,prepare,prepare,cleanup %s,' $i $i; done)"
like 'a word with a blank' out "hello '7 a' +2 "
bench --cpus 1 -- "$WORKLOADS/hello"
is 'without virtual time: ten runs at least' "$(awk '$2 >= 10 && $1 ~ /hello/' out | wc -l)" 1

# shellcheck disable=SC2016
bench --env "LONG=$(printf %09000d 0)" -- /bin/sh -c 'exit $((${#LONG} != 9000))'
is 'a long option is handed on whole' "$status $(cat err)" '0 '

# What fails.
bench -- /bin/true ::: /bin/false ::: /bin/true
is 'a program that fails' "$status $(head -n 1 err)" '1 hr: /bin/false ended with status 1; --ignore-failure measures it all the same'
is 'what was before is shown' "$(grep -c '^/bin' out)" 1
bench --ignore-failure -- /bin/false
is 'measured all the same' "$status $(grep '^#.*failed' out)" '0 # /bin/false: 1 of 1 runs failed; run 1 ended with status 1'
bench --setup 'echo no >&2; exit 3' --cleanup 'echo cleaned >cleaned' -- /bin/true
is 'a setup that fails' "$status $(cat err)" '125 hr: --setup ended with status 3: no'
is 'is cleaned up' "$(cat cleaned)" cleaned
bench -- "$work/none"
like 'no such program' err '^hr: .*/none: a run ended with status 127 and no whole trace: '
echo mine >mine.csv
bench --export mine.csv -- /bin/true
is 'a file that is no export' "$status $(cat mine.csv)" '125 mine'
bench --export all.csv -- /bin/true
is 'an export is replaced' "$status $(wc -l <all.csv)" '0 2'
bench --export all.txt -- /bin/true
like 'no such format' err 'name a file FILE.json, FILE.csv or FILE.md'
run_hr bench
is 'nothing to measure' "$status.$(head -n 1 err)" '2.hr bench: say what to measure: a command, or memory'
bench -- /bin/true :::
like 'an empty command' err 'a command is empty'
bench --command "/bin/true 'x"
like 'a quote without an end' err 'a quote has no end'
bench -P n=2..1 -- /bin/true
like 'no range' err 'not a range; write n=1..10'
bench -P n=1..100 -P m=1..100 -- /bin/true
like 'too many combinations' err 'more than 1000 combinations'
done_testing
