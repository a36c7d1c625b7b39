/* Lines of source files, found where debug information says or in a folder given.  For hr annotate.
 *
 * Files are read when first asked for and bounded in size and number.  Paths and texts are hostile
 * input: escape lines before they reach a terminal.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define ANNOTATE_SOURCE_FILES_MAX 64u

struct annotate_source_file {
    const char *name; /* as debug information has it; not owned */
    char *text; /* lines end in NUL; owned; NULL: it cannot be read */
    size_t *lines; /* where each begins; owned */
    size_t line_count;
    bool newer; /* written after source.recorded, and not in source.folder */
};

struct annotate_source {
    const char *folder; /* searched first; NULL: none */
    struct timespec recorded; /* when the trace was written; INT64_MAX seconds: unknown */
    struct annotate_source_file files[ANNOTATE_SOURCE_FILES_MAX];
    size_t file_count;
};

void annotate_source_init(struct annotate_source *source, const char *folder);
void annotate_source_free(struct annotate_source *source);

/* A line, counted from 1, or NULL.  `file` must live as long as the source. */
const char *annotate_source_line(struct annotate_source *source, const char *file, uint32_t line);
