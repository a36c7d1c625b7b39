/* What the program's processes do and map, on its way into META chunks.  The kernel lock's holder
 * adds notes; service context takes them. */
#pragma once

#include <stdbool.h>

#include "lib/trace/trace_writer.h"

#define TRACE_BUILD_ID_MAX 64u
#define TRACE_SHORT_PATH 96u

struct trace_note {
    uint8_t type; /* HR_META_MAP, _THREAD_STACK or one of HR_REC_PROCESS, _THREAD, _PROCESS_MAP */
    uint8_t build_id_bytes;
    uint16_t body_bytes;
    uint16_t path_bytes;
    uint64_t time; /* TRACE_NO_TIME: none */
    union {
        struct hr_meta_map map;
        struct hr_rec_process process;
        struct hr_rec_thread thread;
        struct hr_meta_thread_stack thread_stack;
        struct hr_rec_process_map process_map;
    } body;
    uint8_t build_id[TRACE_BUILD_ID_MAX]; /* of a map */
    char short_path[TRACE_SHORT_PATH];
    char *page; /* for a longer path; kept for the next note in this place */
};

/* Returns a note to fill; NULL: there is none, which it logs with
 * `what`. May wait.  trace_notes_add hands it over; nothing may wait in between. */
struct trace_note *trace_notes_new(const char *what);
void trace_notes_add(void);

/* Gives a note its path, or its beginning if memory for a long one cannot be had. */
void trace_notes_set_path(struct trace_note *note, const char *path);

/* For a reader that looks at all notes: the one with the number *next, which counts on, or NULL. Of
 * more notes than the queue keeps it misses the first.  Context: any, but one at a time. */
const struct trace_note *trace_notes_look(uint32_t *next);
bool trace_notes_new_since(uint32_t next); /* there is one to look at */
const char *trace_notes_path(const struct trace_note *note); /* path_bytes, without NUL */

bool trace_notes_any(void); /* notes wait to be written */

/* Adds a record for each note that waits to an open META chunk, as many as fit. */
void trace_notes_write(struct trace_writer *w);
