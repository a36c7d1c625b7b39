/* Says what the call stacks of a trace take as return addresses, however they were recorded.
 *
 *   restack FILE
 *
 * Its samples are encoded again, with and without their stacks, in chunks like the guest's.  Prints
 * samples, mean depth, bytes a sample without stacks and bytes a sample that stacks add.  With a
 * trace of -g dwarf it tells what -g fp takes for a program that was built with frame pointers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/scan/trace_scan.h"
#include "lib/trace/trace_writer.h"

#define LIMIT 127u /* frames */

struct encoder {
    struct trace_writer w;
    uint64_t bytes; /* of finished chunks */
};

struct restack {
    struct trace_scan scan;
    bool begun;
    struct encoder plain, with;
    uint64_t samples, frames;
    union {
        struct trace_slot slot;
        uint8_t bytes[sizeof(struct trace_slot) + 16 + 8 * (LIMIT + 1)];
    } room;
};

static void begin(struct encoder *e, uint32_t event_count, bool stacks)
{
    void *buffer = malloc(TRACE_STACKS_CHUNK_BYTES);
    void *memory = malloc(trace_stacks_bytes(HR_STACK_FP));

    if (buffer == NULL || memory == NULL)
        exit(1);
    trace_writer_init(&e->w, buffer, TRACE_STACKS_CHUNK_BYTES, 0, event_count);
    if (stacks)
        trace_writer_stacks(&e->w, HR_STACK_FP, memory);
    trace_writer_begin(&e->w, HR_CHUNK_DATA);
}

static void add(struct encoder *e, const struct trace_slot *slot)
{
    if (trace_writer_sample(&e->w, slot) == 0)
        return;
    e->bytes += trace_writer_finish(&e->w);
    trace_writer_begin(&e->w, HR_CHUNK_DATA);
    if (trace_writer_sample(&e->w, slot) != 0)
        exit(1);
}

static int take(void *context, const struct trace_samples *samples)
{
    struct restack *r = context;
    struct trace_slot_stack *stack;

    if (!r->begun) {
        begin(&r->plain, samples->event_count, false);
        begin(&r->with, samples->event_count, true);
        r->begun = true;
    }
    stack = (struct trace_slot_stack *)(void *)(r->room.bytes + r->with.w.stack_offset);
    for (uint32_t i = 0; i < samples->count; i++) {
        uint32_t node = samples->stacks != NULL ? samples->stacks[i] : HR_STACK_NONE;

        r->room.slot = samples->slots[i];
        stack->count = stacks_addresses(&r->scan.stacks, node, stack->words, LIMIT + 1);
        stack->root = stack->count > LIMIT ? HR_STACK_CUT : stacks_root(&r->scan.stacks, node);
        if (stack->count > LIMIT)
            stack->count = LIMIT;
        add(&r->plain, &samples->slots[i]);
        add(&r->with, &r->room.slot);
        r->frames += stack->count;
    }
    r->samples += samples->count;
    return 0;
}

int main(int argc, char **argv)
{
    static struct restack r;
    const struct trace_visitor visitor = {
        .context = &r, .stacks = TRACE_SCAN_STACKS, .samples = take};
    double plain, with;

    if (argc != 2 || trace_scan_open(&r.scan, argv[1]) != 0) {
        fputs("usage: restack FILE\n", stderr);
        return 2;
    }
    if (trace_scan_run(&r.scan, &visitor) != 0 || r.samples == 0)
        return 1;
    plain = (double)(r.plain.bytes + trace_writer_finish(&r.plain.w)) / (double)r.samples;
    with = (double)(r.with.bytes + trace_writer_finish(&r.with.w)) / (double)r.samples;
    printf("%llu %.1f %.2f %.2f\n", (unsigned long long)r.samples,
           (double)r.frames / (double)r.samples, plain, with - plain);
    trace_scan_close(&r.scan);
    return 0;
}
