#!/bin/sh
# For tests of real counters.  QEMU: an emulator whose CPUs have a PMU; FLAVOURS: its CPU models, one a
# line (default: those of the modelled PMUs that the project is developed on).
# shellcheck disable=SC2034
[ -n "${QEMU:-}" ] || { skip 1 "QEMU names no emulator with a PMU"; done_testing; }
modelled='Icelake-Server,model=106,pmu=on
Skylake-Server,pmu=on,pmu-version=4,pmu-gp=4,pmu-fixed=3
Skylake-Server,pmu=on,pmu-version=2,pmu-gp=4,pmu-fixed=3
Skylake-Server,pmu=on,pmu-version=1,pmu-gp=8,pmu-fixed=0
EPYC-Milan,pmu=on
EPYC,pmu=on,pmu-v2=off'
[ -n "${FLAVOURS:-}" ] || FLAVOURS=$modelled
accel=${ACCEL:-tcg} # of a machine with a real PMU: kvm

# What a sample may cost and how exactly counters read back.  The model is exact and reads at once.  On a processor each
# interrupt of ring 3 may count as an instruction or two, and under KVM counters are read in some nanoseconds or by an
# exit of some microseconds: RDPMC_NS="LOW HIGH" says how long one read may take.
if [ "$accel" = kvm ]; then
    intervals='1ms 50us' # the shorter one last: what is after the last sample is within last_piece
    last_piece=1000000
    slack=100
    slack_a_sample=2
    rdpmc_ns=${RDPMC_NS:-1 5000}
else
    intervals='1us 10us'
    last_piece=20000
    slack=0
    slack_a_sample=0
    rdpmc_ns=${RDPMC_NS:-1 5}
fi

# on_flavour OPTION... PROGRAM ARG...: `hr run` on the CPU model $flavour.
# shellcheck disable=SC2154 # the test that includes this file sets it, in its loop over FLAVOURS
on_flavour() {
    run_guest --accel "$accel" --qemu "$QEMU" --cpu "$flavour" "$@"
}
