/* Merges the chunks of several CPUs by time. */
#include "host/latency/latency_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/symbols/called.h"
#include "host/trace/trace_index.h"

struct place { /* of a chunk */
    uint64_t offset;
    bool continues;
};

struct lane { /* a CPU's chunks, and what was decoded of the present one */
    uint16_t cpu;
    struct place *places;
    size_t place_count, next;
    uint64_t *words; /* items: key, type, words that follow, and these */
    size_t used, room, at;
    uint64_t key; /* of the item added last: never falls */
    uint64_t first; /* key of the item at `at`; UINT64_MAX: there are no more */
};

struct order {
    struct trace_scan *scan;
    const struct latency_sink *sink;
    int (*begin)(void *owner);
    void *owner;
    bool begun;
    struct lane *lanes;
    size_t lane_count;
    struct lane *filling; /* NULL: items go to the sink at once */
};

#define ITEM_WORDS 3u
#define ITEM_HIT 0u /* a type that no record has */
#define ITEM_LOSS 1u

static int add_item(struct order *o, uint64_t key, uint64_t type, const void *body, uint32_t bytes)
{
    struct lane *lane = o->filling;
    size_t words = ITEM_WORDS + (bytes + 7) / 8;
    uint64_t *item;

    if (lane->room - lane->used < words) {
        size_t room = 2 * lane->room + 4096;
        uint64_t *grown = realloc(lane->words, room * sizeof grown[0]);

        if (grown == NULL)
            return -ENOMEM;
        lane->words = grown;
        lane->room = room;
    }
    lane->key = key > lane->key ? key : lane->key;
    item = lane->words + lane->used;
    item[0] = lane->key;
    item[1] = type;
    item[2] = words - ITEM_WORDS;
    memcpy(item + ITEM_WORDS, body, bytes);
    lane->used += words;
    return 0;
}

/* A hit without the counters that it does not have. */
static int add_hit(struct order *o, const struct trace_hit *hit)
{
    size_t events = latency_order_events(&o->scan->info);
    size_t arguments = o->scan->info.points.meta.argument_count;
    uint32_t head = offsetof(struct trace_hit, counters);
    uint64_t packed[sizeof *hit / 8];

    memcpy(packed, hit, head + 8 * events);
    memcpy(packed + head / 8 + events, hit->arguments, 8 * arguments);
    return add_item(o, hit->time, ITEM_HIT, packed, head + (uint32_t)(8 * (events + arguments)));
}

static void give_hit(const struct order *o, const uint64_t *words)
{
    size_t events = latency_order_events(&o->scan->info);
    uint32_t head = offsetof(struct trace_hit, counters) / 8;
    struct trace_hit hit;

    memcpy(&hit, words, 8 * (head + events));
    memcpy(hit.arguments, words + head + events,
           sizeof hit.arguments[0] * o->scan->info.points.meta.argument_count);
    o->sink->hit(o->sink->context, &hit);
}

static int take_hits(void *context, const struct trace_hits *hits)
{
    struct order *o = context;
    int error = 0;

    if (o->filling == NULL)
        for (uint32_t i = 0; i < hits->count; i++)
            o->sink->hit(o->sink->context, &hits->hits[i]);
    for (uint32_t i = 0; o->filling != NULL && i < hits->count && error == 0; i++)
        error = add_hit(o, &hits->hits[i]);
    return error;
}

static int take_loss(struct order *o, uint64_t time)
{
    if (o->filling != NULL)
        return add_item(o, time, ITEM_LOSS, &time, sizeof time);
    o->sink->loss(o->sink->context, time);
    return 0;
}

static uint32_t body_bytes(uint8_t type)
{
    switch (type) {
    case HR_REC_SWITCH:
        return sizeof(struct hr_rec_switch);
    case HR_REC_SYSCALL:
        return sizeof(struct hr_rec_syscall);
    case HR_REC_WAIT:
        return sizeof(struct hr_rec_wait);
    case HR_REC_WAKE:
        return sizeof(struct hr_rec_wake);
    case HR_REC_GAP:
        return sizeof(struct hr_rec_gap);
    case HR_REC_REQUEST:
        return sizeof(struct hr_rec_request);
    default:
        return 0;
    }
}

/* The time at which a record was written. */
static uint64_t written(uint8_t type, const void *body)
{
    uint64_t time;

    memcpy(&time, body, sizeof time); /* a record begins with its time */
    if (type == HR_REC_SYSCALL)
        time += ((const struct hr_rec_syscall *)body)->duration_ticks;
    if (type == HR_REC_GAP)
        time = ((const struct hr_rec_gap *)body)->time_last;
    return time;
}

/* Whether a request's record is selected: it has to be with its thread's hits. */
static bool is_selected(const struct order *o, const struct hr_rec_request *request)
{
    const struct selection *selection = &o->scan->selection;
    uint64_t ns = trace_info_time_ns(&o->scan->info, request->time);

    return request->kind >= HR_REQUEST_BEGIN && request->kind <= HR_REQUEST_BLOCK &&
           ns >= selection->from_ns && ns <= selection->to_ns &&
           trace_info_selects(&o->scan->info, selection, request->tid, request->time);
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    struct order *o = context;
    uint32_t bytes = body_bytes(record->type);
    union {
        struct hr_rec_switch change;
        struct hr_rec_syscall call;
        struct hr_rec_wait wait;
        struct hr_rec_wake wake;
        struct hr_rec_gap gap;
        struct hr_rec_request request;
        struct hr_rec_lost lost;
    } body;

    if (chunk->header.type != HR_CHUNK_DATA)
        return 0;
    if (record->type == HR_REC_LOST)
        return trace_body(record, &body.lost, sizeof body.lost, NULL, NULL)
                   ? take_loss(o, body.lost.time_last)
                   : 0;
    if (bytes == 0 || !trace_body(record, &body, bytes, NULL, NULL) ||
        (record->type == HR_REC_REQUEST && !is_selected(o, &body.request)) ||
        (record->type == HR_REC_GAP && body.gap.reason != HR_GAP_FILES))
        return 0;
    if (o->filling != NULL)
        return add_item(o, written(record->type, &body), record->type, &body, bytes);
    o->sink->record(o->sink->context, record->type, &body);
    return 0;
}

static int begin_once(struct order *o)
{
    int error;

    if (o->begun)
        return 0;
    o->begun = true;
    error = called_name(&o->scan->info, o->scan->symbols);
    return error != 0 ? error : o->begin(o->owner);
}

static int take_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct order *o = context;
    int error = begin_once(o);

    return error != 0 || continues ? error : take_loss(o, chunk->header.time_first);
}

/* The first walk over a trace of several CPUs: it verifies all, and finds the chunks. */
static int note_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct order *o = context;
    struct lane *lane = NULL;
    int error = 0;

    for (size_t i = 0; i < o->lane_count && lane == NULL; i++)
        if (o->lanes[i].cpu == chunk->header.cpu)
            lane = &o->lanes[i];
    if (lane == NULL) {
        error = array_grow(&o->lanes, o->lane_count, sizeof o->lanes[0]);
        if (error != 0)
            return error;
        lane = &o->lanes[o->lane_count++];
        *lane = (struct lane){.cpu = chunk->header.cpu};
    }
    error = array_grow(&lane->places, lane->place_count, sizeof lane->places[0]);
    if (error == 0)
        lane->places[lane->place_count++] = (struct place){chunk->offset, continues};
    return error;
}

/* Decodes chunks of a lane until there is an item, or no chunk. */
static int fill(struct order *o, struct trace_scan *reader, struct lane *lane,
                const struct trace_visitor *visitor)
{
    lane->used = lane->at = 0;
    while (lane->used == 0 && lane->next < lane->place_count) {
        const struct place *place = &lane->places[lane->next++];
        struct trace_chunk chunk;
        int step, error;

        trace_file_seek(&reader->file, place->offset);
        step = trace_file_next(&reader->file, &chunk);
        if (step < 0)
            return step;
        if (step != TRACE_STEP_CHUNK)
            return -EBADMSG;
        o->filling = lane;
        error = trace_scan_chunk(reader, visitor, &chunk, place->continues);
        if (error != 0)
            return error;
    }
    lane->first = lane->used != 0 ? lane->words[0] : UINT64_MAX;
    if (lane->used == 0) {
        free(lane->words);
        lane->words = NULL;
        lane->room = 0;
    }
    return 0;
}

static void give_item(const struct order *o, const uint64_t *item)
{
    const uint64_t *body = item + ITEM_WORDS;

    if (item[1] == ITEM_HIT)
        give_hit(o, body);
    else if (item[1] == ITEM_LOSS)
        o->sink->loss(o->sink->context, *body);
    else
        o->sink->record(o->sink->context, (uint8_t)item[1], body);
}

/* Gives the items of a lane up to the time at which another lane is due. */
static int drain(struct order *o, struct trace_scan *reader, struct lane *lane, uint64_t until,
                 const struct trace_visitor *visitor)
{
    int error = 0;

    while (error == 0 && lane->used != 0 && lane->first <= until) {
        give_item(o, lane->words + lane->at);
        lane->at += ITEM_WORDS + lane->words[lane->at + 2];
        if (lane->at < lane->used)
            lane->first = lane->words[lane->at];
        else
            error = fill(o, reader, lane, visitor);
    }
    return error;
}

static int merge(struct order *o, struct trace_scan *reader, const struct trace_visitor *visitor)
{
    int error = begin_once(o);

    for (size_t i = 0; i < o->lane_count && error == 0; i++)
        error = fill(o, reader, &o->lanes[i], visitor);
    while (error == 0) {
        struct lane *lane = NULL;
        uint64_t until = UINT64_MAX;

        for (size_t i = 0; i < o->lane_count; i++) {
            struct lane *other = &o->lanes[i];

            if (other->used == 0)
                continue;
            if (lane == NULL || other->first < lane->first) {
                until = lane != NULL ? lane->first : until;
                lane = other;
            } else if (other->first < until) {
                until = other->first;
            }
        }
        if (lane == NULL)
            break;
        error = drain(o, reader, lane, until, visitor);
    }
    return error;
}

static int run_merged(struct order *o)
{
    const struct trace_visitor noting = {.context = o, .chunk = note_chunk};
    const struct trace_visitor visitor = {
        .context = o, .chunk = take_chunk, .hits = take_hits, .record = take_record};
    struct trace_scan reader;
    int error = trace_scan_run(o->scan, &noting);

    if (error != 0)
        return error;
    error = trace_scan_share(&reader, o->scan);
    if (error != 0)
        return error;
    error = merge(o, &reader, &visitor);
    trace_scan_unshare(&reader);
    return error;
}

/* Whether DATA chunks are of more than one CPU; what is no trace is found by the walk. */
static int is_of_several(const struct trace_scan *scan, bool *several)
{
    struct trace_index index;
    int cpu = -1, error = trace_index_load(&index, scan->file.fd);

    if (error != 0)
        error =
            trace_index_walk(&index, scan->file.fd, scan->file.first_chunk, scan->file.file_bytes);
    *several = error == -EBADMSG || error == -E2BIG;
    for (size_t i = 0; i < index.count; i++)
        if (index.entries[i].type == HR_CHUNK_DATA) {
            *several |= cpu >= 0 && cpu != index.entries[i].cpu;
            cpu = index.entries[i].cpu;
        }
    trace_index_free(&index);
    return *several ? 0 : error;
}

/* Whether the program is known to have ended, with all that came before. */
static bool has_ended(const struct trace_scan *scan)
{
    const struct trace_info *info = &scan->info;

    return info->has_exit &&
           (info->exit.kind == HR_EXIT_STATUS || info->exit.kind == HR_EXIT_SIGNAL) &&
           trace_info_time_ns(info, info->exit.time) <= scan->selection.to_ns &&
           (scan->partial || trace_audit_complete(&scan->audit));
}

int latency_order_run(struct trace_scan *scan, int (*begin)(void *owner), void *owner,
                      const struct latency_sink *sink)
{
    struct order o = {.scan = scan, .sink = sink, .begin = begin, .owner = owner};
    const struct trace_visitor visitor = {
        .context = &o, .chunk = take_chunk, .hits = take_hits, .record = take_record};
    struct trace_head head;
    bool several;
    int error = is_of_several(scan, &several);

    if (error == 0 && !several) {
        error = trace_scan_head(scan, &head);
        several = head.called; /* numbers that come as the program runs need a walk of their own */
    }
    if (error == 0)
        error = several ? run_merged(&o) : trace_scan_run(scan, &visitor);
    if (error == 0)
        error = begin_once(&o); /* a trace without DATA */
    if (error == 0 && has_ended(scan))
        sink->exit(sink->context);
    for (size_t i = 0; i < o.lane_count; i++) {
        free(o.lanes[i].places);
        free(o.lanes[i].words);
    }
    free(o.lanes);
    return error;
}
