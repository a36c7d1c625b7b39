/* Finds the TSC's frequency: by definition in virtual time, from CPUID, hypervisor or a timer. */
#include "drivers/clock/clock.h"

#include <string.h>

#include "drivers/clock/tsc_calibrate.h"
#include "drivers/platform.h"
#include "include/hr_format.h"
#include "lib/pmu/x86_signature.h"
#include "lib/x86.h"

#define DELAY_SPINS 128 /* a tenth of a microsecond */
#define HZ_PER_GHZ 1000000000ull
#define HYPERVISOR_BASE 0x40000000u
#define INTEL_WORD 0x756e6547u /* "Genu" in CPUID leaf 0 EBX */

/* Linux Documentation/virt/kvm/x86/cpuid.rst and msr.rst */
#define KVM_FEATURES (HYPERVISOR_BASE + 1)
#define KVM_FEATURE_CLOCKSOURCE2 (1u << 3)
#define KVM_SYSTEM_TIME_NEW 0x4b564d01u

static uint64_t clock_hz;
static bool clock_virtual;

/* Returns the ticks that a loop of `rounds` times two instructions takes. */
static uint64_t loop_ticks(uint64_t rounds)
{
    uint64_t start = x86_rdtsc();
    x86_spin(rounds);
    return x86_rdtsc() - start;
}

/* In virtual time two loops differ by exactly two ticks a round, every time; hardware and KVM do
 * not keep that up.
 */
static bool virtual_time_holds(void)
{
    uint64_t overhead = loop_ticks(1000) - 2000;

    if (overhead > 64)
        return false;
    for (uint64_t rounds = 1000; rounds <= 8000; rounds += 1000)
        if (loop_ticks(rounds) != 2 * rounds + overhead)
            return false;
    return true;
}

/* SDM volume 3B, "Determining the Processor Base Frequency", table "Nominal Core Crystal Clock
 * Frequency": of processors that do not tell it.  Servers of that time have another one, or less
 * than its nominal frequency.  0: not one of these. */
static uint32_t crystal_of_client(void)
{
    struct cpuid_result base = x86_cpuid(0, 0), one = x86_cpuid(1, 0);
    struct x86_signature s = x86_signature_parse(one.eax, false);
    bool skylake = s.model == 0x4e || s.model == 0x5e; /* 6th generation */
    bool kaby_lake = s.model == 0x8e || s.model == 0x9e; /* 7th, and what was made of it */

    return base.ebx == INTEL_WORD && s.family == 6 && !(one.ecx >> 31) && (skylake || kaby_lake)
               ? 24000000
               : 0;
}

/* SDM volume 2A, CPUID, leaf 15H: TSC = crystal * EBX / EAX. */
static uint64_t hz_from_cpuid_15h(uint32_t max_leaf)
{
    struct cpuid_result leaf;
    uint32_t crystal;

    if (max_leaf < 0x15)
        return 0;
    leaf = x86_cpuid(0x15, 0);
    if (leaf.eax == 0 || leaf.ebx == 0)
        return 0;
    crystal = leaf.ecx ? leaf.ecx : crystal_of_client();
    return (uint64_t)crystal * leaf.ebx / leaf.eax;
}

/* Leaf 16H: the base frequency in MHz, at which the TSC of the CPUs that have it ticks; up to 1%
 * off, because it is what is printed on the processor. */
static uint64_t hz_from_cpuid_16h(uint32_t max_leaf)
{
    return max_leaf < 0x16 ? 0 : (x86_cpuid(0x16, 0).eax & 0xffff) * 1000000ull;
}

/* Leaf 40000010H, EAX: the TSC in kHz (VMware's definition, which KVM and others follow). */
static uint64_t hz_from_hypervisor(uint32_t max_leaf)
{
    if (max_leaf < HYPERVISOR_BASE + 0x10 || max_leaf > HYPERVISOR_BASE + 0xffff)
        return 0;
    return x86_cpuid(HYPERVISOR_BASE + 0x10, 0).eax * 1000ull;
}

struct kvm_time { /* Linux arch/x86/include/asm/pvclock-abi.h */
    uint32_t version;
    uint32_t padding;
    uint64_t tsc_timestamp;
    uint64_t system_time_ns;
    uint32_t tsc_to_ns_mul;
    int8_t tsc_shift;
    uint8_t flags;
    uint8_t padding2[2];
};
_Static_assert(sizeof(struct kvm_time) == 32, "kvm_time");

static bool under_kvm(struct cpuid_result base)
{
    char signature[12];

    memcpy(signature, &base.ebx, 4);
    memcpy(signature + 4, &base.ecx, 4);
    memcpy(signature + 8, &base.edx, 4);
    return memcmp(signature, "KVMKVMKVM\0\0\0", sizeof signature) == 0;
}

/* ns = (ticks << shift) * mul / 2^32, so one second is 10^9 * 2^32 / mul >> shift ticks. */
static uint64_t hz_from_kvmclock(struct cpuid_result base)
{
    static _Alignas(64) volatile struct kvm_time time;
    uint64_t physical, hz;
    uint32_t mul;
    int shift;

    if (!under_kvm(base) || !(x86_cpuid(KVM_FEATURES, 0).eax & KVM_FEATURE_CLOCKSOURCE2))
        return 0;
    physical = platform_physical_address((const void *)&time);
    x86_wrmsr(KVM_SYSTEM_TIME_NEW, physical | 1);
    mul = time.tsc_to_ns_mul;
    shift = (int)time.tsc_shift;
    x86_wrmsr(KVM_SYSTEM_TIME_NEW, 0);
    if (mul == 0 || shift < -31 || shift > 31)
        return 0;
    hz = (HZ_PER_GHZ << 32) / mul;
    return shift < 0 ? hz << -shift : hz >> shift;
}

static void clock_set(struct clock_source *out, uint64_t hz, uint32_t method)
{
    if (out->hz == 0 && hz != 0) {
        out->hz = hz;
        out->method = method;
    }
}

/* Short under a hypervisor, where emulated time may be slow to pass. */
static uint64_t hz_from_timer(const struct acpi_machine *machine, bool hypervisor)
{
    uint64_t hz = tsc_calibrate(machine, hypervisor ? 600 : 20000);

    if (hz == 0) {
        platform_log("no timer to calibrate the TSC against: assuming 1 GHz");
        hz = HZ_PER_GHZ;
    }
    return hz;
}

void clock_find(const struct acpi_machine *machine, bool may_be_virtual, struct clock_source *out)
{
    memset(out, 0, sizeof *out);
    if (may_be_virtual && virtual_time_holds()) {
        out->virtual_time = true;
        clock_set(out, HZ_PER_GHZ, HR_CLOCK_VIRTUAL);
    } else {
        uint32_t max_leaf = x86_cpuid(0, 0).eax;
        bool hypervisor = x86_cpuid(1, 0).ecx >> 31;

        clock_set(out, hz_from_cpuid_15h(max_leaf), HR_CLOCK_CPUID_15H);
        clock_set(out, hz_from_cpuid_16h(max_leaf), HR_CLOCK_CPUID_16H);
        if (hypervisor) {
            struct cpuid_result base = x86_cpuid(HYPERVISOR_BASE, 0);
            clock_set(out, hz_from_hypervisor(base.eax), HR_CLOCK_HYPERVISOR);
            if (out->hz == 0)
                clock_set(out, hz_from_kvmclock(base), HR_CLOCK_KVMCLOCK);
        }
        if (out->hz == 0)
            clock_set(out, hz_from_timer(machine, hypervisor), HR_CLOCK_CALIBRATED);
    }
    clock_hz = out->hz;
    clock_virtual = out->virtual_time;
}

void clock_delay_us(uint64_t us)
{
    uint64_t ticks = us * clock_hz / 1000000;
    uint64_t start = x86_rdtsc();

    if (clock_virtual)
        x86_spin(ticks / 2 + 1);
    while (x86_rdtsc() - start < ticks) {
        x86_spin(DELAY_SPINS);
        x86_pause();
    }
}

uint64_t clock_us(void)
{
    uint64_t ticks_per_us = clock_hz / 1000000;

    return x86_rdtsc() / (ticks_per_us ? ticks_per_us : 1);
}
