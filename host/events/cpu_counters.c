/* Reads the performance counters from CPUID leaves of the processor or KVM. */
#include "host/events/cpu_counters.h"

#include <cpuid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "lib/array.h"

#define LEAF_VENDOR 0u
#define LEAF_EXTENDED_FEATURES 7u
#define LEAF_INTEL_COUNTERS 0xau
#define LEAF_AMD_FEATURES 0x80000001u
#define LEAF_AMD_COUNTERS 0x80000022u
#define HYBRID (1u << 15) /* of LEAF_EXTENDED_FEATURES EDX */
#define AMD_PERFCTR_CORE (1u << 23) /* of LEAF_AMD_FEATURES ECX */
#define AMD_PERFMON_V2 1u /* of LEAF_AMD_COUNTERS EAX */
#define AMD_CORE_COUNTERS 6
#define AMD_COUNTER_BITS 48
#define LEAVES_MAX 1024 /* KVM has about a hundred; more is not a valid answer */

static const uint32_t asked[] = {LEAF_VENDOR, LEAF_EXTENDED_FEATURES, LEAF_INTEL_COUNTERS,
                                 LEAF_AMD_FEATURES, LEAF_AMD_COUNTERS};

static struct kvm_cpuid_entry2 find_leaf(const struct kvm_cpuid_entry2 *leaves, size_t count,
                                         uint32_t function)
{
    for (size_t i = 0; i < count; i++)
        if (leaves[i].function == function)
            return leaves[i];
    return (struct kvm_cpuid_entry2){.function = function};
}

/* Intel SDM volume 2, CPUID, "Architectural Performance Monitoring Leaf". */
static void decode_intel(const struct kvm_cpuid_entry2 *leaf, struct cpu_counters *counters)
{
    counters->general = leaf->eax >> 8 & 0xff;
    if ((leaf->eax & 0xff) == 0 || counters->general == 0)
        return;
    counters->version = leaf->eax & 0xff;
    counters->general_bits = leaf->eax >> 16 & 0xff;
    if (counters->version > 1)
        counters->fixed = leaf->edx & 0x1f;
}

/* AMD APM volume 3, appendix E, "Function 8000_0001h" and "Function 8000_0022h".  Nothing there
 * announces the four legacy counters: a CPU that has only those (before family 15H) counts as
 * having none. */
static void decode_amd(const struct kvm_cpuid_entry2 *features,
                       const struct kvm_cpuid_entry2 *performance, struct cpu_counters *counters)
{
    if ((performance->eax & AMD_PERFMON_V2) != 0) {
        counters->version = 2;
        counters->general = performance->ebx & 0xf;
    } else if ((features->ecx & AMD_PERFCTR_CORE) != 0) {
        counters->version = 1;
        counters->general = AMD_CORE_COUNTERS;
    }
    if (counters->general == 0)
        counters->version = 0;
    else
        counters->general_bits = AMD_COUNTER_BITS;
}

void cpu_counters_decode(const struct kvm_cpuid_entry2 *leaves, size_t count,
                         struct cpu_counters *counters)
{
    struct kvm_cpuid_entry2 vendor = find_leaf(leaves, count, LEAF_VENDOR);
    struct kvm_cpuid_entry2 extended = find_leaf(leaves, count, LEAF_EXTENDED_FEATURES);
    struct kvm_cpuid_entry2 intel = find_leaf(leaves, count, LEAF_INTEL_COUNTERS);
    struct kvm_cpuid_entry2 features = find_leaf(leaves, count, LEAF_AMD_FEATURES);
    struct kvm_cpuid_entry2 performance = find_leaf(leaves, count, LEAF_AMD_COUNTERS);

    *counters = (struct cpu_counters){.vendor = RUN_CPU_OTHER};
    if (vendor.ebx == signature_INTEL_ebx) {
        counters->vendor = RUN_CPU_INTEL;
        counters->hybrid = (extended.edx & HYBRID) != 0;
        decode_intel(&intel, counters);
    } else if (vendor.ebx == signature_AMD_ebx) {
        counters->vendor = RUN_CPU_AMD;
        decode_amd(&features, &performance, counters);
    }
}

void cpu_counters_of_host(struct cpu_counters *counters)
{
    struct kvm_cpuid_entry2 leaves[ARRAY_COUNT(asked)] = {{0}};

    for (size_t i = 0; i < ARRAY_COUNT(asked); i++) {
        struct kvm_cpuid_entry2 *leaf = &leaves[i];

        leaf->function = asked[i];
        (void)__get_cpuid_count(asked[i], 0, &leaf->eax, &leaf->ebx, &leaf->ecx, &leaf->edx);
    }
    cpu_counters_decode(leaves, ARRAY_COUNT(asked), counters);
}

int cpu_counters_of_kvm(int kvm_fd, struct cpu_counters *counters)
{
    struct kvm_cpuid2 *answer =
        calloc(1, sizeof *answer + LEAVES_MAX * sizeof(struct kvm_cpuid_entry2));
    int error = 0;

    *counters = (struct cpu_counters){.vendor = RUN_CPU_OTHER};
    if (answer == NULL)
        return -ENOMEM;
    answer->nent = LEAVES_MAX;
    if (ioctl(kvm_fd, KVM_GET_SUPPORTED_CPUID, answer) != 0)
        error = -errno;
    else if (answer->nent > LEAVES_MAX)
        error = -EPROTO;
    else
        cpu_counters_decode(answer->entries, answer->nent, counters);
    free(answer);
    return error;
}

char *cpu_counters_describe(const struct cpu_counters *counters, char *out)
{
    if (counters->version == 0)
        snprintf(out, CPU_COUNTERS_TEXT_BYTES, "none");
    else if (counters->vendor == RUN_CPU_AMD)
        snprintf(out, CPU_COUNTERS_TEXT_BYTES, "%s, %u counters of %u bits",
                 counters->version > 1 ? "PerfMonV2" : "before PerfMonV2", counters->general,
                 counters->general_bits);
    else
        snprintf(out, CPU_COUNTERS_TEXT_BYTES,
                 "version %u, %u general and %u fixed counters of %u bits", counters->version,
                 counters->general, counters->fixed, counters->general_bits);
    return out;
}
