/* Reads source files and splits them into lines. */
#include "host/annotate/annotate_source.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (4u << 20)

void annotate_source_init(struct annotate_source *source, const char *folder)
{
    *source = (struct annotate_source){.folder = folder, .recorded.tv_sec = INT64_MAX};
}

void annotate_source_free(struct annotate_source *source)
{
    for (size_t i = 0; i < source->file_count; i++) {
        free(source->files[i].text);
        free(source->files[i].lines);
    }
    source->file_count = 0;
}

/* A regular file of a bearable size; the path is a stranger's word. */
static char *read_file(const char *path, size_t *bytes, struct timespec *written)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    char *text = NULL;
    ssize_t got = -1;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= FILE_BYTES_MAX &&
        (text = malloc((size_t)status.st_size + 1)) != NULL)
        got = read(fd, text, (size_t)status.st_size);
    close(fd);
    if (got < 0) {
        free(text);
        return NULL;
    }
    text[got] = 0;
    *bytes = (size_t)got;
    *written = status.st_mtim;
    return text;
}

static bool is_after(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* In the folder given a file may lie under any end of its recorded path. */
static char *find_below(const char *folder, const char *name, size_t *bytes)
{
    char path[PATH_MAX], *text = NULL;
    struct timespec written;
    const char *end = name;

    do {
        while (*end == '/')
            end++;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, end) < sizeof path)
            text = read_file(path, bytes, &written);
    } while (text == NULL && (end = strchr(end, '/')) != NULL);
    return text;
}

static char *find_file(const struct annotate_source *source, const char *name, size_t *bytes,
                       bool *newer)
{
    char *text = source->folder != NULL ? find_below(source->folder, name, bytes) : NULL;
    struct timespec written;

    if (text != NULL)
        return text;
    text = read_file(name, bytes, &written);
    *newer = text != NULL && is_after(&written, &source->recorded);
    return text;
}

static void split(struct annotate_source_file *file, size_t bytes)
{
    size_t count = 1;

    for (size_t i = 0; i < bytes; i++)
        count += file->text[i] == '\n';
    file->lines = malloc(count * sizeof file->lines[0]);
    if (file->lines == NULL)
        return;
    file->lines[file->line_count++] = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (file->text[i] != '\n')
            continue;
        file->text[i] = 0;
        if (i > 0 && file->text[i - 1] == '\r')
            file->text[i - 1] = 0;
        if (i + 1 < bytes)
            file->lines[file->line_count++] = i + 1;
    }
}

static struct annotate_source_file *file_of(struct annotate_source *source, const char *name)
{
    struct annotate_source_file *file;
    size_t bytes = 0;

    for (size_t i = 0; i < source->file_count; i++)
        if (strcmp(source->files[i].name, name) == 0)
            return &source->files[i];
    if (source->file_count == ANNOTATE_SOURCE_FILES_MAX)
        return NULL;
    file = &source->files[source->file_count++];
    *file = (struct annotate_source_file){.name = name};
    file->text = find_file(source, name, &bytes, &file->newer);
    if (file->text != NULL)
        split(file, bytes);
    return file;
}

const char *annotate_source_line(struct annotate_source *source, const char *file, uint32_t line)
{
    const struct annotate_source_file *found = file_of(source, file);

    return found != NULL && line >= 1 && line <= found->line_count
               ? found->text + found->lines[line - 1]
               : NULL;
}
