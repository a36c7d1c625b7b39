/* The call frame information of the files that a trace's load maps name.  For host/unwind/unwind.c.
 *
 * Files are opened when an address in them is first asked for, in bounded memory; what cannot be
 * used has no rules.  Never prints.
 */
#ifndef HOST_UNWIND_UNWIND_FILES_H
#define HOST_UNWIND_UNWIND_FILES_H

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
    size_t map; /* the first one, by number */
    bool asked; /* it was opened, or could not be */
    struct symbols_file served;
    struct unwind_tables tables;
};

struct unwind_mapping {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    struct unwind_file *file; /* NULL: it shows none, or the kernel */
};

struct unwind_files {
    const struct trace_info *info; /* its maps may become more */
    struct symbols_options options;
    struct unwind_mapping *mappings; /* in the order of the trace; later ones win; owned */
    size_t mapping_count;
    struct unwind_file *list; /* owned */
    uint64_t bytes; /* of the tables that are loaded */
};

/* `info` must outlive the files: maps that come to it later are taken.  options NULL: the defaults.
 */
void unwind_files_open(struct unwind_files *files, const struct trace_info *info,
                       const struct symbols_options *options);
void unwind_files_close(struct unwind_files *files);

/* Takes the maps that came since the last call.  1 when there were any: what was known of addresses
 * may have become wrong.  0; -ENOMEM.
 */
int unwind_files_update(struct unwind_files *files);

enum unwind_found {
    UNWIND_NO_MAP, /* the address is in no map: it is no code */
    UNWIND_NO_RULE, /* code without call frame information */
    UNWIND_ENTRY, /* the same, where a program starts */
    UNWIND_RULE,
};

enum unwind_found unwind_files_find(struct unwind_files *files, uint64_t address,
                                    struct unwind_rule *rule);

#endif
