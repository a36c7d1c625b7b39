/* Encodes the rows of each thread: docs/format.md, 7.9 and 7.10. */
#include "host/exact/exact_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/exact/exact_rows.h"
#include "lib/trace/trace_writer.h"

#define CHUNK_BYTES (256u << 10)
#define BODY_BYTES 32768u /* of a record */
#define ROW_BYTES_MAX ((1 + EXACT_EVENTS) * 10 + 1)

_Static_assert(EXACT_EVENTS <= HR_EXACT_EVENTS_MAX, "the mask of a row");

static const char *const event_names[EXACT_EVENTS] = {
    [EXACT_INSTRUCTIONS] = "instructions:u",
    [EXACT_BRANCHES] = "branches:u",
    [EXACT_TAKEN] = "taken-branches:u",
    [EXACT_READS] = "loads:u",
    [EXACT_WRITES] = "stores:u",
    [EXACT_CALLS] = "calls:u",
};

struct writing {
    struct collector *collector;
    struct trace_writer writer;
    uint64_t totals[EXACT_EVENTS];
    uint8_t body[BODY_BYTES]; /* of the record under construction, without its fixed part */
    uint32_t used;
    struct hr_host_exact_counts counts;
    uint64_t address; /* of its last row */
    uint8_t *chunk;
    int error;
};

static void finish_chunk(struct writing *w)
{
    uint32_t bytes = trace_writer_finish(&w->writer);

    if (w->error == 0)
        w->error = collect_add(w->collector, w->chunk, bytes);
}

static void put_record(struct writing *w, uint8_t type, const void *body, uint32_t bytes,
                       const void *tail, uint32_t tail_bytes)
{
    int full = trace_writer_record(&w->writer, type, TRACE_NO_TIME, body, bytes, tail, tail_bytes);

    if (full == 0)
        return;
    finish_chunk(w);
    trace_writer_begin(&w->writer, HR_CHUNK_HOST);
    (void)trace_writer_record(&w->writer, type, TRACE_NO_TIME, body, bytes, tail, tail_bytes);
}

static void finish_counts(struct writing *w)
{
    if (w->counts.count != 0)
        put_record(w, HR_HOST_EXACT_COUNTS, &w->counts, sizeof w->counts, w->body, w->used);
    w->counts.count = 0;
    w->used = 0;
    w->address = 0;
}

static void put_number(struct writing *w, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        w->body[w->used++] = (uint8_t)(value | 0x80);
    w->body[w->used++] = (uint8_t)value;
}

static void put_row(struct writing *w, const struct exact_row *row)
{
    uint32_t mask;

    if (BODY_BYTES - w->used < ROW_BYTES_MAX)
        finish_counts(w);
    put_number(w, row->address - w->address);
    w->address = row->address;
    mask = w->used++;
    w->body[mask] = 0;
    for (uint32_t i = 0; i < EXACT_EVENTS; i++) {
        if (row->counts[i] == 0)
            continue;
        w->body[mask] |= (uint8_t)(1u << i);
        put_number(w, row->counts[i]);
    }
    w->counts.count++;
}

static void put_thread(struct writing *w, uint32_t tid, const struct exact_rows *rows)
{
    w->counts.tid = tid;
    for (uint32_t i = 0; i < rows->count; i++)
        put_row(w, &rows->all[i]);
    finish_counts(w);
}

static void sum_rows(struct writing *w, const struct exact_rows *rows)
{
    for (uint32_t n = 0; n < rows->count; n++)
        for (uint32_t i = 0; i < EXACT_EVENTS; i++)
            w->totals[i] += rows->all[n].counts[i];
}

/* The first event belongs to the guest, which knows its total. */
static void put_head(struct writing *w, const struct exact_header *header)
{
    const struct hr_host_exact exact = {.instructions = w->totals[EXACT_INSTRUCTIONS],
                                        .homeless = header->homeless,
                                        .lost_faults = header->lost_cuts,
                                        .event_count = EXACT_EVENTS};

    for (uint32_t i = EXACT_INSTRUCTIONS + 1; i < EXACT_EVENTS; i++) {
        const struct hr_meta_event event = {.index = (uint16_t)i,
                                            .source = HR_SOURCE_EMULATOR,
                                            .width_bits = 64,
                                            .flags = HR_EVENT_USER};
        const struct hr_rec_total total = {.value = w->totals[i], .index = (uint16_t)i};

        put_record(w, HR_META_EVENT, &event, sizeof event, event_names[i],
                   (uint32_t)strlen(event_names[i]));
        put_record(w, HR_REC_TOTAL, &total, sizeof total, NULL, 0);
    }
    put_record(w, HR_HOST_EXACT, &exact, sizeof exact, NULL, 0);
}

static void put_all(struct writing *w, const struct exact_header *header,
                    const struct exact_rows *rows)
{
    trace_writer_init(&w->writer, w->chunk, CHUNK_BYTES, HR_CPU_NONE, 0);
    trace_writer_begin(&w->writer, HR_CHUNK_HOST);
    put_head(w, header);
    for (uint32_t t = EXACT_THREAD_OTHERS; t < header->threads; t++)
        put_thread(w, header->tids[t], &rows[t]);
    finish_chunk(w);
}

static int write_chunks(struct writing *w, const struct exact_memory *memory)
{
    uint32_t threads = memory->header->threads;
    struct exact_rows *rows = calloc(threads, sizeof *rows);
    struct exact_called called = {0};
    struct exact_code code = {0};
    int error = rows != NULL ? exact_code_read(&code, memory) : -ENOMEM;

    if (error == 0)
        error = exact_called_find(&called, memory, &code);
    for (uint32_t t = EXACT_THREAD_OTHERS; t < threads && error == 0; t++) {
        error = exact_rows_read(&rows[t], memory, &code, &called, t);
        sum_rows(w, &rows[t]);
    }
    if (error == 0)
        put_all(w, memory->header, rows);
    for (uint32_t t = 0; rows != NULL && t < threads; t++)
        exact_rows_free(&rows[t]);
    free(rows);
    exact_called_free(&called);
    exact_code_free(&code);
    return error != 0 ? error : w->error;
}

int exact_write(struct collector *c, int fd)
{
    struct exact_memory memory;
    int error = exact_memory_open(&memory, fd);
    struct writing *w;

    if (error != 0)
        return error;
    w = calloc(1, sizeof *w);
    if (w != NULL)
        w->chunk = malloc(CHUNK_BYTES);
    if (w != NULL && w->chunk != NULL) {
        w->collector = c;
        error = write_chunks(w, &memory);
    } else {
        error = -ENOMEM;
    }
    if (w != NULL)
        free(w->chunk);
    free(w);
    exact_memory_close(&memory);
    return error;
}
