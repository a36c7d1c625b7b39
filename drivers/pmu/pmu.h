/* The performance counters' contract: one driver is chosen at boot by probing.
 *
 * assign: once, before any CPU starts counting.  start, stop: on the CPU concerned, interrupts off;
 * start by one CPU at a time.
 * read, overflowed, rearm: any context, NMI included; they must not lock, allocate or log.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/hr_format.h"

struct pmu_caps { /* filled once by pmu_probe; later code asks these, never the vendor */
    bool exact_instructions; /* given: virtual time, ring-3 instructions are known exactly */
    bool needs_encodings; /* the host must encode events for this CPU */
    bool global_control; /* one register starts and stops all counters */
    bool full_width_writes; /* counters can be set to any value */
    bool overflow; /* counters interrupt when they overflow */
    uint64_t period_max; /* of overflow sampling */
    uint8_t version; /* of architectural performance monitoring; AMD: 1, or 2 for PerfMonV2 */
    uint8_t general_counters; /* of the mask below */
    uint8_t general_bits; /* width of a general counter */
    uint8_t fixed_counters; /* of the mask below, the highest plus 1 */
    uint8_t fixed_bits;
    uint32_t general_mask; /* bit n: general counter n can be used */
    uint32_t fixed_mask; /* bit n: fixed counter n can be used */
    uint32_t general_held; /* counters in use by others: firmware, or a VM's host */
    uint32_t fixed_held; /* fixed counters in use by others */
    uint32_t missing_events; /* architectural events unavailable by CPUID, its bits */
    uint32_t vendor; /* enum run_cpu_vendor: for the host, which encodes events */
    const char *no_records; /* why it writes no records of precise events; NULL: it does */
    uint8_t record_format; /* Intel: of PEBS */
    uint32_t precise_mask; /* general counters that can write records */
    uint32_t precise_fixed_mask; /* likewise fixed ones */
    bool sampled_records; /* what makes records is no counter: its records are all that is known of
                             its count; and they have neither registers nor a least latency */
    uint32_t record_sources; /* enum hr_access_sources */
};

struct pmu_event { /* one counter of the session, as it goes into the trace */
    char name[64];
    uint64_t encoding; /* event select as the host encoded it, without enable bits */
    uint64_t encoding_ext; /* companion register */
    uint32_t allowed_counters; /* general counters that the host allows it, a bit each; 0: any */
    uint32_t flags; /* HR_EVENT_USER, HR_EVENT_KERNEL */
    uint64_t record_period; /* precise sampling: a record each so many; 0: the event only counts */
    uint32_t counter; /* RDPMC's ECX */
    uint8_t source; /* enum hr_source */
    uint8_t width_bits; /* of the values that read stores */
};

/* Counters start this many events before the end of their range, so that every run shows that
 * passing it loses nothing: values are meaningful as differences modulo their width. */
#define PMU_START_BEFORE_END 65536u

struct pmu_session { /* the events of a run; the same on every CPU */
    uint32_t event_count;
    uint64_t period; /* overflow sampling of the first event: what start arms it with; 0: none */
    bool precise; /* events with a record_period write records */
    bool registers; /* which hold registers */
    struct pmu_event events[HR_EVENTS_MAX];
};

struct pmu_refusal { /* why events cannot be counted */
    uint32_t event; /* position of the one that does not fit */
    uint32_t other; /* -EBUSY: position of the one that it collides with */
    uint32_t msr; /* -EOPNOTSUPP, -EIO: the register that cannot be set, */
    uint64_t value; /* to this; -ERANGE: see assign */
};
#define PMU_NO_EVENT UINT32_MAX /* refusal.event: the register is not of one event */

/* Why the last start returned -EIO; kept by pmu_hardware.c. */
extern struct pmu_refusal pmu_start_refusal;

typedef void pmu_read_function(const struct pmu_session *session, uint64_t user_instructions,
                               uint64_t *values);

typedef void pmu_reader(void); /* not to be called from C, but by pmu_read_by */

/* Calls such code. */
static inline __attribute__((always_inline)) void pmu_read_by(pmu_reader *const *reader,
                                                              uint64_t *values)
{
    __asm__ volatile("call *%[reader]"
                     :
                     : [reader] "m"(*reader), "D"(values)
                     : "rax", "rcx", "rdx", "memory", "cc");
}

struct pmu_precise;

struct pmu_driver {
    const char *name;
    /* Returns true if this driver serves the machine; fills caps.  Finds counters that are
     * advertised but do not count. */
    bool (*probe)(struct pmu_caps *caps);
    /* Gives every event a counter.  0, or with the refusal filled -ENOENT unknown, -EINVAL modifier
     * that cannot be counted, -ENODEV event that CPUID reports as unavailable, -EBUSY two events
     * that need one register with different values, -EOPNOTSUPP one that needs a register which is
     * not there, or does not keep what is written (tried here), -ENOSPC no counter left, -ENXIO one
     * that only makes records and is not asked to, -ERANGE a period of records that is out of
     * range: refusal->value is the nearest.  May round such a period down. */
    int (*assign)(const struct pmu_caps *caps, struct pmu_session *session,
                  struct pmu_refusal *refusal);
    /* Starts counting at PMU_START_BEFORE_END; stub: at 0.  Returns 0, or -EIO with
     * pmu_start_refusal filled if a write faulted: then counts are wrong or missing. */
    int (*start)(const struct pmu_session *session);
    void (*stop)(const struct pmu_session *session);
    /* Clears the calling CPU's registers: counters are off and zero, except those in use before
     * probe.  Context: any, NMI included; also if start was not called.  NULL: no registers. */
    void (*reset)(void);
    /* pause stops the counters; resume starts them again with the same counts.  After start. */
    void (*pause)(const struct pmu_session *session);
    void (*resume)(const struct pmu_session *session);
    /* Precise sampling (drivers/pmu/pmu_precise.h), after a start with session->precise. Interrupts
     * off.  precise_start has records written to the calling CPU's area, from the event's next
     * period on; the caller has enabled the local APIC's LVTPC entry.  0, or -EIO as start, which
     * may come before it or after.  precise_stop ends that; the
     * counters count on.  precise_served acknowledges the interrupt of a buffer that has become
     * full; NULL: the local APIC's EOI does.  precise_start NULL: there is no such thing.
     *
     * precise_collect, called before a buffer is emptied, puts into it what the calling CPU's
     * registers hold; each such record has interrupted, and none is written otherwise.
     * NULL: the processor writes them itself. */
    int (*precise_start)(const struct pmu_session *session, struct pmu_precise *area);
    void (*precise_stop)(const struct pmu_session *session);
    void (*precise_served)(void);
    void (*precise_collect)(const struct pmu_session *session, struct pmu_precise *area);
    /* Stores what the counters hold with pmu_store, width_bits each: the reader extends them.
     * user_instructions: ring-3 ticks so far on this CPU, which a driver without hardware derives
     * its values from. */
    pmu_read_function *read;
    /* As read, except that it leaves the first event's value alone: overflow sampling has read it
     * already.  NULL if counters cannot interrupt. */
    pmu_read_function *read_others;
    /* Returns code that does what read, or if `others` read_others, does for a session of so many
     * events: called with the place of the values in RDI, it changes RAX, RCX, RDX and flags alone,
     * so that a sampler keeps what it knows in registers.  NULL: there is none. */
    pmu_reader *(*reader)(uint32_t event_count, bool others);
};

/* Returns the register of the first event's counter.  After start. */
uint32_t pmu_first_counter_msr(void);

/* Returns a driver like `under` that reads counters by RDMSR instead of RDPMC: a hypervisor may
 * pass one through and trap the other.  Returns `under` itself if that is not possible. */
const struct pmu_driver *pmu_by_msr(const struct pmu_driver *under);

/* Stores a word of a sample past the caches: the service CPU reads it, not this one.
 * pmu_store_fence orders such stores before those that follow. */
static inline void pmu_store(uint64_t *to, uint64_t value)
{
    __asm__ volatile("movnti %1, %0" : "=m"(*to) : "r"(value));
}

static inline void pmu_store32(uint32_t *to, uint32_t value)
{
    __asm__ volatile("movnti %1, %0" : "=m"(*to) : "r"(value));
}

static inline void pmu_store_fence(void)
{
    __asm__ volatile("sfence" ::: "memory");
}

/* Calls read_one(i) for i = count-1 .. 0 without a loop: a sample's five counters cost as many
 * instructions as a loop's bookkeeping alone would.
 */
#define PMU_CASE(n, read_one) \
    case n:                   \
        read_one((n)-1);      \
        __attribute__((fallthrough));
#define PMU_READ_UNROLLED(count, read_one) \
    switch (count) {                       \
        PMU_CASE(13, read_one)             \
        PMU_CASE(12, read_one)             \
        PMU_CASE(11, read_one)             \
        PMU_CASE(10, read_one)             \
        PMU_CASE(9, read_one)              \
        PMU_CASE(8, read_one)              \
        PMU_CASE(7, read_one)              \
        PMU_CASE(6, read_one)              \
        PMU_CASE(5, read_one)              \
        PMU_CASE(4, read_one)              \
        PMU_CASE(3, read_one)              \
        PMU_CASE(2, read_one)              \
        PMU_CASE(1, read_one)              \
    default:                               \
        break;                             \
    }
_Static_assert(HR_EVENTS_MAX == 13, "PMU_READ_UNROLLED");

extern const struct pmu_driver pmu_intel;
extern const struct pmu_driver pmu_amd;
extern const struct pmu_driver pmu_stub;

/* Picks the first driver whose probe succeeds. */
const struct pmu_driver *pmu_probe(struct pmu_caps *caps);
