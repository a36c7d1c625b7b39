#!/bin/sh
# Every command that reads a trace: names that attack what shows them, traces that are none, times and
# counts beyond sense, selections of nothing, outputs that take nothing. Under the sanitizers where built.
# shellcheck disable=SC2317 # checks are called by their names
. "$(dirname "$0")/../lib.sh"

[ ! -x "$BUILD/unit/hr" ] || HR=$BUILD/unit/hr
export ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=3 # leaks and errors are found; the first callers tell where
unset DEBUGINFOD_URLS COLUMNS
. "$ROOT/tests/many.sh"

# What writes text to standard output, one command a line; FILE is the trace.
TEXT='stat
stat --json
stat --files
stat --files --json
check
report
report --by thread,library
report --by mark --format csv
report --by address --format csv
report --marks
report --regions
timeline
timeline --per thread --format csv
timeline --format json
hist --of cost --of gap
hist --of syscall --of lateness --format json
hist --format csv
noise --limit 0
noise --format csv
noise --format json
dump
dump --format records
export csv -o -
annotate 0x400010
diff FILE
diff --format json FILE
diff --by library --format csv FILE'
OTHER='report --by stack
report --stacks --min 0
report --callers main
view -o -
plot -o -
plot --picture functions -o -
export --list
export callgrind -o -
export folded -o -
export pprof -o -
export perfetto -o -
export hrperf -o -
export perf -o out.perf
export sqlite -o out.db'

# each COMMANDS FILE CHECK: runs them; prints those that crash, hang, print control characters, or fail CHECK.
each() {
    echo "$1" | while read -r command; do
        case $command in
        *FILE*) set -- "$1" "$2" "$3" "$2" ;;
        *) set -- "$1" "$2" "$3" ;;
        esac
        # shellcheck disable=SC2086
        run_hr ${command%FILE} ${4:+"$4"} "$2"
        [ "$status" -lt 124 ] || echo "$command: status $status"
        judge err
        [ -z "$complaint" ] || echo "$command: $complaint"
        [ "$controls" -eq 0 ] || echo "$command: control characters on stderr"
        "$3" "$command"
        case $command in *out.*) rm -f out.perf out.db ;; esac
    done
}

# judge FILE: $controls is 1 if it has control characters, C1 ones too, or is no UTF-8; $lines says how many lines are no hint at
# a command's help, $complaint is what a sanitizer says.  One process judges all files: processes are what this test costs.
mkfifo file verdict
perl -e '$| = 1;
while (my $path = <STDIN>) {
    chomp $path;
    open my $file, "<", $path or die "$path: $!";
    local $/;
    my $text = <$file> // "";
    my ($complaint) = $text =~ /^(.*(?:Sanitizer|runtime error).*)$/m;
    my $lines = grep { !/^Try / } split /\n/, $text, -1;
    $lines-- if $text =~ /\n\z/;
    my $controls = !utf8::decode($text) || $text =~ /[\x00-\x08\x0b-\x1f\x7f-\x9f]/ ? 1 : 0;
    print "$controls $lines ", $complaint // "", "\n";
}' <file >verdict 3>&- 4<&- &
exec 5>file 6<verdict
judge() {
    controls=1 lines='' complaint='no verdict'
    echo "$1" >&5
    read -r controls lines complaint <&6
}

# sound COMMAND: success, with valid text, JSON or CSV.
sound() {
    [ "$status" -eq 0 ] || echo "$1: status $status"
    case $1 in *hrperf* | view* | plot*) return ;; esac
    judge out
    [ "$controls" -eq 0 ] || echo "$1: control characters on stdout"
    case $1 in
    *json*) jq . out >/dev/null 2>jq.err || echo "$1: no JSON: $(cat jq.err)" ;;
    *csv*)
        python3 -c 'import csv, sys; rows = list(csv.reader(open("out", newline="", encoding="utf-8"), strict=True))
sys.exit(len({len(row) for row in rows}) != 1)' || echo "$1: rows differ in their columns"
        ;;
    esac
}

# refused COMMAND: one line says why; but for hints at the command's help, nothing follows.
refused() {
    [ "$status" -ne 0 ] || echo "$1: status 0"
    [ "${1%% *}" = check ] || [ "$lines" -eq 1 ] || echo "$1: $(grep -c . err) lines on stderr"
}

survived() {
    :
}

"$TOOLS/genhostile" names names.bin || exit 1
is 'names: text of every command' "$(each "$TEXT" names.bin sound)" ''
is 'names: what is no text for terminals' "$(each "$OTHER" names.bin survived)" ''
run_hr view -o - names.bin
is 'names: in the page none is markup' "$(grep -ac '<script>alert\|<img src=x' out)" 0
run_hr plot -o out.svg names.bin
is 'names: a picture' "$status" 0
ok 'names: the picture is XML' xmllint --noout out.svg
is 'names: in the picture none is markup' "$(grep -ac '<script>alert\|<img src=x' out.svg)" 0
run_hr export sqlite -o out.db names.bin
is 'names: in the database' "$(sqlite3 out.db 'PRAGMA integrity_check' 2>&1)" ok

for kind in 'times' 'back' 'slow' 'fast' 'events' 'cpus 300' 'threads 3000' 'switches 3000' 'marks 3000' \
    'syscalls 3000' 'losses 3000' 'gaps 3000' 'regions 500' 'files 3000' 'addresses 3000' 'stacks 30'; do
    # shellcheck disable=SC2086
    "$TOOLS/genhostile" $kind kind.bin || exit 1
    is "$kind: tables" "$(each 'stat
stat --files
report
timeline
hist --of interval --of cost --of lateness --of gap --of syscall
noise
latency
view -o -
plot -o -
diff FILE' kind.bin survived)" ''
done

: >none.bin
is 'an empty file' "$(each "$TEXT" none.bin refused)" ''
is 'an empty file, other formats' "$(each "$(echo "$OTHER" | grep -v -e --list)" none.bin refused)" ''
perl -e 'srand 7; print chr int rand 256 for 1 .. 5000' >none.bin
is 'random bytes' "$(each 'stat
report
timeline
hist
noise
dump
annotate main
diff FILE
view -o -
plot -o -
export callgrind -o -
export folded -o -
export pprof -o -
export perfetto -o -
export sqlite -o out.db
export perf -o out.perf' none.bin refused)" ''

for cut in 64 100 128 500 1100 1300 1500 1700 1800 1900; do
    head -c "$cut" "$ROOT/tests/golden/stacks.bin" >cut.bin
    is "the first $cut bytes" "$(each 'stat --json
report --stacks
timeline --format csv
noise
dump --format records
view -o -
export callgrind -o -
export folded -o -
export pprof -o -
export perfetto -o -
export perf -o out.perf' cut.bin survived)" ''
done

READERS='stat
report
report --by mark,thread
timeline
hist
noise
dump
view -o -
plot -o -
export csv -o -
export callgrind -o -
export folded -o -
export pprof -o -
export perfetto -o -
export perf -o out.perf
export sqlite -o out.db
annotate 0x400010
diff FILE'
for selection in '--from 1h' '--cpu 77' '--thread 4000000000' '--from 2us --to 1us'; do
    is "nothing is selected: $selection" "$(each "$(echo "$READERS" | sed "s/^[a-z]*/& $selection/")" names.bin refused)" ''
done

# A disk without room, whatever writes: one line, and a status that says so (2 for diff, whose 1 is a verdict).
is 'no trace, and a selection: it is freed' "$(each 'stat --cpu 1 --thread 2
report --cpu 1 --thread 2
timeline --cpu 1 --thread 2
noise --cpu 1 --thread 2
dump --cpu 1 --thread 2
annotate --cpu 1 --thread 2 main
diff --cpu 1 --thread 2 FILE
view --cpu 1 --thread 2 -o -
plot --cpu 1 --thread 2 -o -
export --cpu 1 --thread 2 callgrind -o -' none.bin refused)" ''

WRITERS=$(echo "$TEXT" | grep -v annotate)
if [ -w /dev/full ]; then
    is 'a full disk' "$(echo "$WRITERS" | while read -r command; do
        # shellcheck disable=SC2046
        to=/dev/full run_hr $(echo "$command" | sed 's/FILE/names.bin/') names.bin
        case $command in diff*) expected=2 ;; *) expected=1 ;; esac
        [ "$status" -eq "$expected" ] || echo "$command: status $status"
        grep -q 'No space left on device' err || echo "$command: $(cat err)"
    done)" ''
else
    skip 1 'no /dev/full'
fi
is 'a closed pipe: quiet' "$(echo "$WRITERS" | while read -r command; do
    # shellcheck disable=SC2046
    timeout 60 "$HR" $(echo "$command" | sed 's/FILE/names.bin/') names.bin 2>err </dev/null | :
    ! grep -aq 'Broken pipe\|Sanitizer' err || echo "$command: $(head -n 1 err)"
done)" ''
for command in 'view -o' 'plot -o' 'export csv -o' 'export perf -o' 'export sqlite -o' 'export folded -o'; do
    # shellcheck disable=SC2086
    run_hr $command none/such/out names.bin
    is "$command into no folder" "$status.$(head -n 1 err | grep -c 'No such file or directory')" 1.1
done

# Nothing is wider than a narrow terminal that is made to fit one.
for command in 'timeline' 'hist' 'noise'; do
    script -qc "stty cols 40; '$HR' $command names.bin 2>/dev/null" /dev/null </dev/null >out
    is "40 columns: $command" "$(perl -CSD -ne 's/[\r\n]//g; s/\e\[[0-9;]*m//g; print "$_\n" if !/^#|: / && length > 40 || /[\x00-\x1f]/' out | head -n 3)" ''
done

# What judged all of them still does.
printf 'Try this\nERROR: LeakSanitizer: leaks\n\302\233' >judged
judge judged
is 'what is wrong is found' "$controls $lines $complaint" '1 2 ERROR: LeakSanitizer: leaks'
printf 'Stra\303\237e\n' >judged
judge judged
is 'what is right is not' "$controls $lines $complaint" '0 1 '
done_testing
