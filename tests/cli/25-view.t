#!/bin/sh
# hr view: the page in a headless Chromium, against what the terminal's reports say of the same trace.
. "$(dirname "$0")/../lib.sh"
command -v chromium >/dev/null || skip_all 'chromium is not installed'

# look SCENARIO PAGE [ARGUMENT]: what a reader sees, as JSON in the file seen.
look() {
    timeout -k 10 "$LIMIT" python3 "$ROOT/tests/view/page.py" "$@" >seen 2>seen.err || {
        echo "# $*: $(tail -n 3 seen.err)"
        echo '{"problems": ["the browser failed"]}' >seen
    }
    is "$1 $2: no error, nothing asked for" "$(jq -c .problems seen)" '[]'
}
seen() { jq -r "$1" seen; }

# counts OPTION...: samples of each function as JSON, from hr dump
counts() {
    "$HR" dump --format csv "$@" | awk -F, 'NR > 1 { sub(/\+0x.*/, "", $5); n[$5]++ }
        END { for (f in n) printf "{\"%s\": %d}\n", f, n[f] }' | jq -cS -s add
}

run_guest -i 1us "$WORKLOADS/phases"
is 'a run' "$status" 0
run_hr view
is 'view: status' "$status$(cat out err)" 0
ok 'view: the page is beside the trace' test -s hr.html
ok 'view: no address of the network in it but in comments' sh -c \
    'test "$(grep -vE "^(<!--|.*(licen|copyright))" hr.html | grep -oiE "(src|href)=.?https?://" | wc -l)" = 0'

look overview hr.html
samples=$(stat_of hr.bin .samples)
is 'title' "$(seen .title)" 'phases – Microtome'
is 'all samples are in the profile' "$(seen '[.counts[]] | add')" "$samples"
is 'functions: the same counts as hr dump' "$(seen .counts | jq -cS 'del(.[] | select(. < 10))')" \
    "$(counts hr.bin | jq -cS 'del(.[] | select(. < 10))')"
is 'badges say what is no measurement' "$(seen '.badges | index("stub counters") != null')" true
is 'checks say so, too' "$(seen '[.checks[] | select(startswith("warn: cycles, branches"))] | length')" 1
is 'lanes' "$(seen '.lanes | join(",")')" 'thread 1000,system calls,output'
is 'flame graph: hottest functions' "$(seen '[.frames[] | select(startswith("phase_"))] | length')" 4

# a span within one phase: sift_down alone runs there, as hr report says
look select hr.html 30000000:31000000
is 'selection: title' "$(seen .title)" 'Profile of the selection'
from=$(seen '.selection[0] | ceil') to=$(seen '.selection[1] | ceil - 1')
is 'selection: counts of exactly that span' "$(seen .counts | jq -cS .)" \
    "$(counts --from "${from}ns" --to "${to}ns" hr.bin)"
is 'selection: the graph shows it' "$(seen '.frames[0] | split(":")[1]')" \
    " $(seen '[.counts[]] | add' | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta') samples, 100.0 %; itself 0.0 %"
is 'selection: another profile than the run' "$(seen '.counts == .before.counts')" false

look zoom hr.html
is 'zoom: the wheel goes near' "$(seen '.near < .all / 1000')" true
is 'zoom: down to single samples' "$(seen .points)$(seen '.words[1]')" 'trueevery sample'
is 'zoom: keys move and show all' "$(seen .moved),$(seen '.again == .all')" 'true,true'

look search hr.html phase_c
is 'search: in table and graph' "$(seen .marked) $(seen '.lit | sort | join(",")')" '2 phase_chase,phase_compute'
is 'search: words' "$(seen .found | cut -d, -f1)" '2 functions'
is 'search: Escape ends it' "$(seen .after)" ''

look theme hr.html
is 'light, then dark' "$(seen .theme) $(seen .other) $(seen '.ground != .other_ground')" 'light dark true'
look dark hr.html
is 'dark where the system is' "$(seen .theme)" dark

echo precious >notes.html
run_hr view -o notes.html hr.bin
is 'a file that is no page: refused' "$status$(cat notes.html)" 1precious
like 'a file that is no page: said' err "'notes\.html' exists and is no page of hr view; .* --force$"
run_hr view --force -o notes.html hr.bin
is 'a file that is no page: --force' "$status$(head -c 15 notes.html)" '0<!doctype html>'
run_hr view -o - hr.bin
is 'to standard output' "$status$(cmp out hr.html && echo same)" 0same
run_hr view -o hr.bin hr.bin
is 'not over the trace' "$status" 1
run_hr view -o /dev/full hr.bin
is 'full disk: status' "$status" 1
like 'full disk: said' err 'No space left on device'
run_hr view --from 10s -o nothing.html hr.bin
is 'nothing selected: status' "$status$(ls nothing.html 2>/dev/null)" 1
like 'nothing selected: said' err 'nothing is selected'
done_testing
