# Functions for the tests of `hr collect --listen tcp:`. Sourced after lib.sh.
# shellcheck shell=sh

# wait_line FILE REGEX: waits up to 60 s for a line.
wait_line() {
    for _ in $(seq 600); do
        grep -qE -e "$2" "$1" 2>/dev/null && return 0
        sleep 0.1
    done
    echo "# $1 has no line: $2"
    tail -n 5 "$1" | sed 's/^/# /'
    return 1
}

# wait_file FILE: waits up to 60 s until it is there.
wait_file() {
    for _ in $(seq 600); do
        [ ! -e "$1" ] || return 0
        sleep 0.1
    done
    return 1
}

# collector NAME ADDRESS [OPTION...]: starts a collector with stderr in NAME.err; sets $collector and $port.
# shellcheck disable=SC2034
collector() {
    name=$1 address=$2
    shift 2
    rm -f "$name.err"
    interruptible "$HR" collect -l "tcp:$address" "$@" 2>"$name.err" &
    collector=$!
    wait_line "$name.err" 'listening on' || return 1
    port=$(sed -n 's/.*listening on .*:\([0-9]*\);.*/\1/p' "$name.err")
}

# ended PID: waits for a process in the background; its status is in $status.
# shellcheck disable=SC2034
ended() {
    status=0
    wait "$1" || status=$?
}

# client ARG...: a machine's run; its status is in $status, what it says in the file out.
# shellcheck disable=SC2034
client() {
    status=0
    timeout -k 5 100 "$TOOLS/streamclient" "$@" "$port" >out 2>err || status=$?
}

# stopped PID SIGNAL: ends a collector; its status is in $status.
stopped() {
    kill "-$2" "$1"
    ended "$1"
}

# is_run NAME DIRECTORY TRACE STDOUT: the run's files are what was sent, and its trace is complete.
is_run() {
    [ "$(head -c "$(stat -c %s "$3")" "$2/hr.bin" | cmp - "$3" 2>&1)" = '' ]
    result $? "$1: the trace is what was sent"
    ok "$1: the trace is complete" "$HR" check "$2/hr.bin"
    same_file "$1: stdout" "$2/stdout" "$4"
}
