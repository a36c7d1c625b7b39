/* Hands hits of probes to a visitor. */
#include "host/scan/trace_walk.h"

#include <errno.h>
#include <stdlib.h>

/* Drops the hits of a run that are not selected. */
static void cut_hits(const struct trace_walk *w, struct trace_hits *hits)
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
static void give_hits(struct trace_walk *w, const struct trace_hits *hits)
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
enum trace_status trace_walk_hits(struct trace_walk *w, const struct trace_record *record)
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
