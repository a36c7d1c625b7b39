#!/bin/sh
# The command line: help, unknown things, dry run, pack, refusals before anything is started.
. "$(dirname "$0")/../lib.sh"
hello=$WORKLOADS/hello

run_hr --help
is 'hr --help: status' "$status" 0
for command in run stat report dump check pack collect events; do
    like "hr --help lists $command" out "^ *(hr )?$command"
    run_hr "$command" --help
    is "hr $command --help: status" "$status" 0
    like "hr $command --help says how to use it" out "[Uu]sage: hr $command"
    run_hr --help
done
run_hr --version
like 'hr --version' out '[0-9]+\.[0-9]+'

sed 's/\\-/-/g' "$ROOT/docs/hr.1" >manual
commands=$("$HR" --help | awk '/^[A-Z][a-z ]*:$/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')
ok 'the help lists commands' test "$(echo "$commands" | grep -c .)" -ge 16
is 'the manual has every option of every command' "$(for command in $commands; do
    "$HR" "$command" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+.*' | grep -oE -e '--[a-z][a-z-]+' | sort -u |
        while read -r option; do
            [ "$option" = --usage ] || grep -qE -e "$option([^a-z-]|\$)" manual || echo "$command $option"
        done
done)" ''

# refused STATUS REGEX NAME ARG...: that status, one short message that matches.
refused() {
    want=$1 regex=$2 name=$3
    shift 3
    run_hr "$@"
    is "$name: status" "$status" "$want"
    like "$name: message" err "$regex"
    is "$name: one line" "$(grep -c . err)" 1
    ok "$name: stdout is empty" test ! -s out
}

run_hr
ok 'no command: not zero' test "$status" -ne 0
run_hr reprot
ok 'unknown command: not zero' test "$status" -ne 0
like 'unknown command: offers the nearest' err report
refused 125 'no-such-event' 'unknown event' run -e no-such-event "$hello"
refused 125 'branch-misses' 'misspelt event offers the nearest' run -e branch-mises "$hello"
refused 125 '10lightyears|interval' 'bad interval' run -i 10lightyears "$hello"
refused 125 '500 ?ns' 'interval too short' run -i 100ns "$hello"
refused 125 'mem' 'too little memory' run --mem 4M "$hello"
refused 125 'pebs' 'a mode that is not there yet' run --mode pebs "$hello"
refused 125 'sideways' 'unknown mode' run --mode sideways "$hello"
refused 125 'PMU' '--require-pmu' run -q --require-pmu --accel tcg "$hello"
refused 125 'no/such/dir' 'output that cannot be written' run -o /no/such/dir/hr.bin "$hello"
refused 125 'qemu' 'no such QEMU' run --qemu /no/such/qemu "$hello"
refused 127 'no-such-program' 'program not found' run ./no-such-program
refused 127 'no-such-program' 'program not in PATH' run no-such-program-anywhere
run_hr run --no-such-option "$hello"
is 'unknown option: status' "$status" 125
like 'unknown option: message' err 'no-such-option'
run_hr run
is 'no program: status' "$status" 125

echo 'not a program' >text
chmod +x text
refused 126 'ELF' 'not an ELF file' run ./text
printf '#!\necho hi\n' >script
chmod +x script
refused 126 'script|#!' 'a script without an interpreter' run ./script
printf '#!/no/such/interpreter\n' >script
refused 127 '/no/such/interpreter' 'a script whose interpreter is not there' run ./script
cp "$hello" plain
chmod -x plain
refused 126 'plain' 'not executable' run ./plain
refused 126 'directory|plain|/' 'a directory' run /usr/bin/

rm -f hr.bin
run_hr run --dry-run "$hello" a 'b c'
is 'dry run: status' "$status" 0
like 'dry run: prints the emulator'\''s command line' out 'qemu-system-x86_64.*-icount shift=0'
is 'dry run: one line' "$(wc -l <out)" 1
ok 'dry run: no trace' test ! -e hr.bin

run_hr pack -o run.cpio "$hello" a b
is 'pack: status' "$status" 0
is 'pack: the manifest comes first' "$(cpio -itv --quiet <run.cpio 2>/dev/null | grep -m 1 ^- | sed "s/.* //")" microtome/manifest
ok 'pack: the program is inside, unchanged' sh -c "
    mkdir x && cd x && cpio -id --quiet <../run.cpio 2>/dev/null; cmp .$hello $hello"
like 'pack: arguments are in the manifest' x/microtome/manifest 'arg=a'

run_hr stat no-such-file
ok 'stat of a missing file: not zero' test "$status" -ne 0
like 'stat of a missing file: message' err 'no-such-file'

# a mistyped option
run_hr report --evnt cycles
is 'a mistyped option: status' "$status" 2
like 'a mistyped option: what is near' err "^hr report: unrecognized option '--evnt'; the nearest: --event$"
run_hr usb --sise 3
like 'a mistyped option of the second table' err "'--sise'; the nearest: --size"
run_hr stat --zzzz
like 'nothing is near: nothing is named' err "^hr stat: unrecognized option '--zzzz'$"
done_testing
