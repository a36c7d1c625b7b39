#!/bin/sh
# What Microtome does not do it says when the run ends: each kind once, with a count.
. "$(dirname "$0")/../lib.sh"

cat >wanted <<EOF
socket: EAFNOSUPPORT
socket: EAFNOSUPPORT
connect: ENOTSOCK
connect: EBADF
io_uring_setup: ENOSYS
io_uring_setup: ENOSYS
io_uring_setup: ENOSYS
io_uring_setup: ENOSYS
io_uring_setup: ENOSYS
system call 4000: ENOSYS
EOF

# told NAME: the notices of the run.
told() {
    like "$1: socket" err '^hr: the program asked for socket 2 times: there is no network$'
    like "$1: others" err '^hr: the program made system call io_uring_setup 5 times: it is not supported, and got ENOSYS$'
    like "$1: numbers of no call" err '^hr: the program made system call 4000, which Linux 6.1 does not have, 1 time: it is not'
    is "$1: and nothing else" "$(grep -c '^hr: the program' err)" 3
}

run_guest "$WORKLOADS/refused-glibc-static"
is 'status' "$status" 0
same_file 'what the program gets' out wanted
told 'at the end'
run_guest --cpus 2 "$WORKLOADS/refused-glibc-static"
same_file 'with several CPUs' out wanted
told 'with several CPUs'
run_guest "$WORKLOADS/refused-glibc-static" crash
is 'a program that crashes: status' "$status" 134
told 'a program that crashes'

run_guest --mode off "$WORKLOADS/sysfuzz" 3000 1
within 'a program that asks for everything: so many notices' "$(grep -c '^hr: the program' err)" 10 30
like 'and the rest in one' err '^hr: and [0-9]+ more system calls, in all [0-9]+ times$'
run_guest "$WORKLOADS/hello-glibc-static"
fails 'a program that asks for nothing hears nothing' grep '^hr: the program' err
done_testing
