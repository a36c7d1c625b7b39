#!/bin/sh
# A panic of the kernel (a test build) reaches the user: registers and a symbolised backtrace.
. "$(dirname "$0")/../lib.sh"
kernel=$BUILD/guest-test.elf
[ -e "$kernel" ] || skip_all "no test build of the kernel ($kernel)"

for where in boot syscall timer; do
    run_hr run -q --kernel "$kernel" --panic-test "$where" -i 10us "$WORKLOADS/phases" 5 1
    is "panic in $where: status" "$status" 125
    like "panic in $where: says so" err '[Pp]anic'
    like "panic in $where: registers" err '[Rr][Ii][Pp]'
    like "panic in $where: symbolised backtrace" err '[a-z_]+\+0x[0-9a-f]+'
done
run_hr run -q --panic-test boot "$WORKLOADS/hello"
is 'the ordinary kernel ignores the request' "$status" 0
done_testing
