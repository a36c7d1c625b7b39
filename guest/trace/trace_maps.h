/* The load maps' side of guest/trace/trace_process.h.  Context: thread, with the kernel lock. */
#pragma once

#include "guest/trace/trace_notes.h"

struct trace_maps_map { /* executable memory that shows a file */
    uint64_t start, end;
    uint64_t file_offset;
    uint32_t flags; /* HR_MAP_* */
    uint16_t build_id_bytes;
    const uint8_t *build_id; /* NULL: none */
    const char *path;
};

/* Notes a map of a process from now on; pid 0: as HR_META_MAP, which has no time.  May wait. */
void trace_maps_note(uint32_t pid, const struct trace_maps_map *map);

/* Notes what this thread's execve has mapped, for the process, and forgets it.  May wait. */
void trace_maps_loaded(uint32_t pid);
