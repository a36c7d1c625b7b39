/* AMD's instruction-based sampling: every so many ops, or fetches, the processor follows one
 * through its pipeline, keeps in registers what happened to it, and interrupts.
 *
 * AMD64 Architecture Programmer's Manual, volume 2, "Instruction-Based Sampling"; PPR of families
 * 17H, 19H and 1AH, MSRs C001_1030 to C001_103D.  Never run on hardware: tested over fake
 * registers.
 *
 * The hardware knows no rings: an op of the kernel's is followed, too, and its sample dropped here.
 * Latencies are those of loads that missed the first-level cache; nothing is known of stores'.
 *
 * ibs_probe: boot.  All others: on the CPU concerned, interrupts off.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/apic/apic.h"
#include "drivers/pmu/pmu.h"

struct ibs_caps {
    const char *missing; /* why there is none, for a refusal; NULL: there is */
    bool fetch;
    bool checks_ip; /* says when an op's address is not known */
    bool fine_sources; /* Zen 4 and later: more codes for where data was */
    bool loses_sources; /* Zen 3, erratum 1293: not valid for some loads */
    bool no_hit_state; /* CacheHitSt means nothing */
    bool zero_fetches; /* Zen 3, erratum 1197: a fetch without an address is none */
    bool starts_twice; /* Zen 1 and 2: a fetch count starts from 0 only when it was off */
    uint32_t op_period_max; /* multiples of IBS_PERIOD_UNIT */
    uint8_t lvt; /* the entry of the local APIC's extended interrupts */
};

#define IBS_PERIOD_UNIT 16u
#define IBS_PERIOD_MIN 144u /* an op takes its time: what Linux allows, too */
#define IBS_FETCH_PERIOD_MAX 0xffff0u

void ibs_probe(struct ibs_caps *caps);

/* The offset of such an entry in the local APIC. */
static inline uint32_t ibs_lvt(uint32_t entry)
{
    return APIC_LVT_EXTENDED + 0x10u * entry;
}

/* Start sampling on the calling CPU, or change the period from now on; it is rounded down to the
 * unit. */
void ibs_op_start(uint64_t period);
void ibs_fetch_start(const struct ibs_caps *caps, uint64_t period);
void ibs_stop(const struct ibs_caps *caps);

struct ibs_sample {
    uint64_t ip;
    uint64_t address, source; /* as in struct hr_access (lib/trace/trace_accesses.h) */
    uint32_t latency;
    uint32_t what; /* IBS_LOAD and IBS_STORE, of an op */
};
#define IBS_LOAD 1u
#define IBS_STORE 2u

/* Whether the registers hold a sample; it stays there until the next start.  If it is one of ring 3
 * whose address is known, fills it, otherwise leaves `ip` 0. */
bool ibs_op_take(const struct ibs_caps *caps, struct ibs_sample *sample);
bool ibs_fetch_take(const struct ibs_caps *caps, struct ibs_sample *sample);

/* What follows is the part of the AMD driver that makes records of samples (drivers/pmu/pmu.h,
 * precise_...), in drivers/pmu/ibs_records.c. */
void ibs_records_probe(struct pmu_caps *caps);

/* Whether an event is one of IBS: it needs no counter, and cannot be counted. */
bool ibs_makes(const struct pmu_event *event);

/* Part of pmu_driver.assign, for such an event.  The period becomes one that the hardware has. */
int ibs_assign(struct pmu_event *event, struct pmu_refusal *refusal);

int ibs_records_start(const struct pmu_session *session, struct pmu_precise *area);
void ibs_records_stop(const struct pmu_session *session);
void ibs_records_collect(const struct pmu_session *session, struct pmu_precise *area);
void ibs_records_reset(void); /* part of pmu_driver.reset */
