/* What `hr memory` shows of precise accesses: reads them, and prints what is asked for. */
#pragma once

#include "host/memory/accesses/memory_profile.h"
#include "host/memory/lines/memory_lines.h"
#include "host/scan/reader.h"

enum memory_view_of {
    MEMORY_VIEW_OBJECTS = MEMORY_PROFILE_OBJECTS,
    MEMORY_VIEW_FUNCTIONS = MEMORY_PROFILE_FUNCTIONS,
    MEMORY_VIEW_LINES = MEMORY_PROFILE_LINES,
    MEMORY_VIEW_SHARING, /* cache lines */
};

struct memory_view_accesses {
    enum memory_view_of of;
    struct memory_accesses walk;
    struct memory_counts counts;
    struct memory_profile rows;
    struct memory_lines lines;
};

/* 0 or -errno; memory_view_free in any case. */
int memory_view_read(struct memory_view_accesses *view, struct reader *reader);

/* Returns the command's exit status. */
int memory_view_present(struct memory_view_accesses *view, struct reader *reader);
void memory_view_free(struct memory_view_accesses *view);
