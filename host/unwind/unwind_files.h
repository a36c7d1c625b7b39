/* The call frame information of the files that a trace's load maps name.  For host/unwind/unwind.c.
 *
 * Files are opened at the first query for an address in them, in bounded memory; a file that cannot
 * be used has no rules.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/object/symbols_file.h"
#include "host/trace/trace_info.h"
#include "host/unwind/unwind_rule.h"
#include "host/unwind/unwind_tables.h"

struct unwind_file { /* a path that at least one map names */
    struct unwind_file *next;
    char *path; /* as recorded; owned */
    struct trace_map map; /* the first such map; its path is that above */
    bool asked; /* opening was tried */
    struct symbols_file served;
    struct unwind_tables tables;
};

struct unwind_mapping {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    struct unwind_file *file; /* NULL: no file, or the kernel */
};

struct unwind_files {
    const struct trace_info *info; /* its list of maps may grow */
    struct symbols_options options;
    struct unwind_mapping *mappings; /* in the order of the trace; later ones win; owned */
    size_t mapping_count;
    size_t map_count; /* of the trace's maps, those that were taken */
    uint32_t view_count; /* likewise of its views */
    struct unwind_file *list; /* owned */
    uint64_t bytes; /* of the loaded tables */
};

/* `info` must outlive the files; unwind_files_update takes maps that are added to it later.
 * options may be NULL for the defaults. */
void unwind_files_open(struct unwind_files *files, const struct trace_info *info,
                       const struct symbols_options *options);
void unwind_files_close(struct unwind_files *files);

/* Takes the maps that were added since the last call.  Returns 1 if there were any, which may
 * invalidate cached rules; 0; or -ENOMEM. */
int unwind_files_update(struct unwind_files *files);

enum unwind_found {
    UNWIND_NO_MAP, /* the address is in no map, so it is not code */
    UNWIND_NO_RULE, /* code without call frame information */
    UNWIND_ENTRY, /* as UNWIND_NO_RULE, at the entry of a program */
    UNWIND_RULE,
};

enum unwind_found unwind_files_find(struct unwind_files *files, uint64_t address,
                                    struct unwind_rule *rule);
