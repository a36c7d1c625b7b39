/* Walks over a trace once, decoding it for a visitor. */
#include "host/scan/trace_scan.h"

#include <errno.h>
#include <stdlib.h>

#include "host/scan/trace_ahead.h"
#include "host/trace/trace_index.h"

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
    scan->after_turn = (struct trace_after_turn){0};
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
    if (result != 0 || step != TRACE_STEP_CHUNK)
        return result;
    if (scan->ahead != NULL && scan->ahead->digest != NULL) {
        result = visitor->digest->take(visitor->context, scan->ahead->digest);
        if (result != -EAGAIN)
            return result;
    }
    return trace_scan_chunk(scan, visitor, chunk, continues);
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
