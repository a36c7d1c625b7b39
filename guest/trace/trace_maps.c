/* A queue of load maps: what the program maps to execute is announced while it runs. */
#include "guest/trace/trace_maps.h"

#include <string.h>

#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/memory/phys.h"
#include "guest/sample/python.h"
#include "guest/trace/trace.h"

#define MAPS_MAX 128u
#define BUILD_ID_MAX 64u

struct noted_map {
    struct hr_meta_map map;
    uint8_t build_id[BUILD_ID_MAX];
    char *path; /* a page, kept for the slot's next map */
};

static struct noted_map maps[MAPS_MAX];
static uint32_t added, taken; /* each written by one side only */
static uint32_t offered; /* to the walk over Python's frames */

bool trace_maps_any(void)
{
    return __atomic_load_n(&added, __ATOMIC_ACQUIRE) != taken;
}

/* Returns a slot to fill; NULL: there is none. */
static struct noted_map *slot_for(const char *path)
{
    struct noted_map *noted;

    if (added - __atomic_load_n(&taken, __ATOMIC_ACQUIRE) == MAPS_MAX && run_state.started)
        trace_flush();
    if (added - __atomic_load_n(&taken, __ATOMIC_ACQUIRE) == MAPS_MAX) {
        log_notice("more than %u mappings: %s is not in the trace's load map", MAPS_MAX, path);
        return NULL;
    }
    noted = &maps[added % MAPS_MAX]; /* now: others may have added theirs during the flush */
    if (noted->path == NULL) {
        uint64_t page = phys_alloc(0);

        noted->path = page ? phys_pointer(page) : NULL;
    }
    return noted->path != NULL ? noted : NULL;
}

void trace_map(uint64_t start, uint64_t end, uint64_t file_offset, uint32_t flags,
               const uint8_t *build_id, uint16_t build_id_bytes, const char *path)
{
    size_t path_bytes = strnlen(path, PAGE_BYTES);
    struct noted_map *noted = slot_for(path);

    if (noted == NULL)
        return;
    if (build_id == NULL || build_id_bytes > BUILD_ID_MAX)
        build_id_bytes = 0;
    noted->map = (struct hr_meta_map){.start = start,
                                      .end = end,
                                      .file_offset = file_offset,
                                      .flags = flags,
                                      .build_id_bytes = build_id_bytes,
                                      .path_bytes = (uint16_t)path_bytes};
    memcpy(noted->path, path, path_bytes);
    if (build_id_bytes)
        memcpy(noted->build_id, build_id, build_id_bytes);
    __atomic_store_n(&added, added + 1, __ATOMIC_RELEASE);
}

/* Of more maps than the queue holds, the slots of the first are those of others now. */
void trace_maps_offer(void)
{
    uint32_t end = __atomic_load_n(&added, __ATOMIC_ACQUIRE), i = offered;

    if (end - i > MAPS_MAX)
        i = end - MAPS_MAX;
    for (; i != end; i++) {
        const struct noted_map *noted = &maps[i % MAPS_MAX];

        python_mapped(noted->map.start, noted->map.file_offset, noted->path, noted->map.path_bytes);
    }
    offered = end;
}

void trace_maps_write(struct trace_writer *w)
{
    while (trace_maps_any()) {
        static uint8_t tail[BUILD_ID_MAX + PAGE_BYTES];
        const struct noted_map *noted = &maps[taken % MAPS_MAX];
        uint32_t bytes = noted->map.build_id_bytes, path_bytes = noted->map.path_bytes;

        memcpy(tail, noted->build_id, bytes);
        memcpy(tail + bytes, noted->path, path_bytes);
        if (trace_writer_record(w, HR_META_MAP, TRACE_NO_TIME, &noted->map, sizeof noted->map, tail,
                                bytes + path_bytes))
            return;
        __atomic_store_n(&taken, taken + 1, __ATOMIC_RELEASE);
    }
}
