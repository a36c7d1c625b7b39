/* Gathers the files that a program read. */
#include "host/trace/trace_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"

void trace_files_free(struct trace_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->all[i].path);
    free(files->all);
    *files = (struct trace_files){.all = NULL};
}

enum trace_status trace_files_take(struct trace_files *files, const struct trace_record *record,
                                   int *error)
{
    struct trace_used_file used;
    const uint8_t *path;
    size_t path_bytes;

    if (!trace_body(record, &used.file, sizeof used.file, &path, &path_bytes) || path_bytes == 0)
        return TRACE_BAD_RECORD;
    if (files->count == TRACE_FILES_MAX || files->path_bytes + path_bytes > TRACE_FILES_BYTES_MAX) {
        files->ignored++;
        return TRACE_OK;
    }
    used.path = strndup((const char *)path, path_bytes);
    if (used.path == NULL || array_grow(&files->all, files->count, sizeof *files->all) != 0) {
        free(used.path);
        *error = -ENOMEM;
        return TRACE_OK;
    }
    files->path_bytes += path_bytes;
    files->all[files->count++] = used;
    return TRACE_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct trace_used_file *)a)->path,
                  ((const struct trace_used_file *)b)->path);
}

void trace_files_sort(struct trace_files *files)
{
    if (files->count != 0)
        qsort(files->all, files->count, sizeof *files->all, compare);
}
