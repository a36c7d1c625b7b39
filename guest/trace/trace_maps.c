/* Load maps: what the program maps to execute is announced while it runs. */
#include "guest/trace/trace_maps.h"

#include <string.h>

#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/memory/phys.h"
#include "guest/trace/trace.h"

#define HELD_MAX 32u /* a program that is loaded has a few segments, an interpreter's, a vDSO */

struct held_map { /* of a program that a thread loads: it counts when execve succeeds */
    const struct thread *thread; /* NULL: free */
    struct trace_maps_map map; /* its build_id and path are those below */
    uint8_t build_id[TRACE_BUILD_ID_MAX];
    char *path; /* a page, kept for the next map in this place */
};

static struct held_map held[HELD_MAX];

static uint16_t build_id_bytes(const struct trace_maps_map *map)
{
    return map->build_id != NULL && map->build_id_bytes <= TRACE_BUILD_ID_MAX ? map->build_id_bytes
                                                                              : 0;
}

void trace_maps_note(uint32_t pid, const struct trace_maps_map *map)
{
    struct trace_note *note = trace_notes_new(map->path);
    struct hr_meta_map *meta;

    if (note == NULL)
        return;
    if (pid) {
        note->type = HR_REC_PROCESS_MAP;
        note->time = note->body.process_map.time = clock_now(cpu_this());
        note->body.process_map.pid = pid;
        note->body_bytes = sizeof note->body.process_map;
        meta = &note->body.process_map.map;
    } else {
        note->type = HR_META_MAP;
        note->body_bytes = sizeof note->body.map;
        meta = &note->body.map;
    }
    trace_notes_set_path(note, map->path);
    note->build_id_bytes = (uint8_t)build_id_bytes(map);
    if (note->build_id_bytes)
        memcpy(note->build_id, map->build_id, note->build_id_bytes);
    *meta = (struct hr_meta_map){.start = map->start,
                                 .end = map->end,
                                 .file_offset = map->file_offset,
                                 .flags = map->flags,
                                 .build_id_bytes = note->build_id_bytes,
                                 .path_bytes = note->path_bytes};
    trace_notes_add();
}

/* Returns a place for a map of the thread; NULL: there is none. */
static struct held_map *free_place(void)
{
    for (uint32_t i = 0; i < HELD_MAX; i++) {
        uint64_t page;

        if (held[i].thread != NULL)
            continue;
        page = held[i].path == NULL ? phys_alloc(0) : 0;
        if (page)
            held[i].path = phys_pointer(page);
        return held[i].path != NULL ? &held[i] : NULL;
    }
    return NULL;
}

static void hold_map(const struct trace_maps_map *map)
{
    struct held_map *place = free_place();
    size_t bytes = strnlen(map->path, PAGE_BYTES - 1);

    if (place == NULL) {
        log_notice("too many programs are loaded at once: %s is not in the trace's load map",
                   map->path);
        return;
    }
    place->thread = cpu_this()->thread;
    place->map = *map;
    place->map.build_id_bytes = build_id_bytes(map);
    place->map.build_id = place->build_id;
    if (place->map.build_id_bytes)
        memcpy(place->build_id, map->build_id, place->map.build_id_bytes);
    place->map.path = place->path;
    memcpy(place->path, map->path, bytes);
    place->path[bytes] = 0;
}

void trace_map(uint64_t start, uint64_t end, uint64_t file_offset, uint32_t flags,
               const uint8_t *build_id, uint16_t build_id_size, const char *path)
{
    const struct trace_maps_map map = {start,         end,      file_offset, flags,
                                       build_id_size, build_id, path};

    if (run_state.started)
        hold_map(&map);
    else
        trace_maps_note(0, &map);
}

void trace_map_forget(void)
{
    for (uint32_t i = 0; i < HELD_MAX; i++)
        if (held[i].thread == cpu_this()->thread)
            held[i].thread = NULL;
}

void trace_maps_loaded(uint32_t pid)
{
    for (uint32_t i = 0; i < HELD_MAX; i++) {
        if (held[i].thread == NULL || held[i].thread != cpu_this()->thread)
            continue;
        trace_maps_note(pid, &held[i].map);
        held[i].thread = NULL;
    }
}
