/* The frames that the collector does not have yet. */
#include "guest/net/outbox.h"

#include <errno.h>
#include <string.h>

#include "lib/boot/run_stream.h"

#define TRACE_SHARE 16u /* of the entries, for the trace: many small pieces of output may wait */
#define BYTES_PER_ENTRY 2048u /* of memory: smaller frames are joined while they wait */
#define JOINED_SHARE 8u /* of the ring at most: a frame is freed as a whole */

static struct outbox_entry *outbox_at(const struct outbox *box, uint64_t number)
{
    return &box->entries[number & (box->entry_count - 1)];
}

void outbox_init(struct outbox *box, void *memory, uint64_t bytes)
{
    uint64_t entries = 1, table_bytes;

    while (entries * 2 <= bytes / BYTES_PER_ENTRY)
        entries *= 2;
    table_bytes = entries * sizeof(struct outbox_entry);
    *box = (struct outbox){.entries = memory,
                           .entry_count = entries,
                           .ring = (uint8_t *)memory + table_bytes,
                           .ring_bytes = bytes - table_bytes};
}

uint64_t outbox_room(const struct outbox *box, enum run_stream_port port)
{
    /* the last entry is kept for the end */
    uint64_t kept = 1 + (port == RUN_STREAM_TRACE ? 0 : box->entry_count / TRACE_SHARE);

    if (box->last - box->first >= box->entry_count - kept)
        return 0;
    return box->ring_bytes - (box->data_last - box->data_first);
}

uint64_t outbox_kept(const struct outbox *box)
{
    return box->data_last - box->data_first;
}

static void copy_in(struct outbox *box, const uint8_t *bytes, uint64_t count)
{
    uint64_t at = box->data_last % box->ring_bytes;
    uint64_t part = box->ring_bytes - at < count ? box->ring_bytes - at : count;

    memcpy(box->ring + at, bytes, part);
    memcpy(box->ring, bytes + part, count - part);
    box->data_last += count;
}

/* Returns the newest frame if `count` bytes of `port` can join it, that is if none of it was handed
 * out. */
static struct outbox_entry *joinable(struct outbox *box, enum run_stream_port port, size_t count)
{
    struct outbox_entry *e;
    bool begun, small;

    if (box->first == box->last)
        return NULL;
    e = outbox_at(box, box->last - 1);
    begun = box->last - 1 < box->next || (box->last - 1 == box->next && box->taken);
    small = e->frame.bytes + count <= RUN_FRAME_BYTES_MAX &&
            e->frame.bytes + count <= box->ring_bytes / JOINED_SHARE;
    return !begun && !e->skipped && e->frame.port == port && small ? e : NULL;
}

static void add_entry(struct outbox *box, enum run_stream_port port, uint32_t count)
{
    struct outbox_entry *e = outbox_at(box, box->last++);

    *e = (struct outbox_entry){.at = box->data_last};
    e->frame = (struct run_frame){.port = (uint16_t)port, .bytes = count, .offset = box->put[port]};
}

int outbox_put(struct outbox *box, enum run_stream_port port, const void *bytes, size_t count)
{
    struct outbox_entry *e;

    if (!count)
        return 0;
    if (count > box->ring_bytes - outbox_kept(box))
        return -ENOSPC;
    e = joinable(box, port, count);
    if (e == NULL && outbox_room(box, port) < count)
        return -ENOSPC;
    if (e != NULL)
        e->frame.bytes += (uint32_t)count;
    else
        add_entry(box, port, (uint32_t)count);
    copy_in(box, bytes, count);
    box->put[port] += count;
    return 0;
}

int outbox_put_end(struct outbox *box)
{
    if (box->last - box->first >= box->entry_count)
        return -ENOSPC;
    add_entry(box, RUN_STREAM_END, 0);
    box->ended = true;
    return 0;
}

int outbox_put_sign(struct outbox *box)
{
    if (box->last - box->first >= box->entry_count - 1)
        return -ENOSPC;
    add_entry(box, RUN_STREAM_TRACE, 0);
    return 0;
}

/* Frees entries that are no longer needed.  A skipped one waits until it is the oldest. */
static void free_entries(struct outbox *box)
{
    for (; box->first < box->next; box->first++) {
        const struct outbox_entry *e = outbox_at(box, box->first);

        if (!e->skipped && e->end > box->acknowledged)
            break;
        if (!e->skipped)
            box->freed[e->frame.port] = e->frame.offset + e->frame.bytes;
    }
    box->data_first = box->first < box->last ? outbox_at(box, box->first)->at : box->data_last;
}

static void pass_skipped(struct outbox *box)
{
    while (box->next < box->last && outbox_at(box, box->next)->skipped)
        box->next++;
}

size_t outbox_next(struct outbox *box, const void **bytes)
{
    struct outbox_entry *e;
    uint64_t done, at, left;

    pass_skipped(box);
    if (box->next == box->last)
        return 0;
    e = outbox_at(box, box->next);
    if (!box->taken) /* it may have grown since it was put */
        run_stream_frame(&e->frame, (enum run_stream_port)e->frame.port, e->frame.offset,
                         e->frame.bytes);
    if (box->taken < sizeof e->frame) {
        *bytes = (const uint8_t *)&e->frame + box->taken;
        return sizeof e->frame - box->taken;
    }
    done = box->taken - sizeof e->frame;
    at = (e->at + done) % box->ring_bytes;
    left = e->frame.bytes - done;
    *bytes = box->ring + at;
    return left < box->ring_bytes - at ? left : box->ring_bytes - at;
}

void outbox_took(struct outbox *box, size_t bytes)
{
    struct outbox_entry *e = outbox_at(box, box->next);

    box->taken += bytes;
    box->position += bytes;
    if (box->taken < sizeof e->frame + e->frame.bytes)
        return;
    e->end = box->position;
    box->taken = 0;
    box->next++;
    pass_skipped(box);
}

int outbox_acknowledge(struct outbox *box, uint64_t position)
{
    if (position > box->position || position < box->acknowledged)
        return -EINVAL;
    box->acknowledged = position;
    free_entries(box);
    return 0;
}

/* Takes off what the collector has of a frame: all of it, or a first part; then the frame begins
 * after that part.  A sign of life is always skipped: it has served its purpose. */
static void take_off(struct outbox_entry *e, uint64_t have)
{
    uint32_t done;

    if (e->frame.port == RUN_STREAM_END)
        return;
    if (have >= e->frame.offset + e->frame.bytes || !e->frame.bytes) {
        e->skipped = true;
        return;
    }
    if (have <= e->frame.offset)
        return;
    done = (uint32_t)(have - e->frame.offset);
    e->at += done;
    e->frame.offset += done;
    e->frame.bytes -= done;
}

enum outbox_resume outbox_resume(struct outbox *box, const uint64_t have[RUN_STREAM_PORTS])
{
    for (uint32_t port = 0; port < RUN_STREAM_PORTS; port++) {
        if (have[port] > box->put[port])
            return OUTBOX_CLAIMS;
        if (have[port] < box->freed[port])
            return OUTBOX_LACKS;
    }
    for (uint64_t i = box->first; i < box->last; i++) {
        struct outbox_entry *e = outbox_at(box, i);

        take_off(e, have[e->frame.port]);
    }
    memcpy(box->freed, have, sizeof box->freed); /* said once, it stays so */
    box->next = box->first;
    box->taken = box->position = box->acknowledged = 0;
    pass_skipped(box);
    free_entries(box);
    return OUTBOX_RESUMED;
}

bool outbox_all_sent(const struct outbox *box)
{
    return box->ended && box->next == box->last;
}
