/* Walks over a trace once, decoding it for a visitor. */
#include "host/scan/trace_scan.h"

#include <errno.h>
#include <stdlib.h>

#include "host/scan/trace_ahead.h"
#include "host/scan/trace_exact.h"
#include "host/trace/trace_index.h"
#include "host/trace/trace_made.h"
#include "host/trace/trace_rules.h"

/* Everything but the file. */
static int prepare(struct trace_scan *scan)
{
    int error;

    trace_info_init(&scan->info);
    scan->info.names = trace_names_new(&scan->file);
    scan->stacks = (struct stacks){0};
    scan->stack_reader = (struct stack_reader){0};
    scan->symbols = NULL;
    selection_init(&scan->selection);
    scan->partial = false;
    scan->jobs = 0;
    scan->ahead = NULL;
    progress_bar_init(&scan->progress, true);
    scan->weights = NULL;
    scan->own_ips = NULL;
    scan->hits = NULL;
    scan->accesses = NULL;
    scan->slots = malloc(TRACE_RUN_SAMPLES_MAX * sizeof scan->slots[0]);
    error = trace_audit_init(&scan->audit);
    if (error == 0)
        error = stacks_init(&scan->stacks);
    return error == 0 && scan->slots == NULL ? -ENOMEM : error;
}

int trace_scan_open(struct trace_scan *scan, const char *path)
{
    int error = trace_file_open(&scan->file, path);

    if (error != 0)
        return error;
    error = prepare(scan);
    if (error != 0)
        trace_scan_close(scan);
    return error;
}

int trace_scan_again(struct trace_scan *again, const struct trace_scan *scan)
{
    int error = trace_file_share(&again->file, &scan->file);

    if (error != 0)
        return error;
    error = prepare(again);
    if (error != 0) {
        trace_scan_close(again);
        return error;
    }
    again->symbols = scan->symbols;
    again->jobs = scan->jobs;
    error = selection_copy(&again->selection, &scan->selection);
    if (error != 0)
        trace_scan_close(again);
    return error;
}

void trace_scan_close(struct trace_scan *scan)
{
    free(scan->slots);
    free(scan->weights);
    free(scan->own_ips);
    free(scan->hits);
    free(scan->accesses);
    scan->hits = NULL;
    scan->accesses = NULL;
    scan->slots = NULL;
    scan->weights = NULL;
    scan->own_ips = NULL;
    selection_free(&scan->selection);
    stack_reader_free(&scan->stack_reader);
    stacks_free(&scan->stacks);
    trace_audit_free(&scan->audit);
    trace_info_free(&scan->info);
    trace_file_close(&scan->file);
}

int trace_scan_share(struct trace_scan *scan, const struct trace_scan *of)
{
    int error = trace_file_share(&scan->file, &of->file);

    if (error != 0)
        return error;
    error = prepare(scan);
    if (error != 0) {
        trace_scan_close(scan);
        return error;
    }
    scan->progress.line.enabled = false;
    scan->selection = of->selection;
    trace_info_free(&scan->info);
    scan->info = of->info;
    scan->symbols = of->symbols;
    return 0;
}

void trace_scan_unshare(struct trace_scan *scan)
{
    stack_reader_free(&scan->stack_reader); /* it knows the info */
    trace_info_init(&scan->info);
    selection_init(&scan->selection);
    trace_scan_close(scan);
}

int trace_scan_rewind(struct trace_scan *scan)
{
    struct trace_names *names = trace_names_hold(scan->info.names);
    int error;

    stack_reader_free(&scan->stack_reader);
    trace_info_free(&scan->info);
    scan->info.names = names;
    trace_audit_free(&scan->audit);
    stacks_free(&scan->stacks);
    scan->partial = false;
    trace_file_seek(&scan->file, scan->file.first_chunk);
    error = trace_audit_init(&scan->audit);
    return error == 0 ? stacks_init(&scan->stacks) : error;
}

struct walk { /* state of the chunk being decoded */
    struct trace_scan *scan;
    const struct trace_visitor *visitor;
    const struct trace_chunk *chunk;
    struct trace_decoder decoder;
    struct trace_probes_decoder probes;
    struct trace_cursor cursor; /* after the record that is being looked at */
    struct trace_access_state access; /* of the chunk's last */
    uint32_t stacks_end; /* records of stacks before this offset are read already */
    uint32_t accesses_end; /* likewise records of accesses */
    struct trace_slot *slots; /* of the run */
    uint32_t runs_taken; /* of those that were decoded ahead */
    struct trace_rules rules;
    bool inside; /* the selection's span of time holds all of the chunk */
    int result; /* of a callback */
};

/* Drops the samples of a run that are not selected: one thread's, in the order of time. */
static void cut(const struct walk *w, struct trace_samples *samples)
{
    const struct selection *selection = &w->scan->selection;
    const struct trace_info *info = &w->scan->info;

    if (samples->count != 0 &&
        !trace_info_selects(info, selection, samples->slots[0].tid, samples->slots[0].time))
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

/* The stacks of a run follow it: they are read ahead.  `all` are its samples before the cut. */
static enum trace_status read_stacks(struct walk *w, struct trace_samples *samples, uint32_t all)
{
    struct trace_scan *scan = w->scan;
    uint32_t first = (uint32_t)(samples->slots - w->slots);
    const struct stack_reader_run run = {
        .stacks = w->visitor->stacks == TRACE_SCAN_STACKS ? &scan->stacks : NULL,
        .info = &scan->info,
        .symbols = scan->symbols,
        .own_addresses = w->visitor->own_addresses,
        .names = w->visitor->names,
        .slots = w->slots,
        .count = all,
        .first = first,
        .last = first + samples->count,
    };
    struct trace_cursor cursor = w->cursor;
    enum trace_status status;
    bool any;

    if (w->visitor->stacks == TRACE_SCAN_NO_STACKS)
        return TRACE_OK;
    status = stack_reader_run(&scan->stack_reader, &run, &cursor, &any, &w->result);
    w->stacks_end = cursor.offset;
    if (any || scan->info.has_stacks)
        samples->stacks = scan->stack_reader.nodes + first;
    return status;
}

static bool is_stack(uint8_t type)
{
    return type == HR_REC_STACK_NODES || type == HR_REC_STACKS || type == HR_REC_USER_STACKS;
}

/* The accesses of a run follow it and its stacks: they are read ahead. */
static enum trace_status read_accesses(struct walk *w, struct trace_samples *samples, uint32_t all)
{
    struct trace_scan *scan = w->scan;
    bool registers = (scan->info.accesses.flags & HR_ACCESSES_REGISTERS) != 0;
    struct trace_cursor cursor = w->cursor;
    struct trace_record record;
    enum trace_status status;

    if (!w->visitor->accesses || !scan->info.has_accesses ||
        (w->slots[0].flags & HR_SAMPLE_ASIDE) != 0)
        return TRACE_OK;
    if (scan->accesses == NULL)
        scan->accesses = calloc(TRACE_RUN_SAMPLES_MAX, sizeof scan->accesses[0]);
    if (scan->accesses == NULL) {
        w->result = -ENOMEM;
        return TRACE_OK;
    }
    do
        status = trace_next(&cursor, &record);
    while (status == TRACE_OK && is_stack(record.type));
    if (status != TRACE_OK || record.type != HR_REC_ACCESSES)
        return TRACE_BAD_RECORD;
    w->accesses_end = cursor.offset;
    samples->accesses = scan->accesses + (samples->slots - w->slots);
    return trace_accesses_decode(&w->access, &record, scan->accesses, all, registers);
}

/* Gives samples common addresses, or what to look up names for, and keeps their own. */
static int place(struct walk *w, struct trace_samples *samples)
{
    struct trace_scan *scan = w->scan;
    struct trace_slot *slots = w->slots + (samples->slots - w->slots);
    bool processes = trace_processes_any(&scan->info.processes);
    bool names = w->visitor->names && scan->info.names != NULL && scan->info.names->made_count != 0;

    if ((!processes && !names) || samples->count == 0)
        return 0;
    if (scan->own_ips == NULL)
        scan->own_ips = malloc(TRACE_RUN_SAMPLES_MAX * sizeof scan->own_ips[0]);
    if (scan->own_ips == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < samples->count; i++)
        scan->own_ips[i] = slots[i].ip;
    samples->own_ips = scan->own_ips;
    if (processes)
        trace_processes_place(&scan->info.processes, slots, samples->count);
    if (names)
        trace_made_samples(&scan->info, slots, samples->count);
    return 0;
}

/* Gives the samples of a record, which may have been decoded already. */
static enum trace_status take_run(struct walk *w, const struct trace_record *record,
                                  uint32_t *count)
{
    const struct trace_ahead *ahead = w->scan->ahead;
    const struct trace_ahead_run *run;

    if (ahead == NULL || w->runs_taken >= ahead->count) {
        w->slots = w->scan->slots;
        return trace_decoder_samples(&w->decoder, record, w->slots, TRACE_RUN_SAMPLES_MAX, count);
    }
    run = &ahead->runs[w->runs_taken++];
    w->slots = run->slots;
    w->decoder = run->after;
    *count = run->count;
    return TRACE_OK;
}

static enum trace_status visit_samples(struct walk *w, const struct trace_record *record)
{
    struct trace_slot previous = w->decoder.previous;
    struct trace_samples samples = {
        .chunk = &w->chunk->header,
        .previous = &previous,
        .event_count = w->decoder.event_count,
    };
    enum trace_status status = take_run(w, record, &samples.count);
    int (*visit)(void *context, const struct trace_samples *samples) = w->visitor->samples;
    uint32_t all = samples.count;

    if (status != TRACE_OK)
        return status;
    samples.slots = w->slots;
    trace_rules_samples(&w->rules, w->slots, all, w->decoder.intervals);
    if (w->visitor->names && w->scan->info.names != NULL)
        (void)trace_names_read(w->scan->info.names); /* without memory there are fewer */
    cut(w, &samples);
    if ((w->slots[0].flags & HR_SAMPLE_ASIDE) != 0) {
        visit =
            (w->slots[0].flags & HR_SAMPLE_CALLED) != 0 ? w->visitor->called : w->visitor->waits;
        if (visit == NULL)
            samples.count = 0;
    }
    status = read_stacks(w, &samples, all);
    if (status == TRACE_OK && w->result == 0)
        status = read_accesses(w, &samples, all);
    if (status == TRACE_OK && w->result == 0 && !w->visitor->own_addresses)
        w->result = place(w, &samples);
    if (status == TRACE_OK && w->result == 0 && visit != NULL && samples.count != 0)
        w->result = visit(w->visitor->context, &samples);
    return status;
}

/* Drops the hits of a run that are not selected. */
static void cut_hits(const struct walk *w, struct trace_hits *hits)
{
    const struct selection *selection = &w->scan->selection;
    const struct trace_info *info = &w->scan->info;

    if (!trace_info_selects(info, selection, hits->hits[0].tid, hits->hits[0].time))
        hits->count = 0;
    if (w->inside)
        return;
    while (hits->count != 0 && trace_info_time_ns(info, hits->hits[0].time) < selection->from_ns) {
        hits->hits++;
        hits->count--;
    }
    while (hits->count != 0 &&
           trace_info_time_ns(info, hits->hits[hits->count - 1].time) > selection->to_ns)
        hits->count--;
}

static bool is_allocation(const struct trace_info *info, const struct trace_hit *hit)
{
    uint32_t function = trace_points_function(&info->points, hit->point);

    return hit->what == HR_PROBE_REACHED && function != TRACE_POINTS_NONE &&
           (info->points.functions[function].meta.flags & HR_PROBE_ALLOCATES) != 0 &&
           info->points.meta.argument_count >= HR_ALLOCATION_VALUES;
}

/* Gives those of a run that belong together to who wants them. */
static void give_hits(struct walk *w, const struct trace_hits *hits)
{
    const struct trace_info *info = &w->scan->info;
    struct trace_hits part = {.chunk = hits->chunk};

    for (uint32_t i = 0; i < hits->count && w->result == 0; i += part.count) {
        bool allocates = is_allocation(info, &hits->hits[i]);
        int (*visit)(void *context, const struct trace_hits *hits) =
            allocates ? w->visitor->allocations : w->visitor->hits;

        part.hits = hits->hits + i;
        part.count = 1;
        while (i + part.count < hits->count &&
               is_allocation(info, &hits->hits[i + part.count]) == allocates)
            part.count++;
        if (visit != NULL)
            w->result = visit(w->visitor->context, &part);
    }
}

/* Without HR_META_PROBES the number of arguments of a hit is not known. */
static enum trace_status visit_hits(struct walk *w, const struct trace_record *record)
{
    struct trace_scan *scan = w->scan;
    struct trace_hits hits = {.chunk = &w->chunk->header};
    enum trace_status status;

    if (!scan->info.points.any) {
        w->rules.foreign = true;
        return TRACE_OK;
    }
    if (scan->hits == NULL)
        scan->hits = malloc(TRACE_RUN_SAMPLES_MAX * sizeof scan->hits[0]);
    if (scan->hits == NULL) {
        w->result = -ENOMEM;
        return TRACE_OK;
    }
    hits.hits = scan->hits;
    status = trace_probes_decoder_hits(&w->probes, record, scan->hits, TRACE_RUN_SAMPLES_MAX,
                                       &hits.count);
    if (status != TRACE_OK)
        return status;
    trace_rules_hits(&w->rules, hits.hits, hits.count, w->probes.intervals);
    for (uint32_t i = 0; i < hits.count; i++)
        scan->hits[i].cpu = w->chunk->header.cpu;
    cut_hits(w, &hits);
    if (w->visitor->hits != NULL || w->visitor->allocations != NULL)
        give_hits(w, &hits);
    return TRACE_OK;
}

static enum trace_status visit_base(struct walk *w, const struct trace_record *record)
{
    enum trace_status status = trace_decoder_base(&w->decoder, record);

    trace_probes_decoder_begin(&w->probes, w->scan->info.points.meta.argument_count, &w->decoder);
    return status;
}

/* Stacks that belong to no run, because something came between, are none. */
static enum trace_status visit_stacks(struct walk *w, const struct trace_record *record)
{
    if (w->visitor->stacks == TRACE_SCAN_NO_STACKS || record->offset < w->stacks_end)
        return TRACE_OK;
    if (record->type == HR_REC_STACK_NODES)
        return stack_reader_nodes(&w->scan->stack_reader, record, &w->result);
    return TRACE_BAD_RECORD;
}

/* Accesses that belong to no run are none. */
static enum trace_status visit_accesses(const struct walk *w, const struct trace_record *record)
{
    return !w->visitor->accesses || !w->scan->info.has_accesses || record->offset < w->accesses_end
               ? TRACE_OK
               : TRACE_BAD_RECORD;
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
    case HR_REC_PROBES:
    case HR_REC_PROBES_WIDE:
        return visit_hits(w, record);
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
static enum trace_status visit_records(struct walk *w)
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

bool trace_scan_outside(const struct trace_scan *scan, const struct hr_chunk_header *header)
{
    const struct selection *selection = &scan->selection;

    return header->type == HR_CHUNK_DATA &&
           (trace_info_time_ns(&scan->info, header->time_last) < selection->from_ns ||
            trace_info_time_ns(&scan->info, header->time_first) > selection->to_ns ||
            !selection_has_cpu(selection, header->cpu));
}

static void pass_over(struct trace_scan *scan, const struct hr_chunk_header *header)
{
    scan->partial = true;
    scan->audit.cpus[header->cpu].broken = true; /* what comes next does not follow on it */
}

/* Without reading them, passes over chunks that hold nothing selected and that `index` lists. */
static void skip(struct trace_scan *scan, const struct trace_index *index, size_t *next)
{
    for (; *next < index->count; ++*next) {
        const struct hr_index_entry *entry = &index->entries[*next];
        struct trace_chunk chunk = {.header = trace_index_header(entry), .offset = entry->offset};

        if (entry->offset < scan->file.position)
            continue;
        if (entry->offset > scan->file.position || !trace_scan_outside(scan, &chunk.header))
            return;
        trace_audit_step(&scan->audit, TRACE_STEP_CHUNK, &chunk);
        pass_over(scan, &chunk.header);
        trace_file_seek(&scan->file,
                        entry->offset + sizeof chunk.header + chunk.header.payload_bytes);
    }
}

int trace_scan_next(struct trace_scan *scan, const struct trace_index *index, size_t *next,
                    struct trace_chunk *chunk)
{
    uint64_t before = scan->file.position;
    int step;

    skip(scan, index, next);
    step = trace_file_next(&scan->file, chunk);
    progress_bar_add(&scan->progress, scan->file.position - before);
    return step;
}

int trace_scan_step(struct trace_scan *scan, const struct trace_visitor *visitor, int step,
                    const struct trace_chunk *chunk)
{
    bool continues = trace_audit_step(&scan->audit, step, chunk);
    int result = 0;

    if (step == TRACE_STEP_CHUNK && trace_scan_outside(scan, &chunk->header)) {
        pass_over(scan, &chunk->header);
        return 0;
    }
    if (visitor->step != NULL)
        result = visitor->step(visitor->context, step, chunk);
    if (result == 0 && step == TRACE_STEP_CHUNK)
        result = trace_scan_chunk(scan, visitor, chunk, continues);
    return result;
}

static int walk(struct trace_scan *scan, const struct trace_visitor *visitor,
                const struct trace_index *index)
{
    uint64_t start = scan->file.position;
    unsigned int jobs = 1;
    size_t next = 0;
    int result = 0;

    while (result == 0 && jobs == 1) {
        struct trace_chunk chunk;
        int step = trace_scan_next(scan, index, &next, &chunk);

        if (step < TRACE_STEP_END)
            return step;
        if (step == TRACE_STEP_END)
            break;
        result = trace_scan_step(scan, visitor, step, &chunk);
        jobs = trace_ahead_jobs(scan, scan->file.position - start);
    }
    if (result == 0 && jobs > 1)
        result = trace_ahead_run(scan, visitor, index, jobs);
    if (result == 0 && !scan->file.growing)
        trace_audit_finish(&scan->audit, &scan->info);
    return result;
}

int trace_scan_run(struct trace_scan *scan, const struct trace_visitor *visitor)
{
    struct trace_index index;
    int result;

    trace_index_init(&index);
    /* An index that is missing or wrong is no loss here: the walk reads what it does not list. */
    if (!selection_is_all(&scan->selection) && !scan->file.growing &&
        trace_index_load(&index, scan->file.fd) != 0)
        trace_index_walk(&index, scan->file.fd, scan->file.first_chunk, scan->file.file_bytes);
    progress_bar_begin(&scan->progress, scan->file.file_bytes - scan->file.position);
    result = walk(scan, visitor, &index);
    progress_bar_end(&scan->progress);
    trace_index_free(&index);
    return result;
}

static int stop_at_data(void *context, const struct trace_chunk *chunk, bool continues)
{
    (void)context;
    (void)chunk;
    (void)continues;
    return 1;
}

int trace_scan_info(struct trace_scan *scan)
{
    const struct trace_visitor visitor = {.chunk = stop_at_data};

    return trace_scan_run(scan, &visitor);
}

int trace_scan_head(struct trace_scan *scan, struct trace_head *head)
{
    int result = trace_scan_info(scan);

    head->data = result > 0;
    head->stacks = scan->info.has_stacks;
    head->accesses = scan->info.has_accesses;
    head->called = trace_points_called(&scan->info.points);
    return result < 0 ? result : trace_scan_rewind(scan);
}
