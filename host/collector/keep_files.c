/* Receives files from the guest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/text.h"
#include "host/collector/keep_files.h"

#define PATH_SHOWN_BYTES 1024

int keep_files_open(struct keep_files *k, const char *directory, uint64_t memory_bytes)
{
    *k = (struct keep_files){.directory = directory, .store = KEEP_STORE_CLOSED};
    if (directory == NULL)
        return 0;
    return keep_store_open(&k->store, directory, memory_bytes * KEEP_FILES_MEMORIES);
}

void keep_files_close(struct keep_files *k)
{
    keep_store_close(&k->store);
    for (size_t i = 0; i < k->missing_count; i++)
        free(k->missing[i]);
    free(k->missing);
    k->missing = NULL;
    k->missing_count = 0;
}

static int add_missing(struct keep_files *k, const char *path, size_t bytes)
{
    if (bytes == 0 || bytes >= PATH_MAX || path[0] != '/' || memchr(path, 0, bytes) != NULL)
        return -EINVAL;
    if (k->missing_count == KEEP_FILES_MISSING_MAX) {
        k->missing_left_out++;
        return 0;
    }
    if (array_grow(&k->missing, k->missing_count, sizeof *k->missing) != 0)
        return -ENOMEM;
    k->missing[k->missing_count] = strndup(path, bytes);
    if (k->missing[k->missing_count] == NULL)
        return -ENOMEM;
    k->missing_count++;
    return 0;
}

static int handle_file(struct keep_files *k, const struct run_file_message *m, const char *bytes)
{
    const struct keep_attributes attributes = {.mode = m->mode, .modified = m->modified};
    int result;

    switch (m->type) {
    case RUN_FILE_DATA:
        return keep_store_write(&k->store, m->id, m->offset, bytes, m->bytes);
    case RUN_FILE_NAME:
        result = keep_store_name(&k->store, m->id, m->offset, bytes, m->bytes, &attributes);
        k->files += result == 0;
        return result;
    case RUN_FILE_DIRECTORY:
        return keep_store_directory(&k->store, bytes, m->bytes, &attributes);
    default:
        if (m->offset > m->bytes)
            return -EINVAL;
        return keep_store_link(&k->store, bytes, m->offset, bytes + m->offset, m->bytes - m->offset,
                               &attributes);
    }
}

static int handle(struct keep_files *k, const struct run_file_message *m, const char *bytes)
{
    switch (m->type) {
    case RUN_FILE_DATA:
    case RUN_FILE_NAME:
    case RUN_FILE_DIRECTORY:
    case RUN_FILE_LINK:
        return k->directory != NULL && k->error == 0 ? handle_file(k, m, bytes) : 0;
    case RUN_FILE_MISSING:
        return add_missing(k, bytes, m->bytes);
    case RUN_FILE_END:
        k->ended = true;
        keep_store_drop_unnamed(&k->store);
        k->missing_left_out += m->offset;
        return 0;
    default: /* removed paths, and unknown types of a newer guest, which are optional */
        return 0;
    }
}

static void take_message(struct keep_files *k, const struct run_file_message *m, const char *bytes)
{
    int result = k->ended ? -EINVAL : handle(k, m, bytes);

    switch (result) {
    case 0:
        break;
    case -EINVAL:
        k->bad = k->ended ? "more after the end" : "a name that is no path";
        break;
    case -ELOOP:
    case -ENOTDIR:
        k->bad = "a path through a symbolic link or a file";
        break;
    case -EISDIR:
    case -EEXIST:
    case -ENOTEMPTY:
        k->bad = "a file where a directory is";
        break;
    case -E2BIG:
        k->bad = "more than any program could have written";
        break;
    default:
        k->error = -result;
        break;
    }
}

void keep_files_take(struct keep_files *k, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;

    while (count > 0 && k->bad == NULL) {
        struct run_file_message m;
        size_t wanted = sizeof m;
        size_t now;

        if (k->used >= sizeof m) {
            memcpy(&m, k->buffer, sizeof m);
            wanted += m.bytes;
        }
        now = wanted - k->used < count ? wanted - k->used : count;
        memcpy(k->buffer + k->used, from, now);
        k->used += now;
        from += now;
        count -= now;
        if (k->used < sizeof m)
            return;
        memcpy(&m, k->buffer, sizeof m);
        if (m.bytes > RUN_FILE_BYTES_MAX) {
            k->bad = "a message that is too long";
            return;
        }
        if (k->used == sizeof m + m.bytes) {
            k->used = 0;
            take_message(k, &m, (const char *)k->buffer + sizeof m);
        }
    }
}

ssize_t keep_files_receive(struct keep_files *k, int from)
{
    uint8_t bytes[RUN_FILE_BYTES_MAX];
    ssize_t count = read(from, bytes, sizeof bytes);

    if (count < 0)
        return -errno;
    keep_files_take(k, bytes, (size_t)count);
    return count;
}

void keep_files_print_missing(const struct keep_files *k, FILE *out)
{
    char path[PATH_SHOWN_BYTES];
    char count[TEXT_QUANTITY_BYTES];
    size_t here = 0;

    if (k->missing_count > 0)
        qsort(k->missing, k->missing_count, sizeof *k->missing, array_compare_texts);
    for (size_t i = 0; i < k->missing_count; i++)
        if (access(k->missing[i], F_OK) == 0) {
            if (here++ == 0)
                fprintf(out, "hr: looked for in vain, and here: give them to the program with\n");
            fprintf(out, "    --file %s\n", text_escape(path, sizeof path, k->missing[i]));
        }
    if (here < k->missing_count)
        fprintf(out, "hr: looked for in vain, and not here either:\n");
    for (size_t i = 0; i < k->missing_count; i++)
        if (access(k->missing[i], F_OK) != 0)
            fprintf(out, "    %s\n", text_escape(path, sizeof path, k->missing[i]));
    if (k->missing_count == 0)
        fprintf(out, "hr: the program found every file that it looked for\n");
    if (k->missing_left_out != 0)
        fprintf(out, "hr: and %s more names that were looked for in vain\n",
                text_count(count, k->missing_left_out));
}
