/* A queue of notes: what the program's processes do and map is announced while they run. */
#include "guest/trace/trace_notes.h"

#include <string.h>

#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/memory/phys.h"
#include "guest/trace/trace.h"

#define NOTES_MAX 128u
#define NOTES_LOOKED 112u /* others add notes while one is looked at */

static struct trace_note notes[NOTES_MAX];
static uint32_t added, taken; /* each written by one side only */

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

const char *trace_notes_path(const struct trace_note *note)
{
    return note->path_bytes > TRACE_SHORT_PATH ? note->page : note->short_path;
}

bool trace_notes_new_since(uint32_t next)
{
    return __atomic_load_n(&added, __ATOMIC_ACQUIRE) != next;
}

const struct trace_note *trace_notes_look(uint32_t *next)
{
    uint32_t end = __atomic_load_n(&added, __ATOMIC_ACQUIRE);

    if (end - *next > NOTES_LOOKED)
        *next = end - NOTES_LOOKED;
    return *next != end ? &notes[(*next)++ % NOTES_MAX] : NULL;
}

void trace_notes_write(struct trace_writer *w)
{
    while (trace_notes_any()) {
        static uint8_t tail[TRACE_BUILD_ID_MAX + PAGE_BYTES];
        const struct trace_note *note = &notes[taken % NOTES_MAX];
        uint32_t bytes = note->build_id_bytes;

        memcpy(tail, note->build_id, bytes);
        memcpy(tail + bytes, trace_notes_path(note), note->path_bytes);
        if (trace_writer_record(w, note->type, note->time, &note->body, note->body_bytes, tail,
                                bytes + note->path_bytes))
            return;
        __atomic_store_n(&taken, taken + 1, __ATOMIC_RELEASE);
    }
}
