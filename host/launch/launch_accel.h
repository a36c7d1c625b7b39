/* Determines whether KVM works here and executes code at a CPU's speed. */
#pragma once

#include <stdbool.h>

enum launch_accel_state {
    LAUNCH_ACCEL_FAST, /* KVM works, at a CPU's speed */
    LAUNCH_ACCEL_SLOW, /* KVM works, but emulates each instruction */
    LAUNCH_ACCEL_ABSENT, /* no /dev/kvm */
    LAUNCH_ACCEL_FORBIDDEN, /* no permission for it */
    LAUNCH_ACCEL_BROKEN, /* KVM refuses to create or to run a virtual machine */
};

struct launch_accel_speed {
    enum launch_accel_state state;
    double kvm_ns; /* time of an instruction in a virtual machine; 0: none was executed */
    double own_ns; /* time of that instruction in this process; 0: not measured */
};

/* Runs a loop of 200,000 instructions in a tiny virtual machine, for at most 2 ms of CPU time, and
 * in this process.  Call it while the process has one thread, because it uses SIGALRM. */
void launch_accel_measure(struct launch_accel_speed *speed);

/* Measures as launch_accel_measure.  Returns whether KVM is the better choice and stores the reason
 * in *why (a constant). */
bool launch_accel_kvm_is_fast(const char **why);
