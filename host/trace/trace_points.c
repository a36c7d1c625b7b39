/* Collects what a trace says about its probes; every record is checked before it is believed. */
#include "host/trace/trace_points.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trace_points_free(struct trace_points *p)
{
    for (uint32_t i = 0; p->functions != NULL && i < p->meta.function_count; i++)
        free(p->functions[i].name);
    free(p->functions);
    free(p->points);
    memset(p, 0, sizeof *p);
}

/* A second record must be equal to the first. */
static enum trace_status take_probes(struct trace_points *p, const struct trace_record *record,
                                     int *error)
{
    struct hr_meta_probes meta;

    if (!trace_body(record, &meta, sizeof meta, NULL, NULL) ||
        meta.function_count > TRACE_POINTS_FUNCTIONS_MAX ||
        meta.point_count > HR_PROBE_POINTS_MAX || meta.argument_count > HR_PROBE_ARGUMENTS_MAX)
        return TRACE_BAD_RECORD;
    meta.flags &= HR_PROBES_CALLED;
    if (p->any)
        return memcmp(&meta, &p->meta, sizeof meta) == 0 ? TRACE_OK : TRACE_BAD_RECORD;
    p->functions = calloc(meta.function_count + 1u, sizeof p->functions[0]);
    p->points = malloc((meta.point_count + 1u) * sizeof p->points[0]);
    if (p->functions == NULL || p->points == NULL) {
        trace_points_free(p);
        *error = -ENOMEM;
        return TRACE_OK;
    }
    for (uint32_t i = 0; i < meta.point_count; i++)
        p->points[i] = (struct hr_probe_point){.function = TRACE_POINTS_NONE};
    p->meta = meta;
    p->any = true;
    return TRACE_OK;
}

static enum trace_status take_function(struct trace_points *p, const struct trace_record *record,
                                       int *error)
{
    struct hr_meta_probe_function meta;
    struct trace_point_function *function;
    const uint8_t *tail;
    size_t tail_bytes;
    char *name;

    if (!trace_body(record, &meta, sizeof meta, &tail, &tail_bytes) ||
        meta.number >= p->meta.function_count ||
        (size_t)meta.name_bytes + meta.path_bytes > tail_bytes)
        return TRACE_BAD_RECORD;
    function = &p->functions[meta.number];
    if (function->name != NULL) /* META may come again: the first one counts */
        return TRACE_OK;
    name = malloc((size_t)meta.name_bytes + meta.path_bytes + 2);
    if (name == NULL) {
        *error = -ENOMEM;
        return TRACE_OK;
    }
    memcpy(name, tail, meta.name_bytes);
    name[meta.name_bytes] = 0;
    memcpy(name + meta.name_bytes + 1, tail + meta.name_bytes, meta.path_bytes);
    name[meta.name_bytes + 1 + meta.path_bytes] = 0;
    function->meta = meta;
    function->name = name;
    function->path = name + meta.name_bytes + 1;
    p->described++;
    return TRACE_OK;
}

static enum trace_status take_called(struct trace_points *p, const struct trace_record *record)
{
    struct trace_point_function *function;
    struct hr_meta_called called;

    if (!trace_body(record, &called, sizeof called, NULL, NULL) || !trace_points_called(p) ||
        called.number >= p->meta.function_count || called.tid == 0)
        return TRACE_BAD_RECORD;
    function = &p->functions[called.number];
    p->described += function->called.tid == 0;
    if (function->called.tid == 0)
        function->called = called;
    return TRACE_OK;
}

static enum trace_status take_points(struct trace_points *p, const struct trace_record *record)
{
    struct hr_meta_probe_points head;
    const uint8_t *tail;
    size_t tail_bytes;

    if (!trace_body(record, &head, sizeof head, &tail, &tail_bytes) ||
        head.first > p->meta.point_count || head.count > p->meta.point_count - head.first ||
        tail_bytes / sizeof(struct hr_probe_point) < head.count)
        return TRACE_BAD_RECORD;
    for (uint32_t i = 0; i < head.count; i++) {
        struct hr_probe_point point;

        memcpy(&point, tail + i * sizeof point, sizeof point);
        if (point.function >= p->meta.function_count)
            return TRACE_BAD_RECORD;
        p->points[head.first + i] = point;
    }
    return TRACE_OK;
}

enum trace_status trace_points_take(struct trace_points *p, const struct trace_record *record,
                                    int *error)
{
    if (record->type == HR_META_PROBES)
        return take_probes(p, record, error);
    if (!p->any)
        return *error != 0 ? TRACE_OK : TRACE_BAD_RECORD;
    if (record->type == HR_META_CALLED)
        return take_called(p, record);
    return record->type == HR_META_PROBE_FUNCTION ? take_function(p, record, error)
                                                  : take_points(p, record);
}

const char *trace_points_name(const struct trace_points *p, uint32_t function, char room[24])
{
    if (function < p->meta.function_count && p->functions[function].name != NULL)
        return p->functions[function].name;
    if (function < p->meta.function_count && p->functions[function].called.tid != 0)
        snprintf(room, 24, "0x%lx", p->functions[function].called.address);
    else
        snprintf(room, 24, "probe%u", function);
    return room;
}
