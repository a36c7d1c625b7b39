/* From records of precise events to samples in the ring. */
#include "guest/sample/pebs.h"

#include <errno.h>
#include <string.h>

#include "drivers/apic/apic.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/paravirt.h"
#include "guest/memory/phys.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"
#include "guest/sample/stack.h"
#include "lib/splitmix.h"
#include "lib/trace/trace_accesses.h"

#define BLOCK_BYTES ((uint64_t)PAGE_BYTES << PHYS_ORDER_MAX)
#define RECORDS 2048u /* until the interrupt */
#define RECORDS_JITTER 64u /* these have one period */
#define JITTER_SHIFT 3 /* a period is up to an eighth more or less than it should be */

_Static_assert(sizeof(struct pebs) + (RECORDS + PMU_RECORDS_SPARE) * PMU_RECORD_BYTES_MAX +
                       sizeof(struct trace_accesses) <=
                   BLOCK_BYTES,
               "all is in one block");
_Static_assert(PMU_RECORD_BYTES_MAX % 8 == 0 && sizeof(struct pebs) % 64 == 0, "alignment");

/* Where a slot holds what its record says, until pebs_complete. */
enum { RAW_ADDRESS, RAW_SOURCE, RAW_LATENCY, RAW_COUNTERS, RAW_REGISTERS };

/* What all records of a buffer have in common. */
struct pebs_copy {
    uint64_t first; /* TSC before all of them */
    uint64_t span; /* from there until now */
    uint64_t start; /* the workload clock at `first` */
    uint64_t tid_and_flags;
    uint64_t slot_bytes;
    uint64_t counters; /* that write records */
};

/* Several counters made the record, or one that is not ours.  Returns whether it is whole. */
static __attribute__((noinline)) bool count_several(struct pebs *pebs, uint64_t counters)
{
    if (!counters || counters & ~pebs->area.counters)
        return false;
    for (; counters; counters &= counters - 1)
        pebs->records[__builtin_ctzll(counters)]++;
    return true;
}

static inline __attribute__((always_inline)) bool
count_record(struct pebs *pebs, const struct pebs_copy *copy, uint64_t counters, bool one)
{
    uint64_t first = 0;

    if (one) /* copy_some counts it */
        return counters == copy->counters;
    __asm__("bsfq %1, %0" : "+r"(first) : "r"(counters) : "cc"); /* of none: it stays 0 */
    if (__builtin_expect(pebs->area.bits[first] != counters, 0))
        return count_several(pebs, counters);
    pebs->records[first]++;
    return true;
}

_Static_assert(HR_ACCESS_REGISTERS == 18, "copy_registers copies them all");

/* In the record's order, and without a loop, which would be as many instructions again. */
static inline __attribute__((always_inline)) void copy_registers(uint64_t *to, const uint8_t *words)
{
#define COPY(i) pmu_store(&to[i], pmu_precise_word(words, 8 * (i)))
#define COPY_SIX(i) \
    COPY(i), COPY((i) + 1), COPY((i) + 2), COPY((i) + 3), COPY((i) + 4), COPY((i) + 5)
    COPY_SIX(0);
    COPY_SIX(6);
    COPY_SIX(12);
#undef COPY_SIX
#undef COPY
}

/* Copies records to slots, which there are for all of them, up to the first that is damaged.
 * Returns where that is, or `end`.  What can be done later is done in pebs_complete. */
static inline __attribute__((always_inline)) const uint8_t *
copy_records(struct pebs *pebs, const struct pebs_copy *given, uint8_t **slots, const uint8_t *at,
             const uint8_t *end, enum pmu_record_kind kind, bool one)
{
    const uint32_t bytes =
        kind == PMU_RECORD_ADAPTIVE ? PMU_ADAPTIVE_BYTES : pebs->area.record_bytes;
    const bool registers = kind != PMU_RECORD_ADAPTIVE && sampling.session.registers;
    const struct pebs_copy copy = *given; /* in registers */
    uint8_t *next = *slots;

    for (; at != end; at += bytes, next += copy.slot_bytes) {
        struct trace_slot *slot = (struct trace_slot *)(void *)next;
        const uint8_t *access = pmu_precise_access(kind, at);
        uint64_t since, counters;

        if (!pmu_precise_is(kind, at))
            break;
        counters = pmu_precise_counters(kind, at);
        if (!count_record(pebs, &copy, counters, one))
            break;
        since = pmu_precise_ticks(kind, at) - copy.first;
        if (__builtin_expect(since > copy.span, 0))
            since = 0; /* it says no time, or one that cannot be */
        pmu_store(&slot->time, copy.start + since);
        pmu_store(&slot->ip, pmu_precise_ip(kind, at));
        pmu_store((uint64_t *)(void *)&slot->tid, copy.tid_and_flags);
        pmu_store(&slot->counters[RAW_ADDRESS], pmu_precise_word(access, 0));
        pmu_store(&slot->counters[RAW_SOURCE], pmu_precise_word(access, 8));
        pmu_store(&slot->counters[RAW_LATENCY], pmu_precise_word(access, 16));
        pmu_store(&slot->counters[RAW_COUNTERS], counters);
        if (registers)
            copy_registers(&slot->counters[RAW_REGISTERS], pmu_precise_words(kind, at));
    }
    *slots = next;
    return at;
}

static __attribute__((noinline)) const uint8_t *copy_of_one(struct pebs *pebs,
                                                            const struct pebs_copy *copy,
                                                            uint8_t **slots, const uint8_t *at,
                                                            const uint8_t *end)
{
    return copy_records(pebs, copy, slots, at, end, PMU_RECORD_ADAPTIVE, true);
}

static __attribute__((noinline)) const uint8_t *copy_of_several(struct pebs *pebs,
                                                                const struct pebs_copy *copy,
                                                                uint8_t **slots, const uint8_t *at,
                                                                const uint8_t *end)
{
    return copy_records(pebs, copy, slots, at, end, PMU_RECORD_ADAPTIVE, false);
}

static __attribute__((noinline)) const uint8_t *
copy_with_registers(struct pebs *pebs, const struct pebs_copy *copy, uint8_t **slots,
                    const uint8_t *at, const uint8_t *end)
{
    return copy_records(pebs, copy, slots, at, end, PMU_RECORD_ADAPTIVE_REGISTERS, false);
}

static const uint8_t *copy_some(struct pebs *pebs, const struct pebs_copy *copy, uint8_t **slots,
                                const uint8_t *at, const uint8_t *end)
{
    const uint8_t *first = *slots;

    if (pebs->area.kind == PMU_RECORD_ADAPTIVE_REGISTERS)
        return copy_with_registers(pebs, copy, slots, at, end);
    if (pebs->area.kind != PMU_RECORD_ADAPTIVE)
        return copy_records(pebs, copy, slots, at, end, pebs->area.kind, false);
    if (copy->counters & (copy->counters - 1))
        return copy_of_several(pebs, copy, slots, at, end);
    at = copy_of_one(pebs, copy, slots, at, end);
    pebs->records[__builtin_ctzll(copy->counters)] += (uint64_t)(*slots - first) / copy->slot_bytes;
    return at;
}

/* With call stacks each record interrupts, when the program has moved on by an instruction at
 * least. Should there be several all the same, its stack is that of the newest. */
static __attribute__((noinline)) void add_stacks(struct cpu *cpu, uint8_t *slots, uint8_t *end,
                                                 bool newest)
{
    uint64_t bytes = 1ull << cpu->ring->slot_shift;

    for (; slots != end; slots += bytes) {
        struct trace_slot *slot = (struct trace_slot *)(void *)slots;

        if (newest && slots + bytes == end)
            stack_take_later(cpu, slot, stack_frame(cpu));
        else
            stack_take_none(slot);
    }
}

/* Copies as many records as there are slots in one piece.  Returns what is left; a damaged record
 * is counted as lost. */
static const uint8_t *copy_piece(struct cpu *cpu, const struct pebs_copy *copy, const uint8_t *at,
                                 const uint8_t *end)
{
    struct ring *ring = cpu->ring;
    struct pebs *pebs = cpu->pebs;
    uint32_t bytes = pebs->area.record_bytes;
    uint64_t room = ring->limit - ring->head, piece = ring->mask + 1 - (ring->head & ring->mask);
    uint8_t *first = (uint8_t *)ring_slot(ring, ring->head), *slots = first;
    const uint8_t *stop = end;

    if (piece > room)
        piece = room;
    if ((uint64_t)(end - at) > piece * bytes)
        stop = at + piece * bytes;
    at = copy_some(pebs, copy, &slots, at, stop);
    if (run.stacks.kind)
        add_stacks(cpu, first, slots, at == end);
    pmu_store_fence();
    ring_publish_slots(ring, ring->head + ((uint64_t)(slots - first) >> ring->slot_shift));
    if (at == stop)
        return at;
    ring_drop(ring, copy->start + copy->span);
    return at + bytes;
}

/* Counts what the records of a buffer stand for. */
static void count_records(struct pebs *pebs)
{
    for (uint64_t left = pebs->area.counters; left; left &= left - 1) {
        uint32_t counter = (uint32_t)__builtin_ctzll(left), event = pebs->area.events[counter];
        uint64_t records = pebs->records[counter];

        if (!records)
            continue;
        pebs->whole[event] += pebs->armed[event] + (records - 1) * pebs->next[event];
        pebs->armed[event] = pebs->next[event];
        pebs->records[counter] = 0;
    }
}

/* Draws each event's next period. */
static void pebs_jitter(struct pebs *pebs)
{
    for (uint32_t i = 0; i < sampling.session.event_count; i++) {
        const struct pmu_event *event = &sampling.session.events[i];
        uint64_t range = event->record_period >> JITTER_SHIFT, period;

        if (!range)
            continue;
        period = event->record_period - range + splitmix_next(&pebs->random) % (2 * range + 1);
        pmu_precise_period(&pebs->area, event, period);
        if (!run.pmu_caps.sampled_records)
            pebs->next[i] = period;
    }
}

/* Empties a buffer that is not empty. */
static __attribute__((noinline)) void take_records(struct cpu *cpu, const uint8_t *at,
                                                   const uint8_t *end)
{
    struct pebs *pebs = cpu->pebs;
    uint64_t now = x86_rdtsc();
    const struct pebs_copy copy = {.first = pebs->emptied,
                                   .span = now - pebs->emptied,
                                   .start = pebs->emptied - *cpu->clock.offset,
                                   .tid_and_flags = cpu->tid,
                                   .slot_bytes = 1ull << cpu->ring->slot_shift,
                                   .counters = pebs->area.counters};

    while (at != end) {
        if (ring_has_room(cpu->ring) || sampler_make_room(cpu, copy.start + copy.span)) {
            at = copy_piece(cpu, &copy, at, end);
            continue;
        }
        /* sampler_make_room has counted it as lost */
        count_several(pebs, pmu_precise_counters(pebs->area.kind, at));
        at += pebs->area.record_bytes;
    }
    count_records(pebs);
    pebs->emptied = now;
    if (sampling.jitter)
        pebs_jitter(pebs);
}

static void pebs_collect(struct cpu *cpu)
{
    if (__builtin_expect(run.pmu->precise_collect != NULL, 0))
        run.pmu->precise_collect(&sampling.session, &cpu->pebs->area);
}

void pebs_empty(struct cpu *cpu)
{
    const uint8_t *end, *at;

    pebs_collect(cpu);
    at = pmu_precise_take(&cpu->pebs->area, &end);
    if (at != end)
        take_records(cpu, at, end);
}

void pebs_complete(const struct pebs *pebs, struct trace_slot *slot, uint64_t *counters)
{
    struct hr_access access = {
        .address = slot->counters[RAW_ADDRESS],
        .source = slot->counters[RAW_SOURCE],
        .latency = (uint32_t)(slot->counters[RAW_LATENCY] >> pebs->area.latency_shift)};
    uint64_t *to = slot->counters;
    size_t bytes = offsetof(struct hr_access, registers);

    for (uint64_t left = slot->counters[RAW_COUNTERS]; left; left &= left - 1) {
        uint32_t event = pebs->area.events[__builtin_ctzll(left)];

        access.events |= 1u << event;
        counters[event] += sampling.session.events[event].record_period;
    }
    if (sampling.session.registers) {
        pmu_precise_registers(pebs->area.kind, &slot->counters[RAW_REGISTERS], access.registers);
        bytes = sizeof access;
    }
    memcpy(to, counters, sampling.session.event_count * sizeof *counters);
    memcpy(to + sampling.session.event_count, &access, bytes);
}

void pebs_entered(void)
{
    pebs_empty(cpu_this());
}

static void pebs_served(struct cpu *cpu)
{
    if (run.pmu->precise_served != NULL) {
        run.pmu->precise_served();
        apic_pmi_interrupt(VECTOR_PRECISE);
    }
    paravirt_eoi(cpu);
}

void pebs_interrupt(struct irq_frame *)
{
    struct cpu *cpu = cpu_this();

    pebs_empty(cpu);
    cpu->activity.interruptions += !cpu->clock.stop_mask;
    pebs_served(cpu);
}

void pebs_interrupt_in_kernel(struct irq_frame *)
{
    pebs_collect(cpu_this()); /* the kernel's own, which is dropped */
    pebs_served(cpu_this());
}

/* Memory comes from the end, so that all other allocations are where they are without. */
static int widen_ring(struct ring *ring)
{
    uint64_t block = 0;

    if (!run.stacks.kind) { /* otherwise stack_add_to_ring moves it */
        block = phys_alloc_last();
        if (!block)
            return -ENOMEM;
    }
    ring_widen(ring, block ? phys_pointer(block) : NULL, BLOCK_BYTES, sampling_values());
    return 0;
}

int pebs_add_cpu(struct cpu *cpu)
{
    uint32_t records = run.stacks.kind ? 1 : sampling.jitter ? RECORDS_JITTER : RECORDS;
    uint64_t block;
    struct pebs *pebs;

    if (!sampling.precise)
        return 0;
    block = phys_alloc_last();
    if (!block || widen_ring(cpu->ring))
        return -ENOMEM;
    pebs = phys_pointer(block);
    memset(pebs, 0, sizeof *pebs);
    pebs->area.records = records;
    pebs->area.bytes = pmu_precise_bytes(records);
    pebs->area.buffer = (uint8_t *)(pebs + 1);
    pebs->random = cpu->index;
    cpu->pebs = pebs;
    return 0;
}

struct trace_accesses *pebs_accesses(const struct cpu *cpu)
{
    struct pebs *pebs = cpu->pebs;

    return (struct trace_accesses *)(void *)(pebs->area.buffer + pebs->area.bytes);
}
