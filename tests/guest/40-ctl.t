#!/bin/sh
# A run is steered from outside (hr ctl): pause, start, poll, mark, stop.
. "$(dirname "$0")/../lib.sh"

XDG_RUNTIME_DIR=$PWD # other runs of this user are none of ours
export XDG_RUNTIME_DIR

cat >steps.c <<'END'
/* Prints a letter and waits for a line, before each of three loops of a million iterations. */
#include <stdio.h>

__attribute__((noipa)) static void loop(void)
{
    for (unsigned i = 0; i < 1000000; i++)
        __asm__ volatile("");
}

int main(int argc, char **argv)
{
    char line[8];

    (void)argv;
    for (int step = 'a'; step <= 'c'; step++) {
        printf("%c\n", step);
        fflush(stdout);
        if (fgets(line, sizeof line, stdin) == NULL)
            return 1;
        loop();
    }
    printf("d\n");
    fflush(stdout);
    while (argc > 1)
        loop();
    return 0;
}
END
gcc -O2 -static -o steps steps.c || exit 1
mkfifo lines letters

# start OPTION... [-- ARGUMENT]: starts steps in a run; await LETTER waits for it; go lets it go on.
start() {
    "$HR" run -q --force "$@" <lines >letters 2>err &
    run=$!
    exec 7>lines 8<letters
}
await() {
    read -r letter <&8
    is "steps is at $1" "$letter" "$1"
}
go() {
    echo >&7
}
finish() {
    exec 7>&- 8<&-
    wait "$run"
    status=$?
}

# ctl NAME STATUS MESSAGE ARGUMENT...: hr ctl ends so.
ctl() {
    name=$1 status=$2 message=$3
    shift 3
    "$HR" ctl "$@" >said 2>&1
    is "$name" "$? $(grep -cF -e "$message" said)" "$status 1"
}

# samples FROM TO: how many samples are between two marks.
samples() {
    "$HR" dump -f csv hr.bin | awk -F, -v from="$1" -v to="$2" 'NR > 1 && $1 >= from && $1 < to { n++ } END { print n + 0 }'
}

# idle: waits at most 10 s for a second in which the emulator does nothing.
idle() {
    emulator=$(emulator_of "$run")
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        before=$(awk '{ print $14 + $15 }' "/proc/$emulator/stat")
        sleep 1
        [ "$(awk '{ print $14 + $15 }' "/proc/$emulator/stat")" -gt "$before" ] || return 0
    done
    return 1
}

# ---- virtual time ----
start -i 10us -o hr.bin ./steps
await a
"$HR" ctl mark 'the first' && "$HR" ctl list >list
is 'the list has the run, its trace and its program' "$(awk 'NR == 2 { print $1, $2, $3 }' list)" "$run hr.bin ./steps"
go
await b
"$HR" ctl pause && "$HR" ctl mark 'paused, by a text of more than eight bytes'
go
await c
"$HR" ctl --run "$run" mark 'again' && "$HR" ctl start
go
finish
is 'exit status' "$status" 0
"$HR" dump -f records hr.bin | sed -n 's/^  mark time=\([0-9]*\) tid=0 text="\(.*\)"$/\1 \2/p' >marks
is 'all marks are there, as no thread of the program' "$(cut -d' ' -f2- marks | tr '\n' ';')" \
    'the first;paused, by a text of more than eight bytes;again;'
first=$(sed -n '1s/ .*//p' marks) paused=$(sed -n '2s/ .*//p' marks) again=$(sed -n '3s/ .*//p' marks)
within 'samples before the pause: a loop of 2,000,000 instructions' "$(samples "$first" "$paused")" 195 215
within 'none in the pause' "$(samples "$((paused + 10000))" "$again")" 0 2
within 'samples after it' "$(samples "$again" 99999999999)" 195 215
is 'instructions are counted in the pause, too' \
    "$("$HR" stat --json hr.bin | jq '.events[0].total > 6000000 and .events[0].total < 6200000')" true
is 'the trace is complete' "$("$HR" check hr.bin >/dev/null 2>&1; echo $?)" 0

# ---- polls, and the end, of a program that runs ----
for cpus in 1 2; do
    set -- --cpus $cpus
    [ $cpus = 1 ] && set --
    start "$@" --paused -i 1ms -o hr.bin ./steps forever
    for step in a b c; do
        await $step
        go
    done
    await d
    "$HR" ctl poll
    "$HR" ctl mark ready
    "$HR" ctl stop
    finish
    is "$cpus CPUs: stop ends the program" "$status" 143
    is "$cpus CPUs: a sample was polled, and no other was taken" \
        "$("$HR" stat --json hr.bin | jq -c '[.polled, .samples]')" '[1,1]'
    is "$cpus CPUs: what was asked for before the stop was done" "$("$HR" dump -f records hr.bin | grep -c 'mark .*text="ready"')" 1
done

# ---- in virtual time nothing ticks while the host does nothing ----
"$HR" run -q --mode off -o yes.bin yes >letters 2>err &
run=$!
exec 8<letters
read -r _ <&8
kill -STOP "$run"
ok 'the emulator sleeps while nobody takes what the program writes' idle
kill -CONT "$run"
exec 8<&-
wait "$run"

# ---- without samples ----
start --mode off -o hr.bin ./steps
await a
ctl 'without samples there is nothing to pause' 1 'takes no samples (--mode off)' pause
"$HR" ctl mark off
go
await b
go
await c
go
finish
is 'a mark without samples' "$("$HR" dump -f records hr.bin | grep -c 'mark .*text="off"')" 1

# ---- bad input ----
ctl 'no run' 1 'no run of yours goes on' pause
ctl 'a process that is no run' 1 "no run of yours has the process number $$" --run $$ pause
ctl 'not a number' 2 "--run x: not a process number" --run x pause
ctl 'no request' 2 'say what to do' 
ctl 'another request' 2 'choose start, pause, poll, mark TEXT, stop or list' dance
ctl 'a mark without a text' 2 'mark needs a text' mark
ctl 'a mark that is too long' 2 'a mark has 1 to 255 bytes' mark "$(printf '%0256d' 0)"
: >microtome/4194303
ctl 'what is left of a run that was killed does no harm' 0 'program' list
chmod 755 microtome
ctl 'a folder that others can read is not used' 1 'it must be yours alone' pause

done_testing
