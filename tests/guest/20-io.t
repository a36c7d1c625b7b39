#!/bin/sh
# Pipes, event counters, polls: what calls return is the same natively and in the guest.
. "$(dirname "$0")/../lib.sh"

# several PROGRAM [ARG...]: with threads, on several CPUs; single PROGRAM: on one, without.
several() {
    program=$1
    "$WORKLOADS/$program" threads >native
    run_cpus 4 "$WORKLOADS/$program" -q --mode off -- threads
    is "$program on several CPUs: the program ends well" "$status" 0
    same_file "$program on several CPUs: as natively" out native
}

single() {
    program=$1
    "$WORKLOADS/$program" >native
    run_guest --accel tcg -q -i 1ms "$WORKLOADS/$program"
    is "$program: the program ends well" "$status" 0
    same_file "$program: as natively" out native
    ok "$program: the trace is complete" "$HR" check hr.bin
}

for program in io_pipe io_fifo io_socket io_poll io_lock io_move; do
    single $program
    several $program
done

# A signal ends a read of a device that would take long.
cat >long.py <<'END'
import mmap, os, signal, time
signal.signal(signal.SIGUSR1, lambda *_: None)
room = mmap.mmap(-1, 300 << 20)
parent = os.getpid()
if os.fork() == 0:
    time.sleep(0.05)
    os.kill(parent, signal.SIGUSR1)
    os._exit(0)
with open("/dev/urandom", "rb", 0) as f:
    print(0 < f.readinto(room) < len(room))
os.wait()
END
if [ -x /usr/bin/python3 ]; then
    # In virtual time: on a busy host python3 starts for seconds while the other CPU waits.
    run_guest --accel tcg --cpus 2 --qemu "$ROOT/tests/tools/virtual.sh" --mode off -q --mem 1G /usr/bin/python3 -S long.py
    is 'a signal from another CPU ends a long read of /dev/urandom' "$status: $(cat out)" '0: True'
else
    skip 1 'python3 is missing'
fi

# Standard input, in shared mode and on several CPUs.
head -c 1000000 "$HR" >data
"$WORKLOADS/io_stdin" split 3 <data >native
for cpus in 0 2 4; do
    run_guest --accel tcg --cpus $cpus --mode off "$WORKLOADS/io_stdin" split 3 <data
    same_file "--cpus $cpus: three threads read a file to its end" out native
    (head -c 300000 data; sleep 0.3; tail -c +300001 data) |
        run_guest --accel tcg --cpus $cpus --mode off "$WORKLOADS/io_stdin" split 3
    same_file "--cpus $cpus: three threads read a slow pipe to its end" out native
done

# chat COMMAND...: runs it with a peer that says something when it is asked to, and leaves when that was read.
mkfifo heard
chat() {
    rm -f said
    mkfifo said
    exec 3<>heard
    (
        exec 4>said
        until [ "${line:-}" = go ]; do read -r line <&3; done
        echo hello >&4
        until [ "${line%6}" != "$line" ]; do read -r line <&3; done
    ) &
    timeout -k 5 "$LIMIT" "$@" <said 2>err | tee out >&3
    wait
    exec 3<&-
}
chat "$WORKLOADS/io_stdin" poll
cp out native
for cpus in 0 1 2; do
    chat "$HR" run -q --accel tcg --cpus $cpus "$WORKLOADS/io_stdin" poll
    same_file "--cpus $cpus: polls tell the truth about stdin" out native
done

head -c 100 data | "$WORKLOADS/io_stdin" nested >native
for cpus in 0 2; do
    head -c 100 data | run_guest --accel tcg --cpus $cpus "$WORKLOADS/io_stdin" nested
    same_file "--cpus $cpus: a poll of an epoll asks for stdin" out native
done

mkfifo silent
exec 3<>silent
for cpus in 0 1 2; do
    run_guest --accel tcg --cpus $cpus "$WORKLOADS/io_stdin" signal <silent
    is "--cpus $cpus: a signal interrupts a read" "$status: $(cat out)" "0: $("$WORKLOADS/io_stdin" signal <silent)"
    run_guest --accel tcg --cpus $cpus "$WORKLOADS/io_stdin" parallel <silent
    is "--cpus $cpus: one thread waits for input, another one works" "$status: $(cat out)" \
        "3: $("$WORKLOADS/io_stdin" parallel <silent)"
done
exec 3<&-

# A reader of the output that goes away is a broken pipe: the program may go on.
if busybox=$(command -v busybox); then
    { timeout -k 5 "$LIMIT" "$HR" run -q --mode off "$busybox" sh -c \
        'trap "" PIPE; while echo y; do :; done 2>/dev/null; exit 9' 2>/dev/null; echo $? >left; } | head -n 1 >/dev/null
    is 'a program that ignores SIGPIPE gets EPIPE and goes on' "$(cat left)" 9
else
    skip 1 'busybox is not installed (Debian package busybox-static)'
fi

megabytes=64
[ -z "${HR_TEST_LONG:-}" ] || megabytes=1024
if busybox=$(command -v busybox); then
    wanted=$((megabytes << 20))
    is "$megabytes MB to stdout" "$wanted" "$(timeout -k 5 600 "$HR" run -q --mode off "$busybox" \
        dd if=/dev/zero bs=64k count=$((megabytes * 16)) 2>/dev/null | wc -c)"
else
    skip 1 'busybox is not installed (Debian package busybox-static)'
fi
done_testing
