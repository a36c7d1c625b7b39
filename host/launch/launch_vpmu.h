/* Asks whether KVM gives guests performance counters (a vPMU), and if not, why. */
#ifndef HOST_LAUNCH_LAUNCH_VPMU_H
#define HOST_LAUNCH_LAUNCH_VPMU_H

#include <stdbool.h>

#include "host/events/cpu_counters.h"

struct launch_vpmu {
    bool present;
    char why[240]; /* what there is, or the reason that there is none with its remedy */
};

/* Where modules of KVM, by its versions, have a switch for guests' counters. */
struct launch_vpmu_switch {
    const char *module, *parameter;
};
extern const struct launch_vpmu_switch launch_vpmu_switches[]; /* ends with a NULL module */

/* Judges the counters that KVM offers, an error (-errno) of asking for them, the CPU's own, and the
 * switches of KVM's modules in ROOT/sys ("" for this machine).
 */
void launch_vpmu_judge(const struct cpu_counters *offered, int error,
                       const struct cpu_counters *own, const char *root, struct launch_vpmu *vpmu);

/* Asks /dev/kvm of this machine. */
void launch_vpmu_find(struct launch_vpmu *vpmu);

#endif
