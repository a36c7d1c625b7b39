/* Reads KVM's supported CPUID and its module parameters for a vPMU. */
#include <fcntl.h>
#include <limits.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/launch_vpmu.h"

/* Intel SDM volume 2, CPUID, leaf 0AH; AMD APM volume 3, "CPUID Fn8000_0001" (ECX bit 23,
 * PerfCtrExtCore) and "CPUID Fn8000_0022" (EAX bit 0, PerfMonV2).
 */
#define LEAF_INTEL 0xau
#define LEAF_AMD 0x80000001u
#define LEAF_AMD_V2 0x80000022u
#define AMD_CORE_COUNTERS (1u << 23)
#define VENDOR_AMD_EBX 0x68747541u /* "Auth" */
#define VENDOR_HYGON_EBX 0x6f677948u /* "Hygo" */
#define ENTRIES_MAX 256

static const struct kvm_cpuid_entry2 *find(const struct kvm_cpuid_entry2 *entries, size_t count,
                                           uint32_t leaf)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].function == leaf && entries[i].index == 0)
            return &entries[i];
    return NULL;
}

/* The first switch that is off, as "module.parameter"; false when none is. */
static bool find_switched_off(const char *root, const char *modules[2])
{
    static const char *const places[][2] = {
        {"kvm", "enable_pmu"}, {"kvm_intel", "enable_pmu"}, {"kvm_amd", "enable_pmu"},
        {"kvm_intel", "pmu"},  {"kvm_amd", "pmu"},          {"kvm", "pmu"},
    };

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[PATH_MAX];
        FILE *file;
        int value;

        snprintf(path, sizeof path, "%s/sys/module/%s/parameters/%s", root, places[i][0],
                 places[i][1]);
        file = fopen(path, "re");
        if (file == NULL)
            continue;
        value = fgetc(file);
        fclose(file);
        if (value == 'N' || value == '0') {
            modules[0] = places[i][0];
            modules[1] = places[i][1];
            return true;
        }
    }
    return false;
}

static void judge_amd(const struct kvm_cpuid_entry2 *entries, size_t count,
                      struct launch_vpmu *vpmu)
{
    const struct kvm_cpuid_entry2 *extended = find(entries, count, LEAF_AMD);
    const struct kvm_cpuid_entry2 *v2 = find(entries, count, LEAF_AMD_V2);
    bool core = extended != NULL && (extended->ecx & AMD_CORE_COUNTERS) != 0;
    bool perfmon_v2 = v2 != NULL && (v2->eax & 1) != 0;

    /* The four oldest counters have no bit in CPUID: they are there unless switched off. */
    vpmu->present = true;
    snprintf(vpmu->why, sizeof vpmu->why, "KVM has a vPMU (AMD, %s)",
             perfmon_v2 ? "PerfMonV2"
             : core     ? "six core counters"
                        : "four counters");
}

static void judge_intel(const struct kvm_cpuid_entry2 *entries, size_t count,
                        struct launch_vpmu *vpmu)
{
    const struct kvm_cpuid_entry2 *leaf = find(entries, count, LEAF_INTEL);
    unsigned version = leaf != NULL ? leaf->eax & 0xff : 0;

    vpmu->present = version > 0;
    if (vpmu->present)
        snprintf(vpmu->why, sizeof vpmu->why,
                 "KVM has a vPMU (Intel, version %u, %u general counters)", version,
                 leaf->eax >> 8 & 0xff);
    else
        snprintf(vpmu->why, sizeof vpmu->why,
                 "KVM has no vPMU: this machine's own CPU shows no performance counters; if it is "
                 "a virtual machine, switch its vPMU on");
}

void launch_vpmu_judge(const struct kvm_cpuid_entry2 *entries, size_t count, const char *root,
                       struct launch_vpmu *vpmu)
{
    const struct kvm_cpuid_entry2 *vendor = find(entries, count, 0);
    const char *names[2];
    bool amd = vendor != NULL && (vendor->ebx == VENDOR_AMD_EBX || vendor->ebx == VENDOR_HYGON_EBX);

    *vpmu = (struct launch_vpmu){.present = false};
    if (find_switched_off(root, names))
        snprintf(vpmu->why, sizeof vpmu->why,
                 "KVM has no vPMU: parameter %s of module %s is off; load the module with %s=1, on "
                 "a machine that has performance counters",
                 names[1], names[0], names[1]);
    else if (vendor == NULL)
        snprintf(vpmu->why, sizeof vpmu->why, "KVM does not say what CPU it offers");
    else if (amd)
        judge_amd(entries, count, vpmu);
    else
        judge_intel(entries, count, vpmu);
}

void launch_vpmu_find(struct launch_vpmu *vpmu)
{
    struct kvm_cpuid2 *cpuid = calloc(1, sizeof *cpuid + ENTRIES_MAX * sizeof cpuid->entries[0]);
    int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
    size_t count = 0;

    if (cpuid != NULL && kvm >= 0) {
        cpuid->nent = ENTRIES_MAX;
        if (ioctl(kvm, KVM_GET_SUPPORTED_CPUID, cpuid) == 0 && cpuid->nent <= ENTRIES_MAX)
            count = cpuid->nent;
    }
    launch_vpmu_judge(cpuid != NULL ? cpuid->entries : NULL, count, "", vpmu);
    if (kvm >= 0)
        close(kvm);
    free(cpuid);
}
