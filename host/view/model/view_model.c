/* Walks over a trace and hands what it holds to the parts of the page's data. */
#include "host/view/model/view_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/scan/about.h"
#include "host/view/model/view_counts.h"
#include "host/view/model/view_facts.h"

#define FINEST_SAMPLES 2u /* in a bin of the finest level, about */
#define FINEST_TICKS 1024u /* where the interval is unknown */

const char *const view_part_names[VIEW_PARTS] = {"facts", "bins",   "profile", "lanes",
                                                 "calls", "memory", "samples"};

/* The event of a name that counts retired instructions, -1 when there is none. */
static int base_event(const struct trace_info *info)
{
    static const char *const words[] = {"instructions", "INST_RETIRED", "INSTRUCTION_RETIRED",
                                        "INSTRUCTIONS_RETIRED", "RETIRED_INSTRUCTIONS"};
    char room[16];

    for (uint32_t i = 0; i < info->event_count; i++)
        for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
            if (strncasecmp(trace_info_event_name(info, i, room), words[w], strlen(words[w])) == 0)
                return (int)i;
    return -1;
}

uint64_t view_model_finest(const struct view_model *m)
{
    uint64_t interval = m->scan.info.sampling.interval_ticks;

    return interval != 0 ? interval * FINEST_SAMPLES : FINEST_TICKS;
}

/* The metadata came: makes room for what follows. */
static int prepare(struct view_model *m)
{
    const struct trace_info *info = &m->scan.info;
    uint32_t events = m->exact ? m->event_count : info->event_count;
    int error;

    m->base = base_event(info);
    m->lanes.start = info->clock.start_ticks;
    view_samples_init(&m->samples, events, VIEW_SAMPLES_VALUES_MAX / (6 + events));
    m->samples.overflow = m->exact; /* none is kept */
    error = symbols_open(&m->symbols, info, m->scan.symbols);
    m->tree.symbols = m->symbols;
    if (error == 0)
        error = view_blocks_init(&m->blocks, events, VIEW_BLOCKS_BITS);
    if (error == 0)
        error = view_bins_init(&m->bins, events, m->base, view_model_finest(m));
    if (error == 0)
        error = view_spread_init(&m->spread, info);
    m->ready = error == 0;
    return error;
}

/* All of the run: in the first block, whose length the page does not use. */
static int take_exact(struct view_model *m, const struct trace_samples *samples, uint32_t group)
{
    const struct trace_slot *previous = samples->previous;
    int error = view_counts_settle(m->counts);

    m->last = m->scan.info.exit.time - m->scan.info.clock.start_ticks;
    for (uint32_t n = 0; n < samples->count && error == 0; n++) {
        const struct trace_slot *slot = &samples->slots[n];
        uint32_t node =
            view_tree_sample(&m->tree, &m->scan.stacks, HR_STACK_NONE, slot->ip, &error);

        if (error == 0)
            error =
                view_blocks_add(&m->blocks, 0, group, node, samples->weights[n], slot, previous);
        m->sample_count += samples->weights[n];
        previous = slot;
    }
    return error;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct view_model *m = context;
    int error = m->ready ? 0 : prepare(m);
    uint32_t group;

    if (error != 0 || samples->event_count != m->blocks.event_count)
        return error; /* another number of events is a forged trace's */
    object_share_add(&m->share, &m->scan.info, samples);
    group = view_blocks_group(&m->blocks, samples->chunk->cpu, samples->slots[0].tid);
    if (samples->weights != NULL)
        return take_exact(m, samples, group);
    m->sample_count += samples->count;
    error = view_lanes_samples(&m->lanes, samples);
    view_memory_run(&m->memory, samples);
    return error == 0 ? view_counts_take(m->counts, samples, group) : error;
}

static int take_waits(void *context, const struct trace_samples *samples)
{
    struct view_model *m = context;
    int error = m->ready ? 0 : prepare(m);

    return error == 0 ? view_waits_take(&m->waits, &m->scan, samples) : error;
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct view_model *m = context;
    int error = 0;

    if (record->type == HR_META_MAP && m->ready) /* a library that was loaded later */
        return symbols_update(m->symbols, &m->scan.info);
    if (chunk->header.type != HR_CHUNK_DATA)
        return 0;
    if (!m->ready)
        error = prepare(m);
    m->requests |= record->type == HR_REC_REQUEST;
    if (error == 0)
        error = view_waits_record(&m->waits, &m->scan, record);
    return error == 0 ? view_lanes_record(&m->lanes, &chunk->header, record) : error;
}

/* What the walk needs to know before: of exact counts, and of memory. */
static int look_ahead(struct view_model *m, struct reader *reader)
{
    struct trace_info info;
    int error;

    trace_info_init(&info);
    error = about_read(&info, reader->path);
    m->exact = info.has_exact;
    m->event_count = info.event_count;
    if (error == 0)
        error = reader_open(&m->scan, reader);
    m->scanned = error == 0;
    if (error == 0)
        error = view_memory_read(&m->memory, reader->path, &m->scan, &info);
    trace_info_free(&info);
    return error;
}

static int walk(struct view_model *m)
{
    const struct trace_visitor visitor = {.context = m,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .exact = true,
                                          .names = true,
                                          .accesses = true,
                                          .samples = take_samples,
                                          .waits = take_waits,
                                          .record = take_record};
    int error;

    m->counts = view_counts_new(m);
    if (m->counts == NULL)
        return -ENOMEM;
    error = trace_scan_run(&m->scan, &visitor);
    if (error == 0)
        error = view_counts_settle(m->counts);
    view_counts_free(m->counts);
    m->counts = NULL;
    return error;
}

int view_model_read(struct view_model *m, struct reader *reader)
{
    int error;

    memset(m, 0, sizeof *m);
    error = look_ahead(m, reader);
    if (error != 0)
        return error;
    m->waits.tree = &m->tree;
    m->waits.blocks = &m->blocks;
    error = view_tree_init(&m->tree);
    if (error == 0)
        error = view_lanes_init(&m->lanes, &m->blocks);
    if (error == 0)
        error = walk(m);
    if (error == 0 && !m->ready)
        error = prepare(m);
    if (error == 0)
        error = view_waits_finish(&m->waits, &m->scan);
    stacks_free(&m->scan.stacks); /* what is left to do wants the memory */
    view_tree_forget(&m->tree);
    if (error == 0)
        error = view_calls_read(&m->calls, &m->scan, m->requests);
    return error;
}

void view_model_free(struct view_model *m)
{
    view_tree_free(&m->tree);
    view_blocks_free(&m->blocks);
    view_bins_free(&m->bins);
    view_lanes_free(&m->lanes);
    view_samples_free(&m->samples);
    view_waits_free(&m->waits);
    view_spread_free(&m->spread);
    view_calls_free(&m->calls);
    view_memory_free(&m->memory);
    object_share_free(&m->share);
    symbols_close(m->symbols);
    if (m->scanned)
        trace_scan_close(&m->scan);
    memset(m, 0, sizeof *m);
}

int view_model_pack(struct view_model *m, enum view_part part, json_t *facts, uint8_t **bytes,
                    size_t *count)
{
    struct view_columns columns;
    int error = 0;

    view_columns_init(&columns);
    switch (part) {
    case VIEW_FACTS:
        if (json_object_update(columns.json, facts) != 0)
            error = -ENOMEM;
        view_facts_add(m, &columns);
        break;
    case VIEW_BINS:
        view_bins_pack(&m->bins, &columns);
        break;
    case VIEW_PROFILE:
        view_tree_pack(&m->tree, &columns);
        view_waits_pack(&m->waits, &columns);
        error = view_blocks_pack(&m->blocks, &columns);
        break;
    case VIEW_LANE_SPANS:
        view_lanes_pack(&m->lanes, &m->scan.info, &columns);
        break;
    case VIEW_CALL_LIST:
        view_calls_pack(&m->calls, &columns);
        break;
    case VIEW_MEMORY_MAPS:
        view_memory_pack(&m->memory, &columns);
        break;
    default:
        view_samples_pack(&m->samples, &columns);
    }
    json_decref(facts);
    if (error == 0)
        error = view_columns_finish(&columns, bytes, count);
    view_columns_free(&columns);
    return error;
}
