#!/bin/sh
# hr view: the page in a headless Chromium, against what the terminal's reports say of the same trace.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/view/look.sh"

# counts OPTION...: samples of each function as JSON, from hr dump
counts() {
    "$HR" dump --format csv "$@" | awk -F, 'NR > 1 { sub(/\+0x.*/, "", $5); n[$5]++ }
        END { for (f in n) printf "{\"%s\": %d}\n", f, n[f] }' | jq -S -s add
}

run_guest -i 1us -e "$five" "$WORKLOADS/phases"
is 'a run' "$status" 0
cp hr.bin phases.bin
run_hr view
is 'view: status' "$status$(cat out err)" 0
ok 'view: the page is beside the trace' test -s hr.html
ok 'view: no address of the network in it but in comments' sh -c \
    'test "$(grep -vE "^(<!--|.*(licen|copyright))" hr.html | grep -oiE "(src|href)=.?https?://" | wc -l)" = 0'

look hr.html overview zoom search=phase_c theme select=30000000:31000000 'hover=system calls'
samples=$(stat_of hr.bin .samples)
is 'title' "$(seen .overview.title)" 'phases – Microtome'
is 'all samples are in the profile' "$(seen '[.overview.counts[]] | add')" "$samples"
jq -S .overview.counts seen >got
counts hr.bin >wanted
same_file 'functions: the same counts as hr dump' got wanted
sees <<'END'
badges say what is no measurement :: .overview.badges | index("stub counters") != null :: true
checks say so, too :: [.overview.checks[] | select(startswith("warn: cycles, branches"))] | length :: 1
emulated: opens with functions over time, not with stubs :: .overview.tracks | join(",") :: functions of CPU time
END
is 'bands of functions: their shares of the run, within 1 %' "$(seen '.overview | ([.counts[]] | add) as $all | .counts as $counts | .bands.functions |
    [to_entries[] | select(.key | startswith("phase_")) | .value - $counts[.key] / $all | fabs | select(. > 0.01)], [to_entries[].key | select(startswith("phase_"))] | length' | tr '\n' ' ')" '0 4 '
sees <<'END'
stubs are marked where they can be chosen :: [.overview.choices[] | select(test("^(IPC|branch|cycles|cache)")) | select(endswith(" (stub)") | not)] | length :: 0
no column of a stub :: [.overview.heads[] | select(test("IPC|/k"))] | length :: 0
no regions: no table of them :: .overview.regions | length :: 0
no stacks: no column of totals :: .overview.heads | join(",") :: Self ▾,Function
lanes :: .overview.lanes | join(",") :: system calls,output,thread 1000
flame graph: hottest functions :: [.overview.frames[] | select(startswith("phase_"))] | length :: 4
END

is 'selection: title' "$(seen .select.title)" 'Profile of the selection'
from=$(seen '.select.selection[0] | ceil') to=$(seen '.select.selection[1] | ceil - 1')
jq -S .select.counts seen >got
counts --from "${from}ns" --to "${to}ns" hr.bin >wanted
same_file 'selection: counts of exactly that span' got wanted
is 'selection: the graph shows it' "$(seen '.select.frames[0] | split(":")[1]')" \
    " $(seen '[.select.counts[]] | add' | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta') samples, 100.0 %; itself 0.0 %"
is 'selection: another profile than the run' "$(seen '.select.counts == .select.before.counts')" false

sees <<'END'
zoom: the wheel goes near :: .zoom.near < .zoom.all / 1000 :: true
zoom: down to single samples :: "\(.zoom.points)\(.zoom.words[1])" :: trueevery sample
zoom: keys move and show all :: "\(.zoom.moved),\(.zoom.again == .zoom.all)" :: true,true
END

is 'search: in table and graph' "$(seen '"\(.search.marked) \(.search.lit | sort | join(","))"')" '2 phase_chase,phase_compute'
is 'search: words' "$(seen .search.found | cut -d, -f1)" '2 functions'
is 'search: Escape ends it' "$(seen .search.after)" ''

sees <<'END'
light, then dark :: "\(.theme.theme) \(.theme.other) \(.theme.ground != .theme.other_ground)" :: light dark true
pointer: a system call has a name :: .hover.tip | split("\n")[0] :: brk
END

# Scroll bars come when the page grows: the timeline keeps its right end.
for size in 1400x1200 900x700; do
    look hr.html bars "layout=$size"
    is "$size: nothing is wider than its place" "$(seen '.layout | "\(.bar > 0) \(.cut) \(.beyond) \(.plots | add)"')" 'true [] 0 0'
    is "$size: rows that have room need no scroll bar" "$(seen '.layout.fits | join(",")')" ''
done

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

# names from a hostile program: its file, its functions
cat >evil.S <<'END'
    .globl _start
    .type _start, @function
_start: nop
    .fill 4096, 1, 0x90
    .size _start, . - _start
    .globl "<img src=x onerror=alert(1)>"
    .type "<img src=x onerror=alert(1)>", @function
"<img src=x onerror=alert(1)>":
    .fill 65536, 1, 0x90
    .size "<img src=x onerror=alert(1)>", . - "<img src=x onerror=alert(1)>"
END
for name in '</script><script>alert(1)</script>' "safe$(printf '\342\200\256')txt"; do
    printf '.globl "%s"\n.type "%s", @function\n"%s":\n.fill 65536, 1, 0x90\n.size "%s", . - "%s"\n' \
        "$name" "$name" "$name" "$name" "$name" >>evil.S
done
evil='"><b-evil>&'\''.elf'
gcc -nostdlib -static -Wl,--build-id=sha1 -o "$evil" evil.S 2>/dev/null # of names that turn lines it warns
"$TOOLS/gentrace" --elf "$evil" --marks 30000 evil.bin
run_hr view evil.bin
is 'hostile names: status' "$status$(grep -v 'no debug information: showing no lines and no inlined functions' err)" 0
look evil.html dark overview
is 'dark where the system is' "$(seen .overview.theme)" dark
is 'hostile names: shown as text' \
    "$(seen '[.overview.functions[].name] | index("<img src=x onerror=alert(1)>") != null')" true
is 'hostile names: no script ends, and no line turns' \
    "$(seen '[.overview.functions[].name] | map(select(test("script|txt"))) | sort | join(" ")')" '</script><script>alert(1)</script> safe\xe2\x80\xaetxt'
sees <<'END'
hostile names: in the graph :: [.overview.frames[] | select(startswith("<img src=x onerror=alert(1)>"))] | length :: 1
hostile names: the title :: .overview.title | contains("<b-evil>") :: true
hostile names: no element of theirs :: .overview.elements | length :: 0
END

# several CPUs, threads and call stacks
"$TOOLS/gentrace" --elf "$WORKLOADS/phases" --stacks fp --cpus 3 --threads 2 --marks --depth 8 60000 stacks.bin
run_hr view stacks.bin
look stacks.html overview split
is 'CPUs: rows of all, then of each' "$(seen '"\(.overview.tracks | join(",")) \(.split | join(","))"')" \
    'functions of CPU time,CPU usage by thread CPU 0 ,CPU 0 ,CPU 1 ,CPU 1 ,CPU 2 ,CPU 2 '
is 'threads and marks: lanes' "$(seen '.overview.lanes | join(",")')" \
    'marks,thread 1,thread 2,thread 3,thread 4,thread 5,thread 6'
jq -S .overview.counts seen >got
counts stacks.bin >wanted
same_file 'stacks: the same counts as hr dump' got wanted
sees <<'END'
stacks: a column of totals :: .overview.heads[1] :: Total
stacks: said how they ended :: [.overview.checks[] | select(contains("call stacks: "))] | length :: 1
END

"$TOOLS/gentrace" --elf "$WORKLOADS/phases" 1000000 large.bin
run_hr view large.bin
within 'a large trace: bytes of the page' "$(stat -c %s large.html)" 100000 4000000
look large.html select=700000000:900000000
is 'a large trace: the page has its functions by blocks' "$(seen '[.select.counts[]] | add > 190000 and add < 210000')" true

# the smallest trace: nothing but facts
run_guest -i 1ms "$WORKLOADS/hello"
run_hr view
is 'no samples: status' "$status" 0
like 'no samples: said' err 'no samples; the page shows the run'
look hr.html overview
is 'no samples: a page all the same' "$(seen .overview.range)" "$(seen '.overview.badges[0]') · 0 samples"

# a program that measures itself with libhr: the figures of hr stat
run_guest -q -i 1us "$WORKLOADS/regions" regions 10
run_hr view
look hr.html overview
is 'regions: names and passes, most time first' "$(seen '[.overview.regions[] | "\(.[0]) \(.[1])"] | join(",")')" \
    "$(stat_of hr.bin '[.regions | sort_by(-.ticks.sum)[] | "\(.name) \(.passes)"] | join(",")')"
is 'regions: instructions of a pass' "$(seen '[.overview.regions[] | select(.[0] == "empty")][0][8]')" \
    "$(stat_of hr.bin '[.regions[] | select(.name == "empty")][0].events[0].mean')"
is 'marks are on the timeline' "$(seen '"\(.overview.marks | join(",")):\(.overview.lanes[0])"')" 'regions begin,regions end:marks'

# call stacks that lack callers: the page's head says so, and what helps
run_guest -q -g -i 10us "$TOOLS/calls-frameless" recursion 5 200
run_hr view
look hr.html overview
is 'broken stacks: a badge with the remedy' \
    "$(seen '[.overview.badges[] | select(test("^[0-9.]+ % of stacks broken: -g dwarf needs no frame pointers$"))] | length')" 1
run_guest -q -g dwarf,512 -i 10us "$WORKLOADS/calls" recursion 5 200
run_hr view
look hr.html overview
is 'copies of stacks that are too short: a badge with the remedy' \
    "$(seen '[.overview.badges[] | select(test("^[0-9.]+ % of stacks cut: -g dwarf,1024 keeps more callers$"))] | length')" 1
run_guest -q -g dwarf -i 10us "$WORKLOADS/calls" recursion 5 1000000
run_hr view
look hr.html overview
is 'whole stacks: no badge' "$(seen '[.overview.badges[] | select(contains("stacks"))] | length')" 0

# inlined functions: frames of the graph; the table counts them for what holds them, as hr report does
cat >inlines.c <<'END'
static volatile unsigned long sink;
static inline __attribute__((always_inline)) void deep(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        sink += i;
}
static inline __attribute__((always_inline)) void middle(unsigned long n)
{
    deep(n);
    sink++;
}
__attribute__((noinline)) void work(unsigned long n) { middle(n); }
int main(void)
{
    work(2000000); /* the start of a static program, gcc's 14 too, is a small part */
    return 0;
}
END
gcc -g -O2 -fno-omit-frame-pointer -static -o inlines inlines.c
for stacks in '' '-g'; do
    # shellcheck disable=SC2086
    run_guest -q $stacks -i 1us ./inlines
    run_hr view
    look hr.html overview inlined
    is "inlined${stacks:+, with stacks}: frames below the function that holds them" \
        "$(seen '[.overview.frames[] | select(test("^(work|middle|deep)")) | split(" ")[0:2] | join(" ")] | sort | join(",")')" \
        'deep (inlined),middle (inlined),work '
    jq -S .overview.counts seen >got
    counts hr.bin >wanted
    same_file "inlined${stacks:+, with stacks}: the same counts as hr dump" got wanted
    is "inlined${stacks:+, with stacks}: apart, in the table and as bands" \
        "$(seen '.inlined | "\(.hidden) \(.bands | index("deep") != null) \([.counts[]] | add) \(.counts["deep (inlined)"] > .counts.work)"')" \
        "false true $(stat_of hr.bin .samples) true"
done
is 'stacks that end where threads begin are whole: no badge' "$(seen '[.overview.badges[] | select(contains("stacks"))] | length')" 0

# serve FILE: starts the server; its address is in $url
serve() {
    rm -f url
    "$HR" view --serve "$1" >url 2>serve.err &
    server=$!
    while [ ! -s url ] && kill -0 "$server" 2>/dev/null; do sleep 0.05; done
    url=$(cat url)
}
cp phases.bin hr.bin
serve hr.bin
ok 'serve: asked' sh -c "timeout 100 python3 '$ROOT/tests/view/serve.py' '$url' >answers"
is 'serve: the page' "$(jq -r '"\(.page) \(.type) \(.starts)"' answers)" '200 text/html; charset=utf-8 <!doctype html>'
wanted=$("$HR" dump --from 30000000ns --to 31000000ns hr.bin | tail -n +2 | wc -l)
is 'serve: a window holds what hr dump shows' "$(jq -r '"\(.samples) \(.bins) \(.profile)"' answers)" \
    "$wanted $wanted $wanted"
is 'serve: other names of the host, DNS rebinding' "$(jq -c '[."rebinding", ."no port", .six]' answers)" '[403,403,200]'
is 'serve: GET only' "$(jq -c '[.post, .put]' answers)" '[405,405]'
is 'serve: its own addresses only' "$(jq -c '[."no key", ."wrong key", .path]' answers)" '[404,404,404]'
is 'serve: numbers only' "$(jq -c '[.nothing, .words, .backwards, .negative, .huge]' answers)" '[400,400,400,400,400]'
is 'serve: beyond the end' "$(jq -c '[.late, ."beside idle ones"]' answers)" '[200,200]'
touch hr.bin
is 'serve: a trace that changed' \
    "$(python3 -c "import urllib.request as u, sys
try: u.urlopen(sys.argv[1] + 'profile?from=0&to=9')
except u.HTTPError as e: print(e.code)" "$url")" 410
kill -TERM "$server"
wait "$server"
is 'serve: ends when told' "$?" 0

serve large.bin
look "$url" zoom select=700000000:700100000
is 'serve: a large trace down to single samples' "$(seen '"\(.zoom.points)\(.zoom.words[1])"')" 'trueevery sample'
from=$(seen '.select.selection[0] | ceil') to=$(seen '.select.selection[1] | floor')
is 'serve: exact counts of a selection' "$(seen '[.select.counts[]] | add')" \
    "$("$HR" dump --from "${from}ns" --to "${to}ns" large.bin | tail -n +2 | wc -l)"
kill -TERM "$server"
wait "$server"
run_hr view --serve --port 1x large.bin
is 'serve: no such port' "$status" 2
mkdir none
: >none/libmicrohttpd.so.12
LD_LIBRARY_PATH=$work/none run_hr view --serve large.bin
is 'serve: without its library: status' "$status" 1
like 'serve: without its library: why, and what to do' err '^hr: the page cannot be served: .*file too short; apt-get install'

# A trace that grows while the page shows it: tests/view/live.py writes it.
"$TOOLS/gentrace" --elf "$WORKLOADS/phases" 60000 grows.bin
ok 'live: looked at' sh -c "HR='$HR' timeout -k 10 '$LIMIT' python3 '$ROOT/tests/view/live.py' grows.bin >seen"
sees <<'END'
live: each page has the samples so far :: "\(.first) \(.second) \(.longer)" :: true true true
live: what one looks at stays :: .kept :: true
live: the head says so until the end :: "\(.live | test("^live: .* so far$")) \(."still live") \(.badges[0])" :: true true 60.02 ms
live: answers are of the page that asks :: "\(.stale) \(.now)" :: 409 200
live: at the end the page is that of the whole trace :: "\(.whole) \(.all) \(.notice) \(.problems | length)" :: true true true 0
live: a change after the end :: .changed :: 410
END
is 'live: words' "$(seen '.words | join("|")')" "hr view: serving growing.bin to this machine while it is written; Ctrl-C ends it|hr view: \
growing.bin is no longer written; the page shows all of it"

# Counts of the emulator: the profile of the whole run, whatever is selected.
run_guest -q --mode exact -o exact.bin "$WORKLOADS/phases"
run_hr view exact.bin
is 'exact: status' "$status.$(cat err)" 0.
look exact.html overview
instructions=$(total exact.bin instructions)
is 'exact: all instructions are in the profile' "$(seen '[.overview.counts[]] | add')" "$instructions"
is 'exact: they are called so' "$(seen '.overview.badges | index("'"$(echo "$instructions" | sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta')"' instructions") != null')" true
run_hr view --from 1ms --force exact.bin
is 'exact: no part of the run' "$status.$(cat err)" \
    '1.hr: exact.bin: mode exact counts over the whole run; leave out --from and --to'
done_testing
