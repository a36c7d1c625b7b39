#!/bin/sh
# A guest that does not get on with its start (a test build hangs in a step): hr names the step and ends it.
. "$(dirname "$0")/../lib.sh"
export HR_BOOT_LIMITS=1000,4000

# hang STEP [OPTION...]: hr run with a guest that hangs in that step.
hang() {
    step=$1
    shift
    run_hr run --accel tcg "$@" --panic-test "$step-hang" "$WORKLOADS/hello"
    is "$step $*: status" "$status" 125
    like "$step $*: the step where it was ended" err "^hr: the guest stands in step '$step' of its start, made no progress for 4 s and was ended"
    is "$step $*: nothing ran" "$(cat out)" ''
}

hang clock
is 'a slow start is said once' "$(grep -c '^hr: the guest has been starting for 1 s and ' err)" 1
hang calibration --cpus 1
hang program -q
is 'quiet: only why the run failed' "$(wc -l <err)" 1
run_hr run -v --accel tcg --cpus 1 "$WORKLOADS/hello"
is 'a guest that starts: status' "$status" 0
is 'a guest that starts: its steps' "$(sed -n 's/^console: boot step: //p' err | tr '\n' ' ')" \
    'memory devices clock transport counters CPUs calibration program '
fails 'a guest that starts: nothing about being ended' grep 'made no progress' err
done_testing
