/* A queue of notes: what the program's processes do and map is announced while they run. */
#include "guest/trace/trace_notes.h"

#include <string.h>

#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/memory/phys.h"
#include "guest/sample/python.h"
#include "guest/trace/trace.h"

#define NOTES_MAX 128u

static struct trace_note notes[NOTES_MAX];
static uint32_t added, taken; /* each written by one side only */
static uint32_t offered; /* to the walk over Python's frames */

bool trace_notes_any(void)
{
    return __atomic_load_n(&added, __ATOMIC_ACQUIRE) != taken;
}

struct trace_note *trace_notes_new(const char *what)
{
    struct trace_note *note;

    if (added - __atomic_load_n(&taken, __ATOMIC_ACQUIRE) == NOTES_MAX && run_state.started)
        trace_flush();
    if (added - __atomic_load_n(&taken, __ATOMIC_ACQUIRE) == NOTES_MAX) {
        log_notice("more than %u mappings: %s is not in the trace's load map", NOTES_MAX, what);
        return NULL;
    }
    note = &notes[added % NOTES_MAX]; /* now: others may have added theirs during the flush */
    *note = (struct trace_note){.time = TRACE_NO_TIME, .page = note->page};
    return note;
}

void trace_notes_set_path(struct trace_note *note, const char *path)
{
    size_t bytes = strnlen(path, PAGE_BYTES);
    uint64_t page = bytes > TRACE_SHORT_PATH && note->page == NULL ? phys_alloc(0) : 0;

    if (page)
        note->page = phys_pointer(page);
    if (note->page == NULL && bytes > TRACE_SHORT_PATH)
        bytes = TRACE_SHORT_PATH;
    memcpy(bytes > TRACE_SHORT_PATH ? note->page : note->short_path, path, bytes);
    note->path_bytes = (uint16_t)bytes;
}

void trace_notes_add(void)
{
    __atomic_store_n(&added, added + 1, __ATOMIC_RELEASE);
}

static const char *path_of(const struct trace_note *note)
{
    return note->path_bytes > TRACE_SHORT_PATH ? note->page : note->short_path;
}

/* Of more notes than the queue holds, the places of the first are those of others now. */
void trace_notes_offer(void)
{
    uint32_t end = __atomic_load_n(&added, __ATOMIC_ACQUIRE), i = offered;

    if (end - i > NOTES_MAX)
        i = end - NOTES_MAX;
    for (; i != end; i++) {
        const struct trace_note *note = &notes[i % NOTES_MAX];
        const struct hr_meta_map *map =
            note->type == HR_META_MAP ? &note->body.map : &note->body.process_map.map;

        if (note->type == HR_META_MAP || note->type == HR_REC_PROCESS_MAP)
            python_mapped(map->start, map->file_offset, path_of(note), note->path_bytes);
    }
    offered = end;
}

void trace_notes_write(struct trace_writer *w)
{
    while (trace_notes_any()) {
        static uint8_t tail[TRACE_BUILD_ID_MAX + PAGE_BYTES];
        const struct trace_note *note = &notes[taken % NOTES_MAX];
        uint32_t bytes = note->build_id_bytes;

        memcpy(tail, note->build_id, bytes);
        memcpy(tail + bytes, path_of(note), note->path_bytes);
        if (trace_writer_record(w, note->type, note->time, &note->body, note->body_bytes, tail,
                                bytes + note->path_bytes))
            return;
        __atomic_store_n(&taken, taken + 1, __ATOMIC_RELEASE);
    }
}
