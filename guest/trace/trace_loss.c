/* Counts what is dropped, and remembers the little that must not be. */
#include "guest/trace/trace_loss.h"

#include <string.h>

#include "guest/trace/trace_record.h"

static const uint8_t kinds[TRACE_LOSS_KINDS] = {HR_REC_SWITCH, HR_REC_PERIOD, HR_REC_FAULT};

void trace_loss_samples(struct trace_loss *loss, uint64_t time_first, uint64_t time_last,
                        uint64_t count)
{
    if (loss->samples.count == 0)
        loss->samples.time_first = time_first;
    loss->samples.time_last = time_last;
    loss->samples.count += count;
}

static void trace_loss_keep(struct trace_loss *loss, uint32_t i, const struct trace_slot *slot)
{
    loss->records += loss->kept_mask >> i & 1; /* the one before it */
    loss->kept_mask |= 1u << i;
    memcpy(loss->kept[i].bytes, slot, sizeof loss->kept[i].bytes);
}

void trace_loss_record(struct trace_loss *loss, const struct trace_slot *slot)
{
    if (slot->kind == HR_REC_LOST) {
        trace_loss_samples(loss, slot->time, slot->ip, slot->counters[0]);
        return;
    }
    for (uint32_t i = 0; i < TRACE_LOSS_KINDS; i++) {
        if (kinds[i] == slot->kind) {
            trace_loss_keep(loss, i, slot);
            return;
        }
    }
    loss->records++;
}

int trace_loss_write(struct trace_loss *loss, struct trace_writer *w)
{
    int status = 0;

    if (loss->samples.count)
        status = trace_writer_lost(w, &loss->samples);
    if (status == 0)
        loss->samples.count = 0;
    for (uint32_t i = 0; i < TRACE_LOSS_KINDS && status == 0; i++) {
        if (!(loss->kept_mask >> i & 1))
            continue;
        status = trace_record_write(w, &loss->kept[i].slot);
        if (status == 0)
            loss->kept_mask &= ~(1u << i);
    }
    return status;
}
