/* Lists a directory of the host: names first, and then what they are, an answer at a time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/serve/serve_task.h"

#define NAMES_MAX SERVE_NODES_MAX
#define TEXT_BYTES_FIRST 4096u

void serve_names_free(struct serve_names *names)
{
    if (names == NULL)
        return;
    free(names->text);
    free(names->starts);
    free(names);
}

static int add_name(struct serve_names *names, size_t *room, const char *name)
{
    size_t bytes = strlen(name) + 1;

    if (names->count == NAMES_MAX)
        return -ENOMEM;
    if (names->text_bytes + bytes > *room) {
        size_t grown_bytes = 2 * *room + TEXT_BYTES_FIRST;
        char *grown = realloc(names->text, grown_bytes);

        if (grown == NULL)
            return -ENOMEM;
        names->text = grown;
        *room = grown_bytes;
    }
    if (array_grow(&names->starts, names->count, sizeof *names->starts) != 0)
        return -ENOMEM;
    names->starts[names->count++] = (uint32_t)names->text_bytes;
    memcpy(names->text + names->text_bytes, name, bytes);
    names->text_bytes += bytes;
    return 0;
}

static bool is_wanted(const struct dirent *entry, bool in_root)
{
    bool special = entry->d_type == DT_FIFO || entry->d_type == DT_SOCK ||
                   entry->d_type == DT_CHR || entry->d_type == DT_BLK;

    return !special && strlen(entry->d_name) <= SERVE_NODES_NAME_MAX &&
           strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
           !serve_task_is_guests(in_root, entry->d_name);
}

static int compare(const void *a, const void *b, void *text)
{
    return strcmp((const char *)text + *(const uint32_t *)a,
                  (const char *)text + *(const uint32_t *)b);
}

static int read_names(DIR *directory, bool in_root, struct serve_names *names)
{
    const struct dirent *entry;
    size_t room = 0;
    int error = 0;

    while (error == 0 && (errno = 0, entry = readdir(directory)) != NULL)
        if (is_wanted(entry, in_root))
            error = add_name(names, &room, entry->d_name);
    if (error == 0 && errno != 0)
        error = -errno;
    if (error == 0 && names->count != 0)
        qsort_r(names->starts, names->count, sizeof *names->starts, compare, names->text);
    return error;
}

/* `place`: the directory, without access. */
static int take_names(struct serve_task *task, int place)
{
    int fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    int error = -errno;

    if (directory == NULL) {
        if (fd >= 0)
            close(fd);
        return error;
    }
    task->names = calloc(1, sizeof *task->names);
    error = task->names != NULL ? read_names(directory, strcmp(task->path, ".") == 0, task->names)
                                : -ENOMEM;
    closedir(directory);
    if (error != 0) {
        serve_names_free(task->names);
        task->names = NULL;
    }
    return error;
}

/* Adds what the next name stands for.  A name that has gone, or is none that is served, is left
 * out.  Returns false when the answer is full. */
static bool add_entry(struct serve_task *task, int directory, size_t *bytes)
{
    const struct serve_names *names = task->names;
    struct serve_entry *entry = &task->entries[task->entry_count];
    char target[RUN_SERVE_TARGET_MAX + 1];
    size_t more;

    entry->name = names->text + names->starts[task->position];
    if (serve_examine(directory, task->expected.device, entry->name, &entry->file, target,
                      &entry->target_bytes) == 0) {
        more = SERVE_NODE_BYTES(strlen(entry->name), entry->target_bytes);
        if (*bytes + more > RUN_SERVE_BYTES_MAX)
            return false;
        *bytes += more;
        entry->target = (uint32_t)task->used;
        memcpy(task->bytes + task->used, target, entry->target_bytes);
        task->used += entry->target_bytes;
        task->entry_count++;
    }
    task->position++;
    return true;
}

int serve_list(struct serve_task *task)
{
    int directory = serve_open(task->root, task->path, &task->expected);
    size_t bytes = 0;
    int error = directory < 0 ? directory : 0;

    if (error == 0 && task->names == NULL)
        error = take_names(task, directory);
    if (error == 0 && task->names != NULL) {
        while (task->position < task->names->count && task->entry_count < SERVE_ENTRIES_MAX &&
               add_entry(task, directory, &bytes))
            continue;
        if (task->position >= task->names->count)
            task->position = 0;
    }
    if (directory >= 0)
        close(directory);
    return error;
}
