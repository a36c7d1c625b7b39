/* Intel's processor event based sampling: what there is, and its registers.
 *
 * SDM volume 3B, "Processor Event Based Sampling (PEBS)": a counter that wraps is armed, and the
 * next event writes a record and sets the counter to its reset value.  So a counter that is set to
 * minus P writes a record each P + 1 events.
 */
#include "drivers/platform.h"
#include "drivers/pmu/intel.h"
#include "drivers/pmu/pmu_hardware.h"
#include "drivers/pmu/pmu_precise.h"
#include "drivers/pmu/pmu_regs.h"
#include "lib/pmu/pmu_intel.h"
#include "lib/x86.h"

#define CPUID_1_ECX_DTES64 (1u << 2)
#define CPUID_1_EDX_DS (1u << 21)
#define FORMAT_FIRST 1 /* Core 2 has records without addresses */
#define FORMAT_ADAPTIVE 4
#define FORMAT_CACHE_LATENCY 5 /* the latency's upper half is that of the data alone */
#define FORMAT_COUNTERS 4 /* general counters that write records before the baseline */

/* Records of fixed formats. */
static const uint8_t format_bytes[FORMAT_ADAPTIVE] = {0, 176, 192, 200};

static const char *why_not(uint64_t capabilities)
{
    struct cpuid_result leaf = x86_cpuid(1, 0);
    uint32_t format = capabilities >> INTEL_CAPABILITIES_PEBS_FORMAT & 15;
    uint64_t misc, value;

    if (!(leaf.edx & CPUID_1_EDX_DS) || !(leaf.ecx & CPUID_1_ECX_DTES64))
        return "CPUID does not have the debug store (DS)";
    if (platform_msr_read(MSR_INTEL_MISC_ENABLE, &misc) || misc & INTEL_MISC_PEBS_UNAVAILABLE)
        return "IA32_MISC_ENABLE says that PEBS is unavailable";
    if (format < FORMAT_FIRST ||
        (format >= FORMAT_ADAPTIVE && !(capabilities & INTEL_CAPABILITIES_PEBS_BASELINE)))
        return "IA32_PERF_CAPABILITIES names no format of records that has addresses";
    if (platform_msr_read(MSR_INTEL_PEBS_ENABLE, &value) ||
        platform_msr_read(MSR_INTEL_DS_AREA, &value) ||
        (format >= FORMAT_ADAPTIVE && platform_msr_read(MSR_INTEL_PEBS_DATA_CFG, &value)))
        return "a register of PEBS faults, whatever CPUID says";
    return NULL;
}

void intel_pebs_probe(struct pmu_caps *caps, uint64_t capabilities)
{
    caps->no_records = caps->global_control ? why_not(capabilities) : "version 1 has no PEBS";
    if (caps->no_records != NULL)
        return;
    caps->record_format = capabilities >> INTEL_CAPABILITIES_PEBS_FORMAT & 15;
    caps->record_sources = HR_SOURCES_INTEL;
    caps->precise_mask = (1u << FORMAT_COUNTERS) - 1;
    if (capabilities & INTEL_CAPABILITIES_PEBS_BASELINE) {
        caps->precise_mask = 0xff; /* as many as the DS area has reset values for */
        caps->precise_fixed_mask = 0xffff;
    }
    caps->precise_mask &= caps->general_mask;
    caps->precise_fixed_mask &= caps->fixed_mask;
}

bool intel_pebs_adaptive(void)
{
    return intel_caps.record_format >= FORMAT_ADAPTIVE;
}

/* A counter's bit in PEBS_ENABLE and in records. */
static uint32_t counter_bit(const struct pmu_event *event)
{
    return event->counter & INTEL_RDPMC_FIXED ? 32 + (event->counter & 15) : event->counter;
}

/* Events of load latency need one more bit, before the baseline. */
static uint64_t enable_bits(const struct pmu_event *event)
{
    uint64_t bits = 1ull << counter_bit(event);

    if (!intel_pebs_adaptive() && pmu_intel_companion(event->encoding) == MSR_INTEL_PEBS_LD_LAT)
        bits |= bits << INTEL_PEBS_LOAD_LATENCY;
    return bits;
}

static void describe_records(const struct pmu_session *session, struct pmu_precise *area)
{
    area->latency_shift = 0;
    if (intel_pebs_adaptive()) {
        area->kind = session->registers ? PMU_RECORD_ADAPTIVE_REGISTERS : PMU_RECORD_ADAPTIVE;
        area->record_bytes = session->registers ? 208 : 64;
        if (intel_caps.record_format >= FORMAT_CACHE_LATENCY)
            area->latency_shift = 32;
        return;
    }
    area->record_bytes = format_bytes[intel_caps.record_format];
    area->kind = intel_caps.record_format == 1   ? PMU_RECORD_FORMAT1
                 : intel_caps.record_format == 2 ? PMU_RECORD_FORMAT2
                                                 : PMU_RECORD_FORMAT3;
}

static void place_buffer(struct pmu_precise *area)
{
    uint64_t base = (uint64_t)area->buffer;

    area->ds.base = area->ds.index = base;
    area->ds.maximum = base + area->bytes - area->bytes % area->record_bytes;
    area->ds.threshold = base + (uint64_t)area->records * area->record_bytes;
}

int intel_pebs_start(const struct pmu_session *session, struct pmu_precise *area)
{
    uint64_t enable = 0;

    describe_records(session, area);
    place_buffer(area);
    memset(area->bits, 0xff, sizeof area->bits);
    area->counters = 0;
    for (uint32_t i = 0; i < session->event_count; i++) {
        const struct pmu_event *event = &session->events[i];
        uint32_t n = event->counter & ~INTEL_RDPMC_FIXED;

        if (!event->record_period)
            continue;
        area->events[counter_bit(event)] = (uint8_t)i;
        area->bits[counter_bit(event)] = 1ull << counter_bit(event);
        area->counters |= 1ull << counter_bit(event);
        enable |= enable_bits(event);
        pmu_precise_period(area, event, event->record_period);
        pmu_hardware_write(
            (event->counter & INTEL_RDPMC_FIXED ? intel_registers.fixed : intel_registers.counter) +
                n * intel_registers.stride,
            pmu_precise_preset(event, event->record_period));
    }
    pmu_hardware_write(MSR_INTEL_DS_AREA, (uint64_t)&area->ds);
    if (intel_pebs_adaptive())
        pmu_hardware_write(MSR_INTEL_PEBS_DATA_CFG,
                           INTEL_PEBS_MEMORY | (session->registers ? INTEL_PEBS_REGISTERS : 0));
    pmu_hardware_write(MSR_INTEL_GLOBAL_OVF_CTRL, INTEL_STATUS_PEBS_BUFFER);
    pmu_hardware_write(MSR_INTEL_PEBS_ENABLE, enable);
    return pmu_hardware_started();
}

void intel_pebs_stop(const struct pmu_session *)
{
    x86_wrmsr(MSR_INTEL_PEBS_ENABLE, 0);
}

void intel_pebs_served(void)
{
    x86_wrmsr(MSR_INTEL_GLOBAL_OVF_CTRL, INTEL_STATUS_PEBS_BUFFER);
}

void intel_pebs_reset(void)
{
    platform_msr_write(MSR_INTEL_PEBS_ENABLE, 0);
    platform_msr_write(MSR_INTEL_DS_AREA, 0);
}
