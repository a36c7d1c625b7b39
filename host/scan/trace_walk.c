/* Decodes the records of a chunk for a visitor. */
#include "host/scan/trace_walk.h"

#include "host/scan/trace_exact.h"

static enum trace_status visit_base(struct trace_walk *w, const struct trace_record *record)
{
    enum trace_status status = trace_decoder_base(&w->decoder, record);

    trace_probes_decoder_begin(&w->probes, w->scan->info.points.meta.argument_count, &w->decoder);
    return status;
}

/* Stacks that belong to no run, because something came between, are none. */
static enum trace_status visit_stacks(struct trace_walk *w, const struct trace_record *record)
{
    if (w->visitor->stacks == TRACE_SCAN_NO_STACKS || record->offset < w->stacks_end)
        return TRACE_OK;
    if (record->type == HR_REC_STACK_NODES)
        return stack_reader_nodes(&w->scan->stack_reader, record, &w->result);
    return TRACE_BAD_RECORD;
}

/* Accesses that belong to no run are none. */
static enum trace_status visit_accesses(const struct trace_walk *w,
                                        const struct trace_record *record)
{
    return !w->visitor->accesses || !w->scan->info.has_accesses || record->offset < w->accesses_end
               ? TRACE_OK
               : TRACE_BAD_RECORD;
}

static enum trace_status visit_record(struct trace_walk *w, const struct trace_record *record)
{
    struct trace_info *info = &w->scan->info;
    struct hr_rec_period period;
    struct hr_rec_lost lost;

    switch (record->type) {
    case HR_REC_BASE:
        return visit_base(w, record);
    case HR_REC_SAMPLES:
    case HR_REC_SAMPLES_WIDE:
        return trace_walk_samples(w, record);
    case HR_REC_PROBES:
    case HR_REC_PROBES_WIDE:
        return trace_walk_hits(w, record);
    case HR_REC_STACK_NODES:
    case HR_REC_STACKS:
    case HR_REC_USER_STACKS:
        return visit_stacks(w, record);
    case HR_REC_ACCESSES:
        return visit_accesses(w, record);
    case HR_REC_LOST:
        if (!trace_body(record, &lost, sizeof lost, NULL, NULL))
            return TRACE_BAD_RECORD;
        w->rules.lost += lost.count;
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

static bool is_run(uint8_t type)
{
    return type == HR_REC_SAMPLES || type == HR_REC_SAMPLES_WIDE || type == HR_REC_PROBES ||
           type == HR_REC_PROBES_WIDE;
}

/* Hands the records of a chunk to the visitor; decodes samples in DATA chunks. */
static enum trace_status visit_records(struct trace_walk *w)
{
    const struct hr_chunk_header *header = &w->chunk->header;
    const struct trace_visitor *visitor = w->visitor;
    bool data = header->type == HR_CHUNK_DATA;
    struct trace_record record;
    enum trace_status status;

    trace_cursor_init(&w->cursor, w->chunk->payload, header->payload_bytes);
    while (w->result == 0 && (status = trace_next(&w->cursor, &record)) != TRACE_END) {
        if (status == TRACE_OK)
            status = trace_rules_record(&w->rules, header->type, &record);
        if (status == TRACE_OK && data)
            status = visit_record(w, &record);
        else if (status == TRACE_OK && header->type == HR_CHUNK_HOST &&
                 record.type == HR_HOST_EXACT_COUNTS)
            status = trace_exact_visit(w->scan, visitor, header, &record, &w->result);
        if (status != TRACE_OK)
            return status;
        if (w->result == 0 && visitor->record != NULL && !(data && is_run(record.type)))
            w->result = visitor->record(visitor->context, w->chunk, &record);
    }
    return w->result == 0 ? trace_rules_end(&w->rules, header) : TRACE_OK;
}

/* The trace has said how many events a sample has.  In mode exact there are no samples, and counts
 * by address come last. */
static bool may_have_samples(struct trace_info *info, const struct trace_chunk *chunk)
{
    if (info->sampling.mode == HR_MODE_EXACT &&
        (info->has_exact || chunk->header.sample_count != 0))
        return false;
    return info->knows_events || trace_info_learn_events(info, chunk);
}

int trace_scan_chunk(struct trace_scan *scan, const struct trace_visitor *visitor,
                     const struct trace_chunk *chunk, bool continues)
{
    const struct selection *selection = &scan->selection;
    struct trace_walk w = {
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
    if (chunk->header.type == HR_CHUNK_DATA && !may_have_samples(&scan->info, chunk)) {
        status = TRACE_BAD_RECORD;
    } else if (chunk->header.type == HR_CHUNK_DATA) {
        trace_decoder_init(&w.decoder, scan->info.has_sampling ? scan->info.sampling.event_count
                                                               : scan->info.event_count);
        stack_reader_begin(&scan->stack_reader);
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
