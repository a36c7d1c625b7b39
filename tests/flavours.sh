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

# on_flavour OPTION... PROGRAM ARG...: `hr run` on the CPU model $flavour.
# shellcheck disable=SC2154 # the test that includes this file sets it, in its loop over FLAVOURS
on_flavour() {
    run_guest --accel "$accel" --qemu "$QEMU" --cpu "$flavour" "$@"
}
