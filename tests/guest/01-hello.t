#!/bin/sh
# The smallest program: output, status, arguments, environment, builds of all kinds.
. "$(dirname "$0")/../lib.sh"

for build in hello hello-glibc-static hello-musl; do
    run_guest "$WORKLOADS/$build"
    is "$build: exit status" "$status" 0
    is "$build: stdout is the program's alone" "$(cat out)" "Hello from a program that runs alone."
    like "$build: the program's stderr is on stderr" err '^hello: this line goes to stderr$'
done
run_guest "$TOOLS/hello-static-pie"
is 'static-PIE: exit status' "$status" 0
is 'static-PIE: stdout' "$(cat out)" "Hello from a program that runs alone."

run_guest -q "$WORKLOADS/hello"
is '-q: stderr is the program'\''s alone' "$(cat err)" 'hello: this line goes to stderr'
ok 'a trace is written' test -s hr.bin
ok 'the trace is complete' "$HR" check hr.bin

odd=$(printf 'tab\there "quoted" $HOME \\ \303\244\377 new\nline')
run_guest "$WORKLOADS/hello-musl" "$odd" '' -o x
"$WORKLOADS/hello-musl" "$odd" '' -o x >native 2>/dev/null
same_file 'arguments arrive byte for byte, options after the program are its own' out native

run_guest "$WORKLOADS/hello-musl" "it's" 'a b' ''
"$HR" dump --format records hr.bin >records
like 'the trace has the arguments as a shell would read them' records "program.args=.* 'it'.''s' 'a b' ''\""
build_id=$(readelf -n "$KERNEL" | sed -n 's/.*Build ID: //p')
like 'and the build-id of the kernel' records "kernel.build_id=$build_id"

run_guest --env 'COLOUR=blue = green' --env EMPTY= "$WORKLOADS/hello-musl" --env
like 'an environment variable arrives' out '^COLOUR=blue = green$'
like 'an empty one too' out '^EMPTY=$'

run_guest -o other.bin -- "$WORKLOADS/hello-musl"
ok '-o names the trace' "$HR" check other.bin

for code in 0 1 7 77 255; do
    run_guest "$WORKLOADS/crash-musl" exit "$code"
    is "exit status $code" "$status" "$code"
done
is 'hr stat knows the exit status' "$(stat_of hr.bin .exit_status)" 255

run_guest --mem 64M "$WORKLOADS/hello-musl"
is '--mem 64M is enough' "$status" 0
run_guest --cpus 1 "$WORKLOADS/hello-musl"
is '--cpus 1: exit status' "$status" 0
is '--cpus 1: stdout' "$(cat out)" "Hello from a program that runs alone."
is '--cpus 1 is marked as not exact' "$(stat_of hr.bin .instructions_exact)" false
run_guest --cpus 3 "$WORKLOADS/hello-musl"
is '--cpus 3: exit status' "$status" 0
is '--cpus 3: one CPU runs the program, once' "$(cat out)" "Hello from a program that runs alone."
done_testing
