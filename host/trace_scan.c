/* Walks over a trace once, decoding it for a visitor. */
#include "host/trace_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/trace_index.h"

int trace_scan_open(struct trace_scan *scan, const char *path)
{
    int error = trace_file_open(&scan->file, path);

    if (error != 0)
        return error;
    trace_info_init(&scan->info);
    scan->slots = NULL;
    scan->stacks = (struct stacks){0};
    selection_init(&scan->selection);
    scan->partial = false;
    error = trace_audit_init(&scan->audit);
    if (error == 0)
        error = stacks_init(&scan->stacks);
    scan->slots = malloc(TRACE_RUN_SAMPLES_MAX * sizeof scan->slots[0]);
    if (error == 0 && scan->slots == NULL)
        error = -ENOMEM;
    if (error != 0)
        trace_scan_close(scan);
    return error;
}

void trace_scan_close(struct trace_scan *scan)
{
    free(scan->slots);
    scan->slots = NULL;
    selection_free(&scan->selection);
    stacks_free(&scan->stacks);
    trace_audit_free(&scan->audit);
    trace_info_free(&scan->info);
    trace_file_close(&scan->file);
}

struct walk { /* state of the chunk being decoded */
    struct trace_scan *scan;
    const struct trace_visitor *visitor;
    const struct trace_chunk *chunk;
    struct trace_decoder decoder;
    uint64_t samples;
    uint64_t lost;
    bool inside; /* the selection's span of time holds all of the chunk */
    int result; /* of a callback */
};

/* Drops the samples of a run that are not selected: one thread's, in the order of time. */
static void cut(const struct walk *w, struct trace_samples *samples)
{
    const struct selection *selection = &w->scan->selection;
    const struct trace_info *info = &w->scan->info;

    if (samples->count != 0 && !selection_has_thread(selection, samples->slots[0].tid))
        samples->count = 0;
    if (w->inside)
        return;
    while (samples->count != 0 &&
           trace_info_time_ns(info, samples->slots[0].time) < selection->from_ns) {
        samples->previous = samples->slots++;
        samples->count--;
    }
    while (samples->count != 0 &&
           trace_info_time_ns(info, samples->slots[samples->count - 1].time) > selection->to_ns)
        samples->count--;
}

static enum trace_status visit_samples(struct walk *w, const struct trace_record *record)
{
    struct trace_slot previous = w->decoder.previous;
    struct trace_samples samples = {
        .chunk = &w->chunk->header,
        .previous = &previous,
        .slots = w->scan->slots,
        .event_count = w->decoder.event_count,
    };
    enum trace_status status = trace_decoder_samples(&w->decoder, record, w->scan->slots,
                                                     TRACE_RUN_SAMPLES_MAX, &samples.count);

    if (status != TRACE_OK)
        return status;
    w->samples += samples.count;
    cut(w, &samples);
    if (w->visitor->samples != NULL && samples.count != 0)
        w->result = w->visitor->samples(w->visitor->context, &samples);
    return TRACE_OK;
}

/* Without its META chunk a trace still decodes: the base says how many events there are. */
static enum trace_status visit_base(struct walk *w, const struct trace_record *record)
{
    struct trace_info *info = &w->scan->info;
    struct hr_rec_base base;

    if (!info->has_sampling) {
        if (!trace_body(record, &base, sizeof base, NULL, NULL) || base.event_count > HR_EVENTS_MAX)
            return TRACE_BAD_RECORD;
        info->event_count = base.event_count;
        trace_decoder_init(&w->decoder, base.event_count);
    }
    return trace_decoder_base(&w->decoder, record);
}

static enum trace_status visit_record(struct walk *w, const struct trace_record *record)
{
    struct trace_info *info = &w->scan->info;
    struct hr_rec_period period;
    struct hr_rec_lost lost;

    switch (record->type) {
    case HR_REC_BASE:
        return visit_base(w, record);
    case HR_REC_SAMPLES:
    case HR_REC_SAMPLES_WIDE:
        return visit_samples(w, record);
    case HR_REC_LOST:
        if (!trace_body(record, &lost, sizeof lost, NULL, NULL))
            return TRACE_BAD_RECORD;
        w->lost += lost.count;
        return TRACE_OK;
    case HR_REC_FAULT:
        if (!trace_body(record, &info->fault, sizeof info->fault, NULL, NULL))
            return TRACE_BAD_RECORD;
        info->has_fault = true;
        return TRACE_OK;
    case HR_REC_PERIOD:
        return trace_body(record, &period, sizeof period, NULL, NULL) && period.period != 0
                   ? TRACE_OK
                   : TRACE_BAD_RECORD;
    default:
        return TRACE_OK;
    }
}

static bool is_samples(uint8_t type)
{
    return type == HR_REC_SAMPLES || type == HR_REC_SAMPLES_WIDE;
}

/* Hands the records of a chunk to the visitor; decodes samples in DATA chunks. */
static enum trace_status visit_records(struct walk *w)
{
    const struct hr_chunk_header *header = &w->chunk->header;
    const struct trace_visitor *visitor = w->visitor;
    bool data = header->type == HR_CHUNK_DATA;
    struct trace_cursor cursor;
    struct trace_record record;
    enum trace_status status;

    trace_cursor_init(&cursor, w->chunk->payload, header->payload_bytes);
    while (w->result == 0 && (status = trace_next(&cursor, &record)) != TRACE_END) {
        if (status == TRACE_OK && data)
            status = visit_record(w, &record);
        if (status != TRACE_OK)
            return status;
        if (w->result == 0 && visitor->record != NULL && !(data && is_samples(record.type)))
            w->result = visitor->record(visitor->context, w->chunk, &record);
    }
    if (data && w->result == 0 &&
        (w->samples != header->sample_count || w->lost != header->lost_count))
        return TRACE_BAD_LENGTH;
    return TRACE_OK;
}

static int visit_chunk(struct trace_scan *scan, const struct trace_visitor *visitor,
                       const struct trace_chunk *chunk, bool continues)
{
    const struct selection *selection = &scan->selection;
    struct walk w = {
        .scan = scan,
        .visitor = visitor,
        .chunk = chunk,
        .inside = trace_info_time_ns(&scan->info, chunk->header.time_first) >= selection->from_ns &&
                  trace_info_time_ns(&scan->info, chunk->header.time_last) <= selection->to_ns,
    };
    enum trace_status status = TRACE_OK;
    int error = 0;

    if (chunk->header.type == 0 || chunk->header.type > HR_CHUNK_INDEX)
        return 0; /* of a newer version: skipped, its payload need not be records */
    if (chunk->header.type == HR_CHUNK_DATA) {
        trace_decoder_init(&w.decoder, scan->info.event_count);
        if (visitor->chunk != NULL)
            error = visitor->chunk(visitor->context, chunk, continues);
    } else if (chunk->header.type != HR_CHUNK_INDEX) {
        status = trace_info_chunk(&scan->info, chunk, &error);
    }
    if (error != 0)
        return error;
    if (status == TRACE_OK)
        status = visit_records(&w);
    if (status != TRACE_OK)
        trace_audit_undecodable(&scan->audit, chunk, status);
    return w.result;
}

static bool outside(const struct trace_scan *scan, const struct hr_chunk_header *header)
{
    const struct selection *selection = &scan->selection;

    return header->type == HR_CHUNK_DATA &&
           (trace_info_time_ns(&scan->info, header->time_last) < selection->from_ns ||
            trace_info_time_ns(&scan->info, header->time_first) > selection->to_ns ||
            !selection_has_cpu(selection, header->cpu));
}

/* Continues where the span begins, if the index knows; else the walk passes over every chunk. */
static void jump(struct trace_scan *scan)
{
    const struct hr_meta_clock *clock = &scan->info.clock;
    unsigned __int128 ticks =
        (unsigned __int128)scan->selection.from_ns * clock->ticks_per_second / 1000000000u;
    struct trace_index index;
    uint64_t target;
    size_t i;

    if (ticks > UINT64_MAX - clock->start_ticks || trace_index_load(&index, scan->file.fd) != 0)
        return;
    i = trace_index_find(&index, clock->start_ticks + (uint64_t)ticks);
    target = i < index.count ? index.entries[i].offset : index.first_offset;
    if (target > scan->file.position)
        trace_file_seek(&scan->file, target);
    trace_index_free(&index);
}

static void pass_over(struct trace_scan *scan, const struct trace_chunk *chunk)
{
    bool first = !scan->partial;

    scan->partial = true;
    if (first && trace_info_time_ns(&scan->info, chunk->header.time_last) < scan->selection.from_ns)
        jump(scan);
}

int trace_scan_run(struct trace_scan *scan, const struct trace_visitor *visitor)
{
    struct trace_chunk chunk;
    int step;

    while ((step = trace_file_next(&scan->file, &chunk)) > TRACE_STEP_END) {
        bool continues = trace_audit_step(&scan->audit, step, &chunk);
        int result = 0;

        if (step == TRACE_STEP_CHUNK && outside(scan, &chunk.header)) {
            pass_over(scan, &chunk);
            continue;
        }
        if (visitor->step != NULL)
            result = visitor->step(visitor->context, step, &chunk);
        if (result == 0 && step == TRACE_STEP_CHUNK)
            result = visit_chunk(scan, visitor, &chunk, continues);
        if (result != 0)
            return result;
    }
    trace_audit_finish(&scan->audit, &scan->info);
    return step;
}
