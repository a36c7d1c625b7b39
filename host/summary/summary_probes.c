/* Counts hits of probes, and says which points were never reached. */
#include "host/summary/summary_probes.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/json.h"
#include "host/base/text.h"
#include "host/summary/summary.h"
#include "host/summary/summary_sampling.h"

#define ROW SUMMARY_ROW

void summary_probes_free(struct summary_probes *p)
{
    free(p->seen);
    *p = (struct summary_probes){0};
}

static size_t seen_bytes(const struct trace_info *info)
{
    return info->points.meta.point_count / 8 + 1;
}

int summary_probes_hits(struct summary_probes *p, const struct trace_info *info,
                        const struct trace_hits *hits)
{
    if (p->seen == NULL)
        p->seen = calloc(seen_bytes(info), 1);
    if (p->seen == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < hits->count; i++) {
        const struct trace_hit *hit = &hits->hits[i];

        p->entered += (hit->what & HR_PROBE_ENTERED) != 0;
        p->returned += (hit->what & HR_PROBE_RETURNED) != 0;
        p->reached += hit->what == HR_PROBE_REACHED;
        if (hit->point < info->points.meta.point_count)
            p->seen[hit->point / 8] |= (uint8_t)(1u << hit->point % 8);
    }
    p->hits += hits->count;
    return 0;
}

void summary_probes_record(struct summary_probes *p, const struct trace_record *record)
{
    struct hr_rec_request request;

    if (record->type == HR_REC_WAIT)
        p->waits++;
    if (record->type != HR_REC_REQUEST || !trace_body(record, &request, sizeof request, NULL, NULL))
        return;
    p->begun += request.kind == HR_REQUEST_BEGIN;
    p->ended += request.kind == HR_REQUEST_END;
}

void summary_probes_merge(struct summary_probes *p, struct summary_probes *next,
                          const struct trace_info *info)
{
    p->hits += next->hits;
    p->entered += next->entered;
    p->returned += next->returned;
    p->reached += next->reached;
    p->begun += next->begun;
    p->ended += next->ended;
    p->waits += next->waits;
    if (p->seen == NULL) {
        p->seen = next->seen;
        next->seen = NULL;
    }
    for (size_t i = 0; next->seen != NULL && i < seen_bytes(info); i++)
        p->seen[i] |= next->seen[i];
}

static bool is_seen(const struct summary_probes *p, uint32_t point)
{
    return p->seen != NULL && (p->seen[point / 8] >> point % 8 & 1) != 0;
}

static uint32_t unseen_points(const struct summary_probes *p, const struct trace_info *info)
{
    uint32_t count = 0;

    if (trace_points_called(&info->points))
        return 0; /* they get their numbers when they are called */
    for (uint32_t i = 0; i < info->points.meta.point_count; i++)
        count += !is_seen(p, i);
    return count;
}

/* Functions and places of which no point was hit. */
static uint32_t unseen_functions(const struct summary_probes *p, const struct trace_info *info)
{
    uint32_t count = info->points.meta.function_count;
    uint8_t *seen;

    if (trace_points_called(&info->points))
        return 0;
    seen = calloc(count / 8 + 1u, 1);
    for (uint32_t i = 0; seen != NULL && i < info->points.meta.point_count; i++) {
        uint32_t function = info->points.points[i].function;

        if (function == TRACE_POINTS_NONE || !is_seen(p, i))
            continue;
        count -= !(seen[function / 8] >> function % 8 & 1);
        seen[function / 8] |= (uint8_t)(1u << function % 8);
    }
    for (uint32_t i = 0; seen != NULL && i < info->points.meta.function_count; i++)
        count -= trace_points_allocator(&info->points, i) && !(seen[i / 8] >> i % 8 & 1);
    free(seen);
    return count;
}

void summary_probes_print_allocations(FILE *out, const struct memory_totals *t)
{
    char count[TEXT_QUANTITY_BYTES], bytes[TEXT_QUANTITY_BYTES], peak[TEXT_QUANTITY_BYTES];
    char left[TEXT_QUANTITY_BYTES];

    fprintf(out, ROW "of %s; at most %s at a time, %s never freed; 'hr memory' says where\n",
            text_count(count, t->count), "allocations", text_bytes(bytes, t->bytes),
            text_bytes(peak, t->peak_bytes), text_bytes(left, t->left_bytes));
}

json_t *summary_probes_allocations(const struct trace_info *info, const struct memory_totals *t)
{
    if (!memory_heap_any(info))
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count", json_number(t->count), "bytes",
                     json_number(t->bytes), "freed", json_number(t->freed), "peak_bytes",
                     json_number(t->peak_bytes), "peak_count", json_number(t->peak), "left_bytes",
                     json_number(t->left_bytes), "left_count", json_number(t->left));
}

/* How many functions and places are probed, allocators apart. */
static uint32_t probed(const struct trace_info *info)
{
    uint32_t count = info->points.any ? trace_points_count(&info->points) : 0;

    for (uint32_t i = 0; info->points.any && i < info->points.meta.function_count; i++)
        count -= trace_points_allocator(&info->points, i);
    return count;
}

void summary_probes_print(FILE *out, const struct summary_probes *p, const struct trace_info *info)
{
    char number[TEXT_QUANTITY_BYTES], part[TEXT_QUANTITY_BYTES];
    uint32_t functions = probed(info);
    uint32_t never = functions != 0 ? unseen_functions(p, info) : 0;

    if (functions != 0)
        fprintf(out, ROW "of %u functions and places; 'hr latency' shows durations\n",
                text_count(number, p->hits), "hits of probes", functions);
    if (never != 0)
        fprintf(out, ROW "probed functions and places of which no point was hit\n",
                text_count(number, never), "  never reached");
    if (info->has_calls && info->calls.scans != 0)
        fprintf(out, ROW "between scans of the program's calls, mean; longest %s\n",
                text_time(number,
                          (double)trace_info_ns(info, info->calls.scan_ticks / info->calls.scans)),
                "scan period",
                text_time(part, (double)trace_info_ns(info, info->calls.longest_ticks)));
    if (info->has_calls && info->calls.missed != 0)
        fprintf(out, ROW "calls began and ended between two scans\n",
                text_count(number, info->calls.missed), "  not seen");
    if (p->begun + p->ended != 0)
        fprintf(out, ROW "%s ended; 'hr latency --by request' shows durations\n",
                text_count(number, p->begun), "requests", text_count(part, p->ended));
}

static uint32_t points_count(const struct trace_info *info)
{
    uint32_t count = 0;

    if (!trace_points_called(&info->points))
        return info->points.meta.point_count;
    for (uint32_t i = 0; i < info->points.meta.point_count; i++)
        count += info->points.points[i].function != TRACE_POINTS_NONE;
    return count;
}

json_t *summary_probes_json(const struct summary_probes *p, const struct trace_info *info)
{
    if (!info->points.any)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "functions",
                     json_number(trace_points_count(&info->points)), "points",
                     json_number(points_count(info)), "hits", json_number(p->hits), "entered",
                     json_number(p->entered), "returned", json_number(p->returned), "reached",
                     json_number(p->reached), "points_never_reached",
                     json_number(unseen_points(p, info)), "functions_never_reached",
                     json_number(unseen_functions(p, info)));
}

json_t *summary_probes_calls(const struct trace_info *info)
{
    const struct hr_rec_calls *calls = &info->calls;

    if (!info->has_calls)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "scans", json_number(calls->scans),
                     "scan_ns", json_number(trace_info_ns(info, calls->scan_ticks)), "longest_ns",
                     json_number(trace_info_ns(info, calls->longest_ticks)), "missed",
                     json_number(calls->missed), "beyond", json_number(calls->beyond), "strays",
                     json_number(calls->strays), "unnumbered", json_number(calls->unnumbered),
                     "refused", json_number(calls->refused));
}

json_t *summary_probes_requests(const struct summary_probes *p)
{
    if (p->begun + p->ended == 0)
        return json_null();
    return json_pack("{s:o, s:o}", "begun", json_number(p->begun), "ended", json_number(p->ended));
}
