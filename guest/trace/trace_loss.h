/* What the encoder drops of a CPU's ring when the transport has no room: guest/trace/trace.c.
 *
 * Dropped samples are counted, and become one HR_REC_LOST when something is written again.  Other
 * records are counted too, but the last one of each kind that sets a lasting state is kept and
 * written after the loss: which thread runs, which period samples have, where the program failed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace/trace_slot.h"
#include "lib/trace/trace_writer.h"

#define TRACE_LOSS_KINDS 3

struct trace_loss {
    struct hr_rec_lost samples; /* not written yet; count 0: none */
    uint64_t records; /* of other kinds that were dropped */
    uint32_t kept_mask; /* bit i: kept[i] is not written yet */
    union { /* the part of a slot that every ring has */
        struct trace_slot slot;
        uint8_t bytes[offsetof(struct trace_slot, counters[TRACE_SLOT_SMALL_EVENTS])];
    } kept[TRACE_LOSS_KINDS];
};

void trace_loss_samples(struct trace_loss *loss, uint64_t time_first, uint64_t time_last,
                        uint64_t count);

/* Drops a slot that is not a sample; an HR_REC_LOST adds its samples. */
void trace_loss_record(struct trace_loss *loss, const struct trace_slot *slot);

static inline bool trace_loss_any(const struct trace_loss *loss)
{
    return loss->samples.count || loss->kept_mask;
}

/* Writes what is not written yet to an open chunk.  Returns 0, or -ENOSPC if the chunk is full:
 * then call it again with the next one. */
int trace_loss_write(struct trace_loss *loss, struct trace_writer *w);
