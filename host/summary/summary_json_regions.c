/* Makes JSON of the program's regions; the keys are a stable interface. */
#include "host/summary/summary_json_regions.h"
#include "host/base/json.h"

static json_t *figures(const struct trace_region_figures *f)
{
    json_t *object = json_object();
    double mean = f->passes != 0 ? (double)f->sum / (double)f->passes : 0.0;

    json_object_set_new(object, "sum", json_number(f->sum));
    json_object_set_new(object, "min", json_number(f->min));
    json_object_set_new(object, "max", json_number(f->max));
    json_object_set_new(object, "mean", json_real(mean));
    json_object_set_new(object, "p50", json_number(trace_region_percentile(f, 0.50)));
    json_object_set_new(object, "p99", json_number(trace_region_percentile(f, 0.99)));
    return object;
}

static json_t *region_events(const struct trace_info *info, const struct trace_region *region)
{
    json_t *array = json_array();
    char room[16];

    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++) {
        json_t *object;

        if (region->figures[i].records == 0)
            continue;
        object = figures(&region->figures[i]);
        json_object_set_new(object, "name", json_text(trace_info_event_name(info, i, room)));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *summary_json_regions(const struct trace_info *info)
{
    json_t *array = json_array();

    for (size_t i = 0; i < info->regions.count; i++) {
        const struct trace_region *region = &info->regions.all[i];

        json_array_append_new(array, json_pack("{s:o, s:o, s:i, s:o, s:o}", "name",
                                               json_text(region->name), "passes",
                                               json_number(trace_region_passes(region)), "threads",
                                               (int)region->threads, "ticks",
                                               figures(&region->figures[TRACE_REGION_TIME]),
                                               "events", region_events(info, region)));
    }
    return array;
}
