/* Collects the metadata of a trace; every record is checked before it is believed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/trace/trace_info_sums.h"

/* Makes room for one more element; false when the bound is reached or memory is out. */
static bool grow(void *array, size_t count, size_t bytes, size_t bound, int *error)
{
    if (count >= bound)
        return false;
    if (array_grow(array, count, bytes) == 0)
        return true;
    *error = -ENOMEM;
    return false;
}

static enum trace_status take_text(struct trace_info *info, const struct trace_record *record,
                                   int *error)
{
    const uint8_t *nul = memchr(record->body, 0, record->bytes);
    size_t key_bytes;
    char *text;

    if (nul == NULL)
        return TRACE_BAD_RECORD;
    key_bytes = (size_t)(nul - record->body) + 1;
    if (!grow(&info->texts, info->text_count, sizeof info->texts[0], TRACE_INFO_TEXTS_MAX, error)) {
        info->ignored++;
        return TRACE_OK;
    }
    text = malloc((size_t)record->bytes + 1);
    if (text == NULL) {
        *error = -ENOMEM;
        return TRACE_OK;
    }
    memcpy(text, record->body, record->bytes);
    text[record->bytes] = 0;
    info->texts[info->text_count].key = text;
    info->texts[info->text_count++].value = text + key_bytes;
    return TRACE_OK;
}

/* The first number of events in samples is the trace's.  False when this is another one, or too
 * many. */
static bool count_events(struct trace_info *info, uint32_t event_count)
{
    if (event_count > HR_EVENTS_MAX || info->described >> event_count != 0)
        return false;
    if (info->knows_events)
        return event_count == info->event_count;
    info->knows_events = true;
    info->event_count = event_count;
    return true;
}

/* The number of events that may be described and have a total.  In mode exact, the counted events
 * come at the end. */
static uint32_t events_limit(const struct trace_info *info)
{
    if (info->has_sampling && info->sampling.mode == HR_MODE_EXACT && !info->has_exact)
        return HR_EXACT_EVENTS_MAX;
    return info->knows_events ? info->event_count : HR_EVENTS_MAX;
}

/* Each event is described once; a repetition must be identical. */
static enum trace_status take_event(struct trace_info *info, const struct trace_record *record)
{
    uint32_t limit = events_limit(info);
    struct trace_event event = {.total = 0};
    const uint8_t *name;
    size_t name_bytes;

    if (!trace_body(record, &event.meta, sizeof event.meta, &name, &name_bytes) ||
        event.meta.index >= limit)
        return TRACE_BAD_RECORD;
    snprintf(event.name, sizeof event.name, "%.*s", (int)name_bytes, (const char *)name);
    if ((info->described >> event.meta.index & 1) != 0) {
        const struct trace_event *known = &info->events[event.meta.index];

        return memcmp(&known->meta, &event.meta, sizeof event.meta) == 0 &&
                       strcmp(known->name, event.name) == 0
                   ? TRACE_OK
                   : TRACE_BAD_RECORD;
    }
    info->described |= 1u << event.meta.index;
    info->events[event.meta.index].meta = event.meta;
    memcpy(info->events[event.meta.index].name, event.name, sizeof event.name);
    return TRACE_OK;
}

static enum trace_status take_sampling(struct trace_info *info, const struct trace_record *record)
{
    struct hr_meta_sampling sampling;

    if (!trace_body(record, &sampling, sizeof sampling, NULL, NULL) ||
        !count_events(info, sampling.event_count))
        return TRACE_BAD_RECORD;
    info->sampling = sampling;
    info->has_sampling = true;
    return TRACE_OK;
}

/* The meaning of times does not change within a trace. */
static enum trace_status take_clock(struct trace_info *info, const struct trace_record *record)
{
    struct hr_meta_clock clock;

    if (!trace_body(record, &clock, sizeof clock, NULL, NULL) || clock.ticks_per_second == 0 ||
        (info->has_clock && memcmp(&clock, &info->clock, sizeof clock) != 0))
        return TRACE_BAD_RECORD;
    info->clock = clock;
    info->has_clock = true;
    return TRACE_OK;
}

static enum trace_status take_stacks(struct trace_info *info, const struct trace_record *record)
{
    struct hr_meta_stacks stacks;

    if (!trace_body(record, &stacks, sizeof stacks, NULL, NULL) ||
        (info->has_stacks && memcmp(&stacks, &info->stacks, sizeof stacks) != 0))
        return TRACE_BAD_RECORD;
    info->stacks = stacks;
    info->has_stacks = true;
    return TRACE_OK;
}

static enum trace_status take_accesses(struct trace_info *info, const struct trace_record *record)
{
    struct hr_meta_accesses accesses;

    if (!trace_body(record, &accesses, sizeof accesses, NULL, NULL) ||
        (info->has_accesses && memcmp(&accesses, &info->accesses, sizeof accesses) != 0))
        return TRACE_BAD_RECORD;
    info->accesses = accesses;
    info->has_accesses = true;
    return TRACE_OK;
}

static enum trace_status take_map(struct trace_info *info, const struct trace_record *record,
                                  int *error)
{
    struct trace_map map;
    const uint8_t *tail;
    size_t tail_bytes;

    if (!trace_body(record, &map.meta, sizeof map.meta, &tail, &tail_bytes) ||
        map.meta.build_id_bytes > TRACE_INFO_BUILD_ID_MAX || map.meta.start >= map.meta.end ||
        (size_t)map.meta.build_id_bytes + map.meta.path_bytes > tail_bytes)
        return TRACE_BAD_RECORD;
    if (!grow(&info->maps, info->map_count, sizeof map, TRACE_INFO_MAPS_MAX, error)) {
        info->ignored++;
        return TRACE_OK;
    }
    memcpy(map.build_id, tail, map.meta.build_id_bytes);
    map.path = strndup((const char *)tail + map.meta.build_id_bytes, map.meta.path_bytes);
    if (map.path == NULL)
        *error = -ENOMEM;
    else
        info->maps[info->map_count++] = map;
    if (map.path != NULL && trace_processes_any(&info->processes) &&
        trace_processes_first_map(&info->processes, &map.meta, map.build_id, map.path) != 0)
        *error = -ENOMEM;
    return TRACE_OK;
}

/* The first of these records makes the first process, which has the maps before it. */
static enum trace_status take_process(struct trace_info *info, const struct trace_record *record,
                                      int *error)
{
    struct trace_processes *processes = &info->processes;

    if (!trace_processes_any(processes)) {
        int failure = trace_processes_begin(processes);

        for (size_t i = 0; i < info->map_count && failure == 0; i++)
            failure = trace_processes_first_map(processes, &info->maps[i].meta,
                                                info->maps[i].build_id, info->maps[i].path);
        if (failure != 0) {
            *error = failure;
            return TRACE_OK;
        }
    }
    if (record->type == HR_REC_PROCESS)
        return trace_processes_take(processes, record, error);
    return record->type == HR_REC_THREAD ? trace_processes_take_thread(processes, record, error)
                                         : trace_processes_take_map(processes, record, error);
}

static enum trace_status take_total(struct trace_info *info, const struct trace_record *record)
{
    struct hr_rec_total total;

    if (!trace_body(record, &total, sizeof total, NULL, NULL) || total.index >= events_limit(info))
        return TRACE_BAD_RECORD;
    info->events[total.index].total = total.value;
    info->events[total.index].has_total = true;
    return TRACE_OK;
}

static enum trace_status take_stream(struct trace_info *info, const struct trace_record *record,
                                     int *error)
{
    struct hr_rec_stream stream;

    if (!trace_body(record, &stream, sizeof stream, NULL, NULL))
        return TRACE_BAD_RECORD;
    if (!grow(&info->streams, info->stream_count, sizeof stream, TRACE_INFO_STREAMS_MAX, error))
        info->ignored++;
    else
        info->streams[info->stream_count++] = stream;
    return TRACE_OK;
}

static enum trace_status take_machine(struct trace_info *info, const struct trace_record *record,
                                      int *error)
{
    struct hr_rec_machine_cpu machine;

    if (!trace_body(record, &machine, sizeof machine, NULL, NULL))
        return TRACE_BAD_RECORD;
    for (size_t i = 0; i < info->machine_count; i++)
        if (info->machines[i].cpu == machine.cpu)
            return TRACE_OK;
    if (!grow(&info->machines, info->machine_count, sizeof machine, TRACE_INFO_MACHINES_MAX, error))
        info->ignored++;
    else
        info->machines[info->machine_count++] = machine;
    return TRACE_OK;
}

static enum trace_status take_host_end(struct trace_info *info, const struct trace_record *record)
{
    const uint8_t *message;
    size_t message_bytes;

    if (!trace_body(record, &info->host_end, sizeof info->host_end, &message, &message_bytes))
        return TRACE_BAD_RECORD;
    info->has_host_end = true;
    snprintf(info->host_message, sizeof info->host_message, "%.*s", (int)message_bytes,
             (const char *)message);
    return TRACE_OK;
}

/* From here on the events are those of the emulator's counts.  sampling.event_count remains that of
 * samples, of which there are none. */
static enum trace_status take_exact(struct trace_info *info, const struct trace_record *record)
{
    struct hr_host_exact exact;

    if (!trace_body(record, &exact, sizeof exact, NULL, NULL) || exact.event_count == 0 ||
        exact.event_count > HR_EXACT_EVENTS_MAX)
        return TRACE_BAD_RECORD;
    if (info->sampling.mode != HR_MODE_EXACT || info->sampling.event_count > exact.event_count)
        return TRACE_BAD_RECORD;
    info->exact = exact;
    info->has_exact = true;
    info->event_count = exact.event_count;
    return TRACE_OK;
}

static enum trace_status take_fixed(const struct trace_record *record, void *body, size_t bytes,
                                    bool *has)
{
    *has = trace_body(record, body, bytes, NULL, NULL);
    return *has ? TRACE_OK : TRACE_BAD_RECORD;
}

static enum trace_status take_record(struct trace_info *info, const struct trace_record *record,
                                     int *error)
{
    switch (record->type) {
    case HR_META_INFO:
        return take_text(info, record, error);
    case HR_META_CLOCK:
        return take_clock(info, record);
    case HR_META_EVENT:
        return take_event(info, record);
    case HR_META_SAMPLING:
        return take_sampling(info, record);
    case HR_META_CALIBRATION:
        return take_fixed(record, &info->calibration, sizeof info->calibration,
                          &info->has_calibration);
    case HR_META_STACKS:
        return take_stacks(info, record);
    case HR_META_ACCESSES:
        return take_accesses(info, record);
    case HR_META_MAP:
        return take_map(info, record, error);
    case HR_REC_PROCESS:
    case HR_REC_THREAD:
    case HR_REC_PROCESS_MAP:
        return take_process(info, record, error);
    case HR_META_THREAD_STACK:
        return trace_thread_stacks_take(&info->thread_stacks, record, error);
    case HR_META_PROBES:
    case HR_META_PROBE_FUNCTION:
    case HR_META_PROBE_POINTS:
    case HR_META_CALLED:
        return trace_points_take(&info->points, record, error);
    case HR_REC_EXIT:
        return take_fixed(record, &info->exit, sizeof info->exit, &info->has_exit);
    case HR_REC_TOTAL:
        return take_total(info, record);
    case HR_REC_STREAM:
        return take_stream(info, record, error);
    case HR_HOST_END:
        return take_host_end(info, record);
    case HR_HOST_EXACT:
        return take_exact(info, record);
    case HR_HOST_FILE:
        return trace_files_take(&info->files, record, error);
    case HR_REC_REGION:
        return trace_regions_take(&info->regions, record, error);
    case HR_REC_NMI:
        return trace_info_take_nmi(info, record);
    case HR_REC_ACTIVITY:
        return trace_info_take_activity(info, record);
    case HR_REC_CALLS:
        return trace_info_take_calls(info, record);
    case HR_REC_SHARE:
        return trace_info_take_share(info, record);
    case HR_REC_MACHINE_CPU:
        return take_machine(info, record, error);
    default:
        return trace_names_valid(record) ? TRACE_OK : TRACE_BAD_RECORD;
    }
}

enum trace_status trace_info_chunk(struct trace_info *info, const struct trace_chunk *chunk,
                                   int *error)
{
    struct trace_cursor cursor;
    struct trace_record record;
    enum trace_status status;

    trace_cursor_init(&cursor, chunk->payload, chunk->header.payload_bytes);
    while ((status = trace_next(&cursor, &record)) == TRACE_OK) {
        status = take_record(info, &record, error);
        if (status != TRACE_OK)
            return status;
    }
    return status == TRACE_END ? TRACE_OK : status;
}

bool trace_info_learn_events(struct trace_info *info, const struct trace_chunk *chunk)
{
    struct trace_cursor cursor;
    struct trace_record record;
    struct hr_rec_base base;

    trace_cursor_init(&cursor, chunk->payload, chunk->header.payload_bytes);
    return trace_next(&cursor, &record) == TRACE_OK && record.type == HR_REC_BASE &&
           trace_body(&record, &base, sizeof base, NULL, NULL) &&
           record.bytes - sizeof base >= (size_t)8 * base.event_count &&
           count_events(info, base.event_count);
}
