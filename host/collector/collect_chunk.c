/* Records data of each verified chunk: counts, how the run ended, the index. */
#include <string.h>

#include "host/collector/collect.h"
#include "lib/trace/trace_reader.h"

static void note_meta(struct collector *c, const struct hr_chunk_header *header,
                      const uint8_t *payload)
{
    struct trace_cursor cursor;
    struct trace_record record;

    c->has_meta = true;
    trace_cursor_init(&cursor, payload, header->payload_bytes);
    while (trace_next(&cursor, &record) == TRACE_OK) {
        struct hr_meta_event event;
        const uint8_t *name;
        size_t bytes;

        c->events += record.type == HR_META_EVENT;
        if (record.type != HR_META_EVENT || c->unmeasured[0] != 0 ||
            !trace_body(&record, &event, sizeof event, &name, &bytes) ||
            event.source == HR_SOURCE_PMU || event.source == HR_SOURCE_MSR)
            continue;
        if (bytes >= sizeof c->unmeasured)
            bytes = sizeof c->unmeasured - 1;
        memcpy(c->unmeasured, name, bytes);
        c->unmeasured[bytes] = 0;
        c->unmeasured_source = event.source;
    }
}

static void note_end(struct collector *c, const struct hr_chunk_header *header,
                     const uint8_t *payload)
{
    struct trace_cursor cursor;
    struct trace_record record;

    c->has_end = true;
    trace_cursor_init(&cursor, payload, header->payload_bytes);
    while (trace_next(&cursor, &record) == TRACE_OK)
        if (record.type == HR_REC_EXIT && trace_body(&record, &c->exit, sizeof c->exit, NULL, NULL))
            c->has_exit = true;
}

#define SHARE_ENTRIES 4096u /* step of taking and returning shared entries */

/* Takes one entry from the limit that all collectors share. */
static bool take_entry(struct collector *c)
{
    size_t left;

    if (c->index_shared == NULL || c->index.count < c->index_share)
        return true;
    left = atomic_load(c->index_shared);
    do
        if (left < SHARE_ENTRIES)
            return false;
    while (!atomic_compare_exchange_weak(c->index_shared, &left, left - SHARE_ENTRIES));
    c->index_share += SHARE_ENTRIES;
    return true;
}

void collect_free_index(struct collector *c)
{
    if (c->index_shared != NULL)
        atomic_fetch_add(c->index_shared, c->index_share);
    c->index_share = 0;
    trace_index_free(&c->index);
}

/* The index is optional: a flood of tiny chunks must not use up the host's memory. */
void collect_index_chunk(struct collector *c, const struct hr_chunk_header *header, uint64_t offset)
{
    if (c->index_full || (c->index.count < c->index_max && take_entry(c) &&
                          trace_index_add(&c->index, header, offset) == 0))
        return;
    c->index_full = true;
    collect_free_index(c);
}

const char *collect_note_chunk(struct collector *c, const struct hr_chunk_header *header,
                               const uint8_t *payload, uint64_t offset)
{
    if (c->has_end)
        return "a chunk after the END chunk";
    if (header->type == HR_CHUNK_HOST || header->type == HR_CHUNK_INDEX)
        return "a chunk that only the collector writes";
    if (!c->has_meta && header->type != HR_CHUNK_META)
        return "no META chunk at the start";
    collect_index_chunk(c, header, offset);
    c->samples += header->sample_count;
    c->lost += header->lost_count;
    c->has_data |= header->type == HR_CHUNK_DATA;
    if (header->type == HR_CHUNK_META)
        note_meta(c, header, payload);
    else if (header->type == HR_CHUNK_END)
        note_end(c, header, payload);
    return NULL;
}
