/* What guest/sample/pebs.c needs of the kernel, for its tests. */
#ifndef TESTS_UNIT_GUEST_SAMPLE_FAKE_PEBS_H
#define TESTS_UNIT_GUEST_SAMPLE_FAKE_PEBS_H

#include <stdlib.h>

#include "drivers/pmu/pmu_precise.c"
#include "guest/sample/pebs.c"
#include "guest/sample/ring.c"

struct run_config run;
struct sampling sampling;
struct cpu cpus[CPUS_MAX];
struct apic_state apic;
void (*sampler_drain)(struct cpu *cpu);
uint32_t stack_offset;
static uint8_t *blocks[2];
static uint32_t block_count;

uint32_t sampling_values(void)
{
    return sampling.session.event_count +
           (sampling.session.registers ? TRACE_SLOT_REGISTERS : TRACE_SLOT_ACCESS);
}

void *platform_allocate(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) & ~63ull);
}

uint64_t phys_alloc_last(void)
{
    uint8_t *block = aligned_alloc(64, BLOCK_BYTES);

    blocks[block_count++] = block;
    return (uint64_t)block - (uint64_t)phys_pointer(0);
}

void stack_take_later(struct cpu *cpu, struct trace_slot *slot, const struct trap_frame *frame)
{
    (void)cpu;
    (void)slot;
    (void)frame;
}

void stack_take_none(struct trace_slot *slot)
{
    (void)slot;
}

/* Makes a CPU's ring of `slots` slots and its state for records, after the session is set. */
static struct pebs *fake_pebs_begin(struct cpu *cpu, struct ring *ring, uint32_t slots)
{
    assert_int_equal(ring_init(ring, 1, slots, sampling.session.event_count), 0);
    free(ring->slots);
    block_count = 0;
    cpu->ring = ring;
    cpu->tid = 77;
    assert_int_equal(pebs_add_cpu(cpu), 0);
    return cpu->pebs;
}

static void fake_pebs_end(void)
{
    while (block_count)
        free(blocks[--block_count]);
}

#endif
