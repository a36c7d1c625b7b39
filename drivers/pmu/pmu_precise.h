/* Precise sampling: the processor itself writes a record of each Nth event into memory, and
 * interrupts when the memory is nearly full.
 *
 * The records are Intel's PEBS (SDM volume 3B, "Processor Event Based Sampling (PEBS)", "Adaptive
 * PEBS").  What wrote them may be a hypervisor: nothing in them is trusted.  Context of all
 * functions: the CPU that the area belongs to, interrupts off.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "drivers/pmu/pmu.h"
#include "include/hr_format.h"

/* What the processor reads and writes: SDM "DS Save Area", 64-bit layout. */
struct pmu_precise_ds {
    uint64_t branches[4]; /* branch trace store: not used */
    uint64_t base;
    uint64_t index; /* where the next record goes */
    uint64_t maximum; /* a record that does not end before here is dropped */
    uint64_t threshold; /* the interrupt comes when the index gets here */
    uint64_t general_reset[8]; /* what a counter is set to when its record is written */
    uint64_t fixed_reset[16];
};
_Static_assert(sizeof(struct pmu_precise_ds) == 0x100, "DS area");

enum pmu_record_kind { /* of all records of an area */
                       PMU_RECORD_ADAPTIVE, /* formats 4 and up: basic and memory groups */
                       PMU_RECORD_ADAPTIVE_REGISTERS, /* and general registers */
                       PMU_RECORD_FORMAT1, /* Nehalem to Ivy Bridge: no time, ip is the next one */
                       PMU_RECORD_FORMAT2, /* Haswell, Broadwell: no time */
                       PMU_RECORD_FORMAT3, /* Skylake */
};

struct pmu_precise { /* of one CPU; the caller's, all zero at first */
    struct pmu_precise_ds ds __attribute__((aligned(64)));
    uint8_t *buffer; /* set by the caller, as are the next two */
    uint32_t bytes; /* of the buffer */
    uint32_t records; /* until the interrupt */
    /* set by precise_start */
    enum pmu_record_kind kind;
    uint32_t record_bytes;
    uint32_t latency_shift; /* where in the word of its name a record has the latency */
    uint64_t counters; /* that write records, as records name them */
    uint8_t events[64]; /* of these counters */
    uint64_t bits[64]; /* bit n for each such counter n, otherwise PMU_NO_COUNTER */
};
#define PMU_NO_COUNTER UINT64_MAX
#define PMU_RECORD_BYTES_MAX 208u
#define PMU_RECORDS_SPARE 512u /* what may be written between the threshold and the interrupt */

/* Returns the bytes of buffer that so many records until the interrupt take. */
static inline uint32_t pmu_precise_bytes(uint32_t records)
{
    return (records + PMU_RECORDS_SPARE) * PMU_RECORD_BYTES_MAX;
}

static inline uint64_t pmu_precise_word(const uint8_t *record, uint32_t offset)
{
    uint64_t word;

    __builtin_memcpy(&word, record + offset, sizeof word);
    return word;
}

/* Word 0 of adaptive records: the size, and the groups (PEBS_DATA_CFG). */
#define PMU_ADAPTIVE_BYTES 64u
#define PMU_ADAPTIVE_HEAD                                                  \
    0xffff0000ffffffffull /* the rest is reserved, or counts retired slots \
                           */
#define PMU_ADAPTIVE_MEMORY (64ull << 48 | 1)
#define PMU_ADAPTIVE_REGISTERS (208ull << 48 | 3)

/* Returns true if there is a record of this kind at `at`.  `kind`, here and below, is a constant
 * where it matters how long that takes. */
static inline __attribute__((always_inline)) bool pmu_precise_is(enum pmu_record_kind kind,
                                                                 const uint8_t *at)
{
    uint64_t head = kind == PMU_RECORD_ADAPTIVE ? PMU_ADAPTIVE_MEMORY : PMU_ADAPTIVE_REGISTERS;

    return kind > PMU_RECORD_ADAPTIVE_REGISTERS ||
           (pmu_precise_word(at, 0) & PMU_ADAPTIVE_HEAD) == head;
}

/* Fields of records. */
static inline __attribute__((always_inline)) uint64_t pmu_precise_ip(enum pmu_record_kind kind,
                                                                     const uint8_t *at)
{
    return pmu_precise_word(at, kind <= PMU_RECORD_ADAPTIVE_REGISTERS ? 8
                                : kind == PMU_RECORD_FORMAT1          ? 0x08
                                                                      : 0xb0);
}

/* The counters that made it: general ones from bit 0 on, fixed ones from bit 32. */
static inline __attribute__((always_inline)) uint64_t
pmu_precise_counters(enum pmu_record_kind kind, const uint8_t *at)
{
    return pmu_precise_word(at, kind <= PMU_RECORD_ADAPTIVE_REGISTERS ? 16 : 0x90);
}

/* TSC; 0: unknown. */
static inline __attribute__((always_inline)) uint64_t pmu_precise_ticks(enum pmu_record_kind kind,
                                                                        const uint8_t *at)
{
    if (kind == PMU_RECORD_FORMAT1 || kind == PMU_RECORD_FORMAT2)
        return 0;
    return pmu_precise_word(at, kind <= PMU_RECORD_ADAPTIVE_REGISTERS ? 24 : 0xc0);
}

/* The address, source and latency of its access are three words from here on. */
static inline __attribute__((always_inline)) const uint8_t *
pmu_precise_access(enum pmu_record_kind kind, const uint8_t *at)
{
    return at + (kind <= PMU_RECORD_ADAPTIVE_REGISTERS ? 32 : 0x98);
}

/* A record's registers are HR_ACCESS_REGISTERS words from here on, in its own order. */
static inline __attribute__((always_inline)) const uint8_t *
pmu_precise_words(enum pmu_record_kind kind, const uint8_t *at)
{
    return at + (kind <= PMU_RECORD_ADAPTIVE_REGISTERS ? 64 : 0);
}

/* Stores such words in the order of HR_ACCESS_REGISTERS. */
void pmu_precise_registers(enum pmu_record_kind kind, const uint64_t *words, uint64_t *registers);

/* Empties the buffer: returns where its records are, and *end, after the last whole one.  They stay
 * until records are written again, which ring 3 does.  An index outside of the buffer means none.
 */
const uint8_t *pmu_precise_take(struct pmu_precise *area, const uint8_t **end);

/* What a counter holds for its next record to come with the event number `period` from then on. */
static inline uint64_t pmu_precise_preset(const struct pmu_event *event, uint64_t period)
{
    return (1 - period) & ~0ull >> (64 - event->width_bits);
}

/* Sets how many of event `event` come from one record to the next, once the one under way is
 * written. */
void pmu_precise_period(struct pmu_precise *area, const struct pmu_event *event, uint64_t period);
