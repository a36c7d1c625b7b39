/* Walks over a trace for an exporter, and counts what it hands over. */
#include "host/export/common/export.h"

#include <errno.h>
#include <string.h>

#include "host/base/array.h"

static void count_samples(struct export *e, const struct trace_samples *samples)
{
    e->samples += samples->count;
    object_share_add(&e->share, &e->info, samples);
}

static int forward_samples(void *context, const struct trace_samples *samples)
{
    struct export *e = context;

    count_samples(e, samples);
    return e->visitor->samples(e->visitor->context, samples);
}

static int forward_waits(void *context, const struct trace_samples *samples)
{
    struct export *e = context;

    count_samples(e, samples);
    return e->visitor->waits(e->visitor->context, samples);
}

static int forward_allocations(void *context, const struct trace_hits *hits)
{
    struct export *e = context;

    return e->visitor->allocations(e->visitor->context, hits);
}

static int forward_called(void *context, const struct trace_samples *samples)
{
    struct export *e = context;

    return e->visitor->called(e->visitor->context, samples);
}

static int forward_record(void *context, const struct trace_chunk *chunk,
                          const struct trace_record *record)
{
    struct export *e = context;

    return e->visitor->record(e->visitor->context, chunk, record);
}

static int forward_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct export *e = context;

    return e->visitor->chunk(e->visitor->context, chunk, continues);
}

void export_count(struct export *e, uint64_t ip, uint64_t samples)
{
    e->samples += samples;
    object_share_count(&e->share, &e->info, ip, samples);
}

static void *forward_join(void *context, struct trace_scan *scan)
{
    struct export *e = context;

    return e->visitor->digest->join(e->visitor->context, scan);
}

static int forward_take(void *context, void *digest)
{
    struct export *e = context;

    return e->visitor->digest->take(e->visitor->context, digest);
}

size_t export_map(const struct trace_info *info, uint64_t address)
{
    for (size_t i = 0; i < info->map_count; i++)
        if (address >= info->maps[i].meta.start && address < info->maps[i].meta.end)
            return i + 1;
    return 0;
}

int export_common_maps(struct export *e)
{
    const struct trace_spaces *spaces = &e->info.processes.spaces;

    for (uint32_t i = 0; i < spaces->view_count; i++) {
        const struct hr_meta_map *meta = &spaces->views[i].meta;
        struct trace_map map;

        trace_info_view(&e->info, i, &map);
        map.meta.end = map.meta.start + (meta->end - meta->start);
        if (spaces->views[i].plain)
            continue;
        if (array_grow(&e->info.maps, e->info.map_count, sizeof map) != 0)
            return -ENOMEM;
        map.path = strdup(map.path);
        if (map.path == NULL)
            return -ENOMEM;
        e->info.maps[e->info.map_count++] = map;
    }
    return 0;
}

int export_walk(struct export *e, const struct trace_visitor *visitor)
{
    struct trace_digest digest = {.join = forward_join, .take = forward_take};
    const struct trace_visitor forward = {
        .context = e,
        .stacks = visitor->stacks,
        .exact = visitor->exact,
        .names = visitor->names,
        .accesses = visitor->accesses,
        .own_addresses = visitor->own_addresses,
        .chunk = visitor->chunk != NULL ? forward_chunk : NULL,
        .samples = visitor->samples != NULL ? forward_samples : NULL,
        .waits = visitor->waits != NULL ? forward_waits : NULL,
        .allocations = visitor->allocations != NULL ? forward_allocations : NULL,
        .called = visitor->called != NULL ? forward_called : NULL,
        .record = visitor->record != NULL ? forward_record : NULL,
        .digest = visitor->digest != NULL ? &digest : NULL,
    };

    if (visitor->digest != NULL) {
        digest.visitor = visitor->digest->visitor;
        digest.leave = visitor->digest->leave;
    }
    e->visitor = visitor;
    return trace_scan_run(&e->scan, &forward);
}
