#!/bin/sh
# hr stat --machine and hr diff --machine on traces of made-up machines; warnings, JSON, hostile texts.
. "$(dirname "$0")/../lib.sh"

for kind in quiet troubled; do
    "$TOOLS/genviews" machine-$kind $kind.bin || exit 1
done
golden=$ROOT/tests/golden

run_hr stat quiet.bin
is 'a quiet machine: status' "$status" 0
is 'a quiet machine: no warning' "$(grep -c Warning out)" 0
run_hr stat troubled.bin
like 'a troubled one: what happened, in one line' out \
    '^ Warning: 3 SMIs .* throttled \(too hot, power limit\); the frequency moved by 33 % \(CPU 1: 2\.400 GHz to 3\.200 GHz\); CPU 1 ran at 2\.900 GHz, 145 % of the base frequency; hr stat --machine troubled\.bin$'
is 'no more than one' "$(grep -c Warning out)" 1

run_hr stat --machine quiet.bin
is 'the machine: status' "$status.$(cat err)" '0.'
like 'in groups' out '^ Firmware$'
like 'processor' out '^   model +Example CPU 9000$'
like 'sizes have units' out '^   installed +68\.72 GB$'
like 'ranges' out '^   map: RAM +68\.00 GB in 3 ranges$'
like 'CPUs: what it found before the run does not count' out \
    '^ +1 +2 +- +2\.000 GHz +2\.000 GHz +2\.000 GHz +0 +38 C +no$'
like 'CPUs: what is not known is not shown as none' out '^ +2 +4 +- .* - +- +-$'
is 'no warning' "$(grep -c Warning out)" 0
run_hr stat --machine troubled.bin
like 'a troubled CPU is marked' out '^ +1 +2 +Core .* 3 +1 C +too hot, power limit  <--$'
like 'a count that wraps around counts on' out ' 3 +1 C '
like 'different microcode is said' out 'CPU 1 has microcode 0xd000389, CPU 2 0xd0003a5$'
is 'warnings: run, siblings, TSC, turbo' "$(grep -c '^ Warning: ' out)" 4
like 'a text of the trace cannot steer the terminal' out 'Bench\\x1b\[31m 1'
is 'no escape character' "$(tr -d -c '\033' <out | wc -c)" 0

is 'JSON: facts' "$(stat_of quiet.bin '.machine.facts | [.processor, .turbo, .smis, .throttled, .frequency] | @csv')" \
    '"Example CPU 9000","off","0","none","2.000 GHz"'
is 'JSON: CPUs' "$(stat_of troubled.bin '.machine.cpus[0] | [.cpu, .apic_id, .core_kind, .smis, .thermal.throttled, .thermal.margin, .frequency_hz.before] | @csv')" \
    '1,2,64,3,true,1,3200000000'
is 'JSON: unknown is null' "$(stat_of quiet.bin '.machine.cpus[1] | [.smis, .thermal]' | tr -d ' \n')" '[null,null]'
is 'JSON: warnings' "$(stat_of troubled.bin '.machine.warnings | length')" 4
run_hr stat --machine --json troubled.bin
stat_of troubled.bin .machine >machine.json
is 'the same object alone' "$(jq -cs '.[0] == .[1]' out machine.json)" true # jq 1.7 writes 0.0 as it read it

run_hr diff --machine quiet.bin troubled.bin
is 'diff: status 0 though they differ' "$status.$(cat err)" '0.'
is 'what explains most comes first' "$(grep '^ [A-Z]' out | head -n 5 | tr '\n' ';')" \
    ' Processor: microcode; Frequency: turbo; During the run: mean frequency; During the run: throttled; During the run: SMIs;'
is 'what is the same is left out' "$(grep -c 'L2\|model' out)" 0
is 'of features only those that the other lacks' "$(grep -A 2 'features$' out | tail -n 2 | tr -s ' ' | tr '\n' ';')" \
    ' before avx512f; after vaes;'
like 'what one does not say' out '^   before  not said$'
is 'no escape character in diff' "$(tr -d -c '\033' <out | wc -c)" 0
run_hr diff --machine --format csv quiet.bin troubled.bin
is 'csv' "$(sed -n 1,3p out | tr '\n' ';')" 'fact,before,after;microcode,0xd0003a5,0xd000389;turbo,off,on;'
"$HR" diff --machine --format json quiet.bin troubled.bin >out
is 'json' "$(jq -c '[.[0].fact, (.[] | select(.fact == "siblings_active") | .before, .after)]' out)" '["microcode",null,"2,3"]'
run_hr diff --machine troubled.bin troubled.bin
is 'the same machine: nothing' "$status.$(tail -n 1 out)" '0.the machines are the same in all that the traces say'
"$HR" diff --machine --format json quiet.bin quiet.bin >out
is 'the same machine: an empty list' "$(jq -c . out)" '[]'

run_hr stat --machine "$golden/machine.bin"
like 'in virtual time there are SMIs and no frequency' out '^ +1 +2 +Core +- +- +- +2 '
run_hr stat --machine "$golden/events5.bin"
like 'a trace that does not say' out 'unknown: the trace is from an older version$'
head -c 700 "$golden/machine.bin" >cut.bin
run_hr stat --machine cut.bin
like 'a trace that was cut off' out 'unknown: the trace ends before the program does$'
run_hr stat --machine --from 1ms quiet.bin
is 'a part of the run: refused' "$status" 2
like 'in words' err '^hr: --machine is about the whole run'
for option in '--fail-above 1%' '--event samples' '--by function' '--min 0' '--limit 0' '--function main' '--old-program x'; do
    # shellcheck disable=SC2086
    run_hr diff --machine $option quiet.bin quiet.bin
    is "diff --machine $option: refused" "$status" 2
    like "diff --machine $option: in words" err "leave out ${option%% *}\$"
done
run_hr diff --machine quiet.bin nowhere.bin
is 'no such trace: status' "$status" 1
like 'which one' err '^hr: nowhere\.bin: '
done_testing
