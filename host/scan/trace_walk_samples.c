/* Hands runs of samples to a visitor, with their stacks and accesses. */
#include "host/scan/trace_walk.h"

#include <errno.h>
#include <stdlib.h>

#include "host/scan/trace_ahead.h"
#include "host/trace/trace_made.h"

/* Drops the samples of a run that are not selected: one thread's, in the order of time. */
static void cut(const struct trace_walk *w, struct trace_samples *samples)
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
static enum trace_status read_stacks(struct trace_walk *w, struct trace_samples *samples,
                                     uint32_t all)
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
static enum trace_status read_accesses(struct trace_walk *w, struct trace_samples *samples,
                                       uint32_t all)
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
static int place(struct trace_walk *w, struct trace_samples *samples)
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
static enum trace_status take_run(struct trace_walk *w, const struct trace_record *record,
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

enum trace_status trace_walk_samples(struct trace_walk *w, const struct trace_record *record)
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
    samples.kept = w->slots != w->scan->slots;
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
