/* Keeps the address spaces of processes, and the files that they show. */
#include "host/trace/trace_spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define INDEX_BITS 16u /* more than twice the views */
#define NONE UINT32_MAX

static void release_ranges(struct trace_spaces *s, struct trace_space_ranges *ranges)
{
    if (ranges == NULL || --ranges->users != 0)
        return;
    s->range_count -= ranges->map.count;
    trace_ranges_free(&ranges->map);
    free(ranges);
}

void trace_spaces_free(struct trace_spaces *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        release_ranges(s, s->all[i].ranges);
    for (uint32_t i = 0; i < s->view_count; i++)
        free(s->views[i].path);
    free(s->all);
    free(s->views);
    free(s->index);
    *s = (struct trace_spaces){0};
}

int trace_spaces_add(struct trace_spaces *s, uint64_t time, uint32_t like, uint32_t *number)
{
    struct trace_space space = {.time = time, .next = NONE};

    if (s->count == TRACE_SPACES_MAX)
        return -ENOSPC;
    if (array_grow(&s->all, s->count, sizeof s->all[0]) != 0)
        return -ENOMEM;
    if (like != NONE) {
        space.first = s->all[like].first;
        space.ranges = s->all[like].ranges;
    }
    if (space.ranges != NULL)
        space.ranges->users++;
    *number = s->count;
    s->all[s->count++] = space;
    return 0;
}

static bool view_is(const struct trace_view *view, const struct hr_meta_map *map,
                    const uint8_t *build_id, const char *path, size_t path_bytes)
{
    return view->meta.file_offset == map->file_offset &&
           view->meta.build_id_bytes == map->build_id_bytes &&
           memcmp(view->build_id, build_id, map->build_id_bytes) == 0 &&
           strncmp(view->path, path, path_bytes) == 0 && view->path[path_bytes] == 0;
}

static int new_view(struct trace_spaces *s, uint32_t *place, const struct hr_meta_map *map,
                    const uint8_t *build_id, const char *path, size_t path_bytes)
{
    struct trace_view view = {.meta = *map};

    if (s->view_count == TRACE_SPACES_VIEWS_MAX)
        return -ENOSPC;
    if (array_grow(&s->views, s->view_count, sizeof s->views[0]) != 0)
        return -ENOMEM;
    view.path = strndup(path, path_bytes);
    if (view.path == NULL)
        return -ENOMEM;
    memcpy(view.build_id, build_id, map->build_id_bytes);
    s->views[s->view_count++] = view;
    *place = s->view_count;
    return 0;
}

/* Finds the view of a map, or makes it. */
static int find_view(struct trace_spaces *s, const struct hr_meta_map *map, const uint8_t *build_id,
                     const char *path, size_t path_bytes, uint32_t *number)
{
    uint64_t hash =
        hash_bytes(hash_bytes(HASH_BYTES_START, path, path_bytes), build_id, map->build_id_bytes);
    uint32_t i;
    int error;

    if (s->index == NULL)
        s->index = calloc(1u << INDEX_BITS, sizeof s->index[0]);
    if (s->index == NULL)
        return -ENOMEM;
    for (i = hash_place(hash_add(hash, map->file_offset), INDEX_BITS); s->index[i] != 0;
         i = (i + 1) & ((1u << INDEX_BITS) - 1))
        if (view_is(&s->views[s->index[i] - 1], map, build_id, path, path_bytes))
            break;
    error = s->index[i] == 0 ? new_view(s, &s->index[i], map, build_id, path, path_bytes) : 0;
    *number = s->index[i] - 1;
    return error;
}

/* The first process's map shows a view where it is, until another map is put upon it. */
static void settle_plain(struct trace_spaces *s, const struct hr_meta_map *map, uint32_t view)
{
    for (uint32_t i = 0; i < s->view_count; i++)
        if (s->views[i].meta.start < map->end && map->start < s->views[i].meta.end)
            s->views[i].plain = false;
    s->views[view].plain =
        s->views[view].meta.start == map->start && s->views[view].meta.end == map->end;
}

static uint64_t common_start(const struct trace_spaces *s, uint32_t number,
                             const struct hr_meta_map *map)
{
    const struct trace_view *view = &s->views[number];

    return view->plain && map->end - map->start <= view->meta.end - view->meta.start
               ? view->meta.start
               : trace_spaces_view_start(s, number);
}

/* Gives a space ranges of its own. */
static int own_ranges(struct trace_spaces *s, struct trace_space *space)
{
    struct trace_space_ranges *old = space->ranges, *ranges;

    if (old != NULL && old->users == 1)
        return 0;
    ranges = calloc(1, sizeof *ranges);
    if (ranges == NULL)
        return -ENOMEM;
    if (old != NULL && old->map.count != 0) {
        ranges->map.ranges = malloc(old->map.count * sizeof old->map.ranges[0]);
        if (ranges->map.ranges == NULL) {
            free(ranges);
            return -ENOMEM;
        }
        memcpy(ranges->map.ranges, old->map.ranges, old->map.count * sizeof old->map.ranges[0]);
        ranges->map.count = ranges->map.capacity = old->map.count;
        ranges->moved = old->moved;
    }
    ranges->users = 1;
    s->range_count += ranges->map.count;
    if (old != NULL)
        release_ranges(s, old);
    space->ranges = ranges;
    return 0;
}

int trace_spaces_map(struct trace_spaces *s, uint32_t space, const struct hr_meta_map *map,
                     const uint8_t *build_id, const char *path, size_t path_bytes, bool first)
{
    struct trace_space *where = &s->all[space];
    size_t shared = where->ranges != NULL ? where->ranges->map.count : 0, before;
    uint64_t start;
    uint32_t view;
    int error;

    if ((map->flags & HR_MAP_KERNEL) != 0)
        return 0; /* everybody's */
    if (s->range_count + shared + 2 > TRACE_SPACES_RANGES_MAX)
        return -ENOSPC;
    error = find_view(s, map, build_id, path, path_bytes, &view);
    if (error == 0)
        error = own_ranges(s, where);
    if (error != 0)
        return error;
    if (first)
        settle_plain(s, map, view);
    start = first ? map->start : common_start(s, view, map);
    before = where->ranges->map.count;
    error = trace_ranges_add(&where->ranges->map, &(struct trace_range){.start = map->start,
                                                                        .end = map->end,
                                                                        .file_offset = start,
                                                                        .object = view});
    where->ranges->moved |= start != map->start;
    s->range_count += where->ranges->map.count - before;
    return error;
}

uint64_t trace_spaces_common(const struct trace_spaces *s, uint32_t space, uint64_t address)
{
    const struct trace_space *at = &s->all[space];
    const struct trace_range *range;

    if (address >> TRACE_SPACES_TAG_SHIFT != 0)
        return address;
    range = at->ranges != NULL ? trace_ranges_find(&at->ranges->map, address) : NULL;
    if (range != NULL)
        return range->file_offset + (address - range->start);
    return at->first ? address : address | TRACE_SPACES_TAGS;
}

bool trace_spaces_shows(const struct trace_spaces *s, uint32_t space, uint64_t address)
{
    const struct trace_space_ranges *ranges = s->all[space].ranges;

    return ranges != NULL && trace_ranges_find(&ranges->map, address) != NULL;
}
