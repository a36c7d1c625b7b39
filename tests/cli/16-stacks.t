#!/bin/sh
# Call stacks in a trace: what the readers show of them.
. "$(dirname "$0")/../lib.sh"

# stacks FILE [OPTION...]: the time and the stack of each sample.
stacks() {
    "$HR" dump --format records "$@" | sed -n 's/^  sample time=\([0-9]*\) .* stack=/\1 /p'
}

"$TOOLS/gentrace" --stacks fp --cpus 2 --threads 2 --marks 30000 fp.bin || exit 1
run_hr check fp.bin
is 'check: a trace with stacks is complete' "$status" 0
run_hr dump --format records fp.bin
like 'dump: that there are stacks' out '^  stacks kind=1 limit=127$'
like 'dump: records of stacks' out '^  sample_stacks bytes=[0-9]*$'
like 'dump: a stack' out '^  sample time=.* stack=(0x[0-9a-f]*,)+whole$'
stacks fp.bin >all
sort all >sorted
# others FILE: lines of FILE that are not among all.
others() { sort "$1" | comm -23 - sorted | wc -l; }
is 'every sample has a stack' "$(wc -l <all)" 30000
is 'stacks are about as deep as was asked for' \
    "$(awk '{ sum += split($2, frames, ",") - 1 } END { print int(sum / NR + 0.5) }' all)" 20
stacks --from 2ms --to 3ms fp.bin >part
is 'a selection: samples' "$(wc -l <part)" "$(awk '$1 >= 3000000 && $1 <= 4000000' all | wc -l)"
is 'a selection: the same stacks' "$(sort part)" "$(awk '$1 >= 3000000 && $1 <= 4000000' all | sort)"
stacks --thread 3 --cpu 1 fp.bin >thread
is 'a thread: stacks of its own' "$(others thread)" 0
ok 'a thread: some of them' test -s thread

"$TOOLS/gentrace" --stacks fp --limit 10 5000 short.bin || exit 1
stacks short.bin >shortened
is 'a limit: stacks that are longer are cut' \
    "$(awk '{ n = split($2, frames, ","); print n - 1, frames[n] }' shortened | grep -c '^10 cut$')" \
    "$(grep -c ',cut$' shortened)"
ok 'a limit: most are' test "$(grep -c ',cut$' shortened)" -gt 4000

run_hr stat short.bin
like 'stat: what stacks they are' out '5,000  call stacks +by frame pointers, up to 10 frames; [0-9.]+ bytes a sample$'
like 'stat: how many are cut' out ' cut +they have more frames$'
is 'stat: JSON' "$(stat_of short.bin '.stacks | [.kind, .limit, .cut, .broken, .none] | @csv')" \
    "\"fp\",10,$(grep -c ',cut$' shortened),0,0"
is 'stat: JSON: bytes are those of the records' "$(stat_of short.bin .stacks.bytes)" \
    "$("$HR" dump --format records short.bin | sed -n 's/^  \(stack_nodes\|sample_stacks\) bytes=//p' | awk '{ sum += $1 + 4 } END { print sum }')"
is 'stat: a part' "$("$HR" stat --json --from 1ms --to 2ms short.bin | jq .stacks.cut)" \
    "$(awk '$1 >= 2000000 && $1 <= 3000000' shortened | grep -c ',cut$')"
is 'stat: several threads count the same' "$("$HR" stat --json --jobs 2 fp.bin | jq -c .stacks)" \
    "$("$HR" stat --json --jobs 1 fp.bin | jq -c .stacks)"

"$TOOLS/gentrace" 30000 plain.bin || exit 1
run_hr dump --format records plain.bin
is 'a trace without stacks: none are shown' "$(grep -c stack out)" 0
is 'a trace without stacks: stat' "$(stat_of plain.bin .stacks)" null

# Half a trace still has the stacks of its whole chunks.
head -c 200000 fp.bin >half.bin
stacks half.bin >half 2>/dev/null
is 'truncated: what is there is right' "$(others half)" 0
ok 'truncated: and something is there' test -s half

done_testing
