/* AMD's instruction-based sampling: every so many ops, or fetches, the processor follows one
 * through its pipeline, keeps in registers what happened to it, and interrupts (NMI).
 *
 * AMD64 Architecture Programmer's Manual, volume 2, "Instruction-Based Sampling"; PPR of families
 * 17H and 19H, MSRs C001_1030 to C001_103D.  Never run on hardware: tested over fake registers. The
 * kernel does not use it yet: it needs a consumer of samples, as PEBS has one.
 *
 * The hardware knows no rings: an op of the kernel's is followed, too, and its sample dropped here
 * unless `kernel` was asked for.  Latencies are those of loads that missed the first-level cache;
 * nothing is known of stores'.
 *
 * probe: boot.  start, stop: on the CPU concerned, interrupts off.  take: the NMI's handler.
 */
#ifndef DRIVERS_PMU_IBS_H
#define DRIVERS_PMU_IBS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace_accesses.h"

struct ibs_caps {
    const char *missing; /* why there is none, for a refusal; NULL: there is */
    bool fetch;
    bool op;
    bool counts_ops; /* else only cycles */
    bool checks_ip; /* says when an op's address is not known */
    uint32_t op_period_max; /* multiples of IBS_PERIOD_UNIT */
    uint8_t lvt; /* the entry of the local APIC's extended interrupts */
};

#define IBS_PERIOD_UNIT 16u
#define IBS_PERIOD_MIN 144u /* what Linux allows, too */
#define IBS_FETCH_PERIOD_MAX 0xffff0u

/* hr_access.source of an op: bits 7:0 of IbsOpData2 (DataSrc, RmtNode, CacheHitSt), and above bit
 * 31 the lower half of IbsOpData3 (load, store, TLB, misses, lock, width).  Of a fetch: bits 63:48
 * of IbsFetchCtl, and bit 31. */
#define IBS_SOURCE_FETCH (1ull << 31)

void ibs_probe(struct ibs_caps *caps);

/* Start sampling on the calling CPU, with the extended interrupt as an NMI.  Periods are rounded
 * down to the unit; by_ops: of dispatched ops, else of cycles; jitter: the hardware varies the
 * period's lowest four bits.  Return 0, or -EINVAL for a period that the hardware does not have, or
 * -EIO if a register faults. */
int ibs_op_start(const struct ibs_caps *caps, uint64_t period, bool by_ops);
int ibs_fetch_start(const struct ibs_caps *caps, uint64_t period, bool jitter);
void ibs_stop(const struct ibs_caps *caps);

enum ibs_result {
    IBS_NOTHING, /* the NMI has another cause */
    IBS_DROPPED, /* of the other ring, or without an address */
    IBS_SAMPLE,
};

/* Take what the registers hold, and start the next period.  `access` without events. */
enum ibs_result ibs_op_take(const struct ibs_caps *caps, bool kernel, uint64_t *ip,
                            struct hr_access *access);
enum ibs_result ibs_fetch_take(bool kernel, uint64_t *ip, struct hr_access *access);

#endif
