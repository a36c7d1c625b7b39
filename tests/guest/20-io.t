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
    run_guest --accel tcg -q -i 10us "$WORKLOADS/$program"
    is "$program: the program ends well" "$status" 0
    same_file "$program: as natively" out native
    ok "$program: the trace is complete" "$HR" check hr.bin
}

for program in io_pipe io_poll; do
    single $program
    several $program
done
done_testing
