/* Asks whether KVM gives guests performance counters (a vPMU), and if not, why. */
#ifndef HOST_LAUNCH_VPMU_H
#define HOST_LAUNCH_VPMU_H

#include <stdbool.h>
#include <stddef.h>

struct kvm_cpuid_entry2;

struct launch_vpmu {
    bool present;
    char why[200]; /* what there is, or the reason that there is none with its remedy */
};

/* Judges what KVM supports in CPUID and the module parameters in ROOT/sys ("" for this machine). */
void launch_vpmu_judge(const struct kvm_cpuid_entry2 *entries, size_t count, const char *root,
                       struct launch_vpmu *vpmu);

/* Asks /dev/kvm of this machine. */
void launch_vpmu_find(struct launch_vpmu *vpmu);

#endif
