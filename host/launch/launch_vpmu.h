/* Determines whether KVM gives guests performance counters (a vPMU), and if not, why. */
#pragma once

#include <stdbool.h>

#include "host/events/cpu_counters.h"

struct launch_vpmu {
    bool present;
    char why[240]; /* description of the counters, or why there are none, with the remedy */
};

/* A switch for guests' counters, by module; it depends on the version of KVM. */
struct launch_vpmu_switch {
    const char *module, *parameter;
};
extern const struct launch_vpmu_switch launch_vpmu_switches[]; /* ends with a NULL module */

/* Judges the counters that KVM offers, or the error (-errno) of asking for them, the CPU's own
 * counters, and the switches of KVM's modules in ROOT/sys ("" for this machine). */
void launch_vpmu_judge(const struct cpu_counters *offered, int error,
                       const struct cpu_counters *own, const char *root, struct launch_vpmu *vpmu);

/* Judges the counters of this machine's /dev/kvm. */
void launch_vpmu_find(struct launch_vpmu *vpmu);
