/* Counts samples by map, and warns of files whose names are wanted. */
#include "host/scan/object_share.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/error.h"
#include "host/base/text.h"

#define VIEWS TRACE_INFO_MAPS_MAX /* where the samples of views are counted */
#define PLACES ((size_t)VIEWS + TRACE_SPACES_VIEWS_MAX)

void object_share_free(struct object_share *share)
{
    free(share->of_map);
    *share = (struct object_share){0};
}

static bool holds(const struct trace_map *map, uint64_t address)
{
    return address >= map->meta.start && address < map->meta.end;
}

static bool has_room(struct object_share *share)
{
    if (share->of_map == NULL)
        share->of_map = calloc(PLACES, sizeof *share->of_map);
    return share->of_map != NULL;
}

static inline void count(struct object_share *share, const struct trace_info *info, uint64_t ip,
                         uint64_t weight)
{
    uint32_t view = trace_spaces_view(&info->processes.spaces, ip);

    share->all += weight;
    if (view != UINT32_MAX) {
        share->of_map[VIEWS + view] += weight;
        return;
    }
    if (share->last >= info->map_count || !holds(&info->maps[share->last], ip))
        for (share->last = 0; share->last < info->map_count; share->last++)
            if (holds(&info->maps[share->last], ip))
                break;
    if (share->last < info->map_count)
        share->of_map[share->last] += weight;
}

void object_share_add(struct object_share *share, const struct trace_info *info,
                      const struct trace_samples *samples)
{
    if (!has_room(share))
        return;
    for (uint32_t n = 0; n < samples->count; n++)
        count(share, info, samples->slots[n].ip, trace_samples_weight(samples, n));
}

void object_share_count(struct object_share *share, const struct trace_info *info, uint64_t ip,
                        uint64_t weight)
{
    if (has_room(share))
        count(share, info, ip, weight);
}

void object_share_merge(struct object_share *share, const struct object_share *more)
{
    bool room = has_room(share);

    share->all += more->all;
    for (size_t i = 0; room && more->of_map != NULL && i < PLACES; i++)
        share->of_map[i] += more->of_map[i];
}

/* A file that the trace does not name, such as that of --program, matters. */
static bool matters(const struct object_share *share, const struct trace_info *info,
                    const char *file)
{
    const struct trace_spaces *spaces = &info->processes.spaces;
    uint64_t samples = 0;
    bool known = false;

    if (share->wanted != NULL && strcmp(share->wanted, text_base_name(file)) == 0)
        return true;
    for (size_t i = 0; i < info->map_count && share->of_map != NULL; i++)
        if (strcmp(text_base_name(info->maps[i].path), text_base_name(file)) == 0) {
            samples += share->of_map[i];
            known = true;
        }
    for (uint32_t i = 0; i < spaces->view_count && share->of_map != NULL; i++)
        if (strcmp(text_base_name(spaces->views[i].path), text_base_name(file)) == 0) {
            samples += share->of_map[VIEWS + i];
            known = true;
        }
    return !known || samples * 100 >= share->all;
}

/* Without a file copies of stacks end where they reach it, however few samples are in it. */
static bool breaks_stacks(const struct trace_info *info, const char *problem)
{
    return info->stacks.kind == HR_STACK_DWARF && strncmp(problem, "not found", 9) == 0;
}

void object_share_warn(const struct object_share *share, const struct trace_info *info,
                       const struct symbols *symbols, const char *path)
{
    const char *file, *problem;

    for (size_t i = 0; symbols != NULL && (problem = symbols_problem(symbols, i, &file)) != NULL;
         i++)
        if (matters(share, info, file) || breaks_stacks(info, problem))
            error_print("%s%s%s: %s", path != NULL ? path : "", path != NULL ? ": " : "", file,
                        problem);
}
