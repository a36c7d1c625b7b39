#!/bin/sh
# Traces that lie with checksums that are right: hr check says so, and no reader goes astray.
. "$(dirname "$0")/../lib.sh"
sanitized=$BUILD/unit/hr # by make unit; the command itself finds less
[ -x "$sanitized" ] || sanitized=$HR

"$TOOLS/gentrace" --stacks fp --cpus 2 30000 honest.bin >/dev/null
"$TOOLS/gentrace" --stacks fp --cpus 2 2000 small.bin >/dev/null # the same chunks
records() { "$HR" dump --format records "$1"; }

# lie WHAT...: honest.bin (or $truth) with that lie is liar.bin.
truth=honest.bin
lie() {
    "$TOOLS/lie" "$truth" liar.bin "$@" || exit 1
}

# found NAME REGEX WHAT...: hr check finds the lie, and the summary says that something is wrong.
found() {
    name=$1 words=$2
    shift 2
    lie "$@"
    run_hr check liar.bin
    is "$name: status" "$status" 1
    like "$name: said" out "$words"
    is "$name: not complete for hr stat" "$(stat_of liar.bin .complete)" false
}

lie header 1 time_last +0
run_hr check liar.bin
is 'nothing but the index is missing from what does not lie' "$(grep -c '^  missing\|^  damaged\|^  contra' out)" 1
for lie in 'time_first +1' 'time_first -1' 'time_first 0' 'time_last -1' 'time_last +1' 'time_last 0xffffffffffffffff' \
    'record_count +1' 'sample_count +1' 'lost_count +1'; do
    # shellcheck disable=SC2086
    found "a header that lies about $lie" 'damaged: .*header contradicts its records; DATA chunk of CPU' header 2 $lie
done
end=$(records honest.bin | grep -c '^chunk META\|^chunk DATA')
found 'the END chunk: its time' "header contradicts its records; END chunk" header "$end" time_last +1
found 'samples that never came' 'missing: 4000 samples' poke "$end" 66 0 8 17000
like 'samples that never came: the verdict' out '^liar\.bin: damaged'
found 'more losses than there are' 'contradiction: .*END chunk' poke "$end" 66 8 8 7
found 'fewer chunks than came' 'contradiction: .*END chunk' poke "$end" 66 16 4 0
found 'no account of the CPUs' 'contradiction: .*END chunk' type "$end" 66 200
found 'no META_SAMPLING' 'missing: META' type 0 4 200
found 'two accounts of a CPU' 'contradiction: .*END chunk' copy "$end" "$end"
found 'samples with other numbers of events than META says' 'does not decode; DATA' poke 0 4 24 4 4
found 'a second META_SAMPLING with another number' 'does not decode; META' copy 0 2 poke 2 4 24 4 13
found 'a second clock' 'does not decode; META' copy 0 2 poke 2 2 0 8 7
found 'an event that samples do not hold' 'does not decode; META' copy 0 2 poke 2 3 16 2 9
found 'a base that is none' 'does not decode; DATA' type 1 32 200
found 'totals of more events than there are' 'does not decode; END' poke "$end" 65 8 2 12

# Whoever reads says so, as hr check does; and says nothing of the kind without a lie.
truth=small.bin
# silent FILE: prints the readers that find nothing wrong with it.
silent() {
    for command in stat report timeline hist noise dump 'annotate main' 'view -o -' 'plot -o -' 'export csv -o -' 'export folded -o -' \
        'diff small.bin'; do
        # shellcheck disable=SC2086
        "$HR" $command "$1" >out 2>err
        cat out >>err
        [ "${command%% *}" = stat ] || sed -i '/^hr: /!d' err
        grep -qaE "incomplete|damaged" err || echo "$command"
    done
}
for lie in 'header 1 time_first +1' 'header 1 record_count +1' 'copy 0 2 poke 2 4 24 4 13'; do
    # shellcheck disable=SC2086
    lie $lie
    is "$lie: every reader says that something is wrong" "$(silent liar.bin)" ''
done
is 'no lie: no reader says so' "$(silent small.bin | grep -c .)" 12

# What once read beyond its memory.
for lie in 'type 0 4 200' 'type 0 4 200 copy 0 3' 'drop 0' 'copy 0 4 poke 0 4 24 4 1' 'type 0 4 200 copy 0 5 type 5 200 4 poke 5 4 24 4 13' \
    'type 0 4 200 type 1 32 200' 'drop 0 poke 0 32 28 4 0' 'drop 0 poke 0 32 28 4 13'; do
    # shellcheck disable=SC2086
    lie $lie
    for command in stat timeline 'timeline --per thread --format json' 'timeline --format csv' 'plot -p timeline -o -' 'report --stacks' \
        noise hist 'dump' 'view -o -' 'export sqlite --force -o x' 'export pprof -o -' 'diff small.bin'; do
        # shellcheck disable=SC2086
        timeout -k 5 100 "$sanitized" $command liar.bin >out 2>err
        ended=$?
        [ $ended -le 2 ] || echo "$command: status $ended: $(grep -a ERROR err)"
    done >astray
    is "$lie: all readers come back" "$(cat astray)" ''
done
done_testing
