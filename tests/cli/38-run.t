#!/bin/sh
# hr run: --repeat, what is said about files, and what wrong options and programs are told.
. "$(dirname "$0")/../lib.sh"

# repeat ARG...: hr run --accel tcg ARG... without input.
repeat() {
    run_hr run --accel tcg --no-progress "$@" </dev/null
}

# --repeat: the output once, the spread, one trace, and an older one is left alone
run_hr run -q --accel tcg "$WORKLOADS/hello" </dev/null
cp hr.bin older.bin
cp out once
repeat --repeat 3 "$WORKLOADS/hello"
is 'repeat: status' "$status" 0
same_file 'the output once' out once
like 'the runs are counted' err '^ Microtome: 3 runs of '
like 'an event: mean, deviation, least and most' err '^ +[0-9,]+ +0\.00 % +[0-9,]+ +[0-9,]+ +instructions +exact'
like 'and the time' err '^ +[0-9.]+ [mu]s +0\.00 % .* duration '
is 'one summary' "$(grep -c ' Microtome: ' err)" 1
same_file 'an earlier trace is FILE.old' hr.bin.old older.bin
is 'the trace is of one run' "$("$HR" check hr.bin >check.log 2>&1; echo $?)" 0
repeat --repeat 2 --output-each -q "$WORKLOADS/hello"
is 'the output of each' "$(cat out)" "$(cat once once)"
is 'quiet: no summary' "$(grep -c Microtome err)" 0
repeat --repeat 2 -o 'n%d.bin' "$WORKLOADS/hello"
is 'a trace for each' "$(echo n*.bin)" 'n1.bin n2.bin'

command -v busybox >/dev/null || skip_all 'busybox is not installed'
echo 3 >three
run_hr run --accel tcg --repeat 2 --output-each busybox sh -c 'read n; echo $n; exit $n' <three
is 'a file as input is read by each run' "$(tr '\n' ' ' <out)" '3 3 '
is 'the first status that is not 0' "$status" 3
like 'and it is said' err '^ Exit: status 3 in run 1; 2 of 2 runs'
mkfifo pipe
: >pipe &
run_hr run --accel tcg --repeat 2 busybox true <pipe
is 'a pipe as input is refused' "$status.$(cut -c1-60 err)" '125.hr: --repeat: standard input can be read once only; give a f'
for wrong in 0 x -1 1000000000; do
    repeat "--repeat=$wrong" busybox true
    is "--repeat=$wrong is refused" "$status.$(cat err)" "125.hr: --repeat $wrong: not a number of runs from 1 to 100000"
done
repeat --repeat 2 --timeout 100ms "$WORKLOADS/crash" loop
is 'each has its own timeout' "$status.$(grep -c -e --timeout: err)" 124.2

# files: one line where it helps
mkdir deep && echo 1 >deep/data
echo "$work/deep/data" >where
cat >indirect.c <<'END'
#include <stdio.h>
int main(void)
{
    char path[4096] = "";
    FILE *f = fopen("where", "r");
    if (f != NULL && fscanf(f, "%4000s", path) == 1)
        f = fopen(path, "r");
    return f == NULL ? 7 : 0;
}
END
gcc -O1 -o indirect indirect.c || exit 1
repeat --sealed --file where ./indirect
is 'a file that is here: status' "$status" 7
is 'a file that is here: one line with the option' "$(grep 'looked for' err)" \
    "hr: the program looked for $work/deep/data, which is here and was not given to it; --file $work/deep/data gives it"
repeat --sealed --file where --file deep/data ./indirect
is 'given: no line' "$status.$(grep -c 'looked for' err)" 0.0
repeat -q --sealed --file where ./indirect
is 'quiet: no line' "$(grep -c 'looked for' err)" 0
repeat --sealed --file where --missing ./indirect
is '--missing lists it, once' "$(grep -c "$work/deep/data" err)" 1
repeat --file where ./indirect
is 'a file that is served: no line' "$status.$(grep -c 'looked for' err)" 0.0
repeat busybox sh -c 'echo a >/made; echo b >/more; mkdir /d; : >/empty'
is 'files that are dropped: one line' "$(grep -e --keep-files err)" \
    'hr: the program wrote /made and 1 other, which ended with the guest; --keep-files DIR keeps such files'
repeat --keep-files kept busybox sh -c 'echo a >/made'
is 'files that are kept: no line' "$(grep -c 'program wrote /' err)" 0
repeat busybox true
is 'none: no line' "$(grep -c '^hr:' err)" 0
LD_LIBRARY_PATH=/nowhere repeat ./indirect
is 'LD_LIBRARY_PATH that is not passed on: one line' "$(grep LD_ err)" \
    'hr: LD_LIBRARY_PATH is set here, and the program does not inherit it; --env LD_LIBRARY_PATH gives it'
LD_LIBRARY_PATH=/nowhere repeat --env LD_LIBRARY_PATH ./indirect
is 'passed on: no line' "$(grep -c LD_ err)" 0

# what is no program, and what is no option
echo 'int main() {}' >hot.cpp
repeat hot.cpp
is 'source code' "$status.$(cat err)" '127.hr: hot.cpp is C++ source; compile it first, such as: g++ -O2 -g -o ./hot hot.cpp'
repeat ./hot.cpp
is 'source code by its path' "$status.$(cat err)" '126.hr: ./hot.cpp is C++ source; compile it first, such as: g++ -O2 -g -o ./hot ./hot.cpp'
cp indirect hot && chmod +x hot.cpp
repeat ./hot.cpp
is 'source code beside its program' "$status.$(cat err)" '126.hr: ./hot.cpp is C++ source; what it was compiled to is here: hr run ./hot'
repeat hot
is 'a program that is here' "$status.$(cat err)" '127.hr: hot: not found in PATH, but it is here: hr run ./hot'
echo 'print(1)' >script.py
repeat script.py
is 'a script' "$status.$(cat err)" '127.hr: script.py is Python source; run it as: hr run python3 script.py'
repeat -g lbr ./hot
is '-g lbr' "$status.$(cat err)" '125.hr: --call-graph lbr: unknown; use fp, fp,FRAMES, dwarf, dwarf,BYTES, python or python,FRAMES'
repeat --timeout 5 ./hot
is 'a time without a unit: --timeout' "$status.$(cat err)" '125.hr: --timeout 5: not a time with a unit; write 10s or 500ms'
repeat -i 5 ./hot
is 'a time without a unit: -i' "$status.$(cat err)" '125.hr: --interval 5: not a time with a unit; write 500ns, 1us or 2ms'

# what a report says of stacks that are not whole
cat >sorts.c <<'END'
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
    static int v[5000];
    for (int i = 0; i < 5000; i++)
        v[i] = rand();
    qsort(v, 5000, sizeof v[0], compare);
    return v[0] < 0;
}
END
gcc -O2 -fomit-frame-pointer -o sorts sorts.c || exit 1
for kind in fp:broken:'dwarf needs' dwarf,64:truncated:'dwarf,32768 keeps' fp,1:truncated:'fp,512 keeps'; do
    hint=${kind##*:}
    repeat -q -g "${kind%%:*}" ./sorts
    run_hr report --stacks hr.bin
    like "report -g ${kind%%:*}: the remedy" out "^# .* samples .*\\[$(echo "$kind" | cut -d: -f2)\\]; hr run -g $hint "
done

run_hr plot -o hot.png hr.bin
is 'plot: another format' "$status.$(cat err)" '1.hr: hot.png: pictures are SVG; name a file FILE.svg, or a folder'
run_hr plot -p functions -o drawn hr.bin
is 'plot: where the pictures are' "$status.$(cat err)" '0.hr: 1 picture in the folder drawn'

# completion in shells
for shell in bash zsh fish; do
    run_hr completion $shell
    is "completion $shell: status" "$status.$(cat err)" '0.'
    cp out hr.$shell
done
cat >completes <<'END'
. ./hr.bash
complete_words() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _hr; echo "${COMPREPLY[*]}"; }
complete_words hr re
complete_words hr run --ti
complete_words hr report --st
complete_words hr run a
complete -p hr | grep -c 'default.*-F _hr hr'
END
is 'bash completes commands and options' "$(bash completes 2>&1)" "report
--timeout
--stacks

1"
for command in run usb diff; do
    is "every option of hr $command is there" "$("$HR" $command --help | sed -n 's/^  .\{0,4\} --\([a-z-]*\).*/--\1/p' |
        while read -r option; do grep "^ *[*]\.$command)" hr.bash | grep -q -e " ${option}[ ']" || echo "$option"; done)" ''
done
like 'zsh: the command' hr.zsh '^#compdef hr$'
like 'fish: an option with its letter' hr.fish ' -l output -s o -r$'
for shell in zsh fish; do
    command -v $shell >/dev/null || { skip 1 "$shell is not installed"; continue; }
    ok "$shell reads it" $shell -n hr.$shell
done
run_hr completion
is 'no shell' "$status.$(cat err)" '2.hr: completion: name a shell: hr completion bash, zsh or fish'

# Python with libhr, by the command that the documentation prints
mkdir -p tree/workloads/python tree/build
cp "$ROOT/workloads/python/microtome.py" tree/workloads/python/
cat >tree/program.py <<'END'
import microtome

with microtome.region("work"):
    sum(range(1000))
print(microtome.status_text())
END
command=$(sed -n 's/^hr run \(--file workloads.*\)/"$HR" run -q --accel tcg \1/p' "$ROOT/docs/libhr.md")
if command -v python3 >/dev/null; then
    cp "$BUILD/libhr.so" tree/build/
    is 'Python with libhr: the command as printed' "$(cd tree && eval "$command" 2>&1 </dev/null | cut -d, -f1)" 'under Microtome'
    run_hr report --regions tree/hr.bin
    like 'Python with libhr: its region' out '^work: 1 pass by 1 thread$'
    echo >tree/build/libhr.so
    is 'libhr.so that is of no use is said' "$(cd tree && eval "$command" 2>&1 </dev/null | grep -c 'libhr.so was not found: regions, marks and requests are missing')" 1
else
    skip 3 'python3 is not installed'
fi
done_testing
