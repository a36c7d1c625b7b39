/* Collects the names that the program looked for but did not find, once each. */
#include "guest/fs/fs_missing.h"
#include "guest/base/log.h"

#include <string.h>

#include "guest/fs/fs_kept.h"
#include "guest/memory/heap.h"
#include "include/run_ports.h"
#include "lib/hash.h"

#define BUCKETS (2u * FS_MISSING_MAX) /* a power of two */

static char **noted; /* open addressing; NULL: they are not noted */
static uint32_t noted_count;
static char recent[FS_MISSING_RECENT][FS_MISSING_RECENT_BYTES]; /* a ring, always kept */
static uint32_t recent_count;
static uint64_t left_out; /* counts lookups: names that were not noted cannot be told apart */

void fs_missing_start(void)
{
    noted = heap_alloc(BUCKETS * sizeof *noted);
}

/* Removes the last name from a path of `bytes` bytes.  Returns the bytes that are left. */
static size_t fs_missing_cut(const char *path, size_t bytes)
{
    while (bytes && path[bytes - 1] != '/')
        bytes--;
    return bytes ? bytes - 1 : 0;
}

/* Appends the names in `path` to `out`, which has no slash at its end, and resolves "." and ".." as
 * text.  Returns the bytes, or 0 if they are too many. */
static size_t add_names(char *out, size_t bytes, const char *path)
{
    while (*path) {
        size_t part = 0;

        while (path[part] && path[part] != '/')
            part++;
        if (part == 2 && path[0] == '.' && path[1] == '.') {
            bytes = fs_missing_cut(out, bytes);
        } else if (part && !(part == 1 && path[0] == '.')) {
            if (bytes + part + 2 > FS_PATH_MAX)
                return 0;
            out[bytes++] = '/';
            memcpy(out + bytes, path, part);
            bytes += part;
        }
        path += part;
        while (*path == '/')
            path++;
    }
    return bytes;
}

/* Writes the absolute path to `out`.  Returns its bytes, or 0 if it is not worth a note. */
static size_t make_absolute(const struct fs_entry *base, const char *path, char *out)
{
    size_t bytes = 0;
    bool gone;

    if (*path != '/') {
        int64_t base_bytes = fs_path(base, out, FS_PATH_MAX, &gone);

        if (base_bytes < 0)
            return 0;
        bytes = base_bytes > 1 ? (size_t)base_bytes : 0;
    }
    bytes = add_names(out, bytes, path);
    out[bytes] = '\0';
    return bytes;
}

/* Returns true for the kernel's own files: --file could not supply them. */
static bool is_ours(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 ||
           strncmp(path, "/dev/", 5) == 0;
}

static void note_recent(const char *path, size_t bytes)
{
    if (bytes < FS_MISSING_RECENT_BYTES)
        memcpy(recent[recent_count++ % FS_MISSING_RECENT], path, bytes + 1);
}

void fs_missing_note(const struct fs_entry *base, const char *path)
{
    static char absolute[FS_PATH_MAX];
    size_t bytes = make_absolute(base, path, absolute);
    uint32_t at;

    if (!bytes || is_ours(absolute))
        return;
    note_recent(absolute, bytes);
    if (noted == NULL)
        return;
    for (at = hash_bytes32(absolute, bytes) % BUCKETS; noted[at] != NULL; at = (at + 1) % BUCKETS)
        if (strcmp(noted[at], absolute) == 0)
            return;
    if (noted_count < FS_MISSING_MAX)
        noted[at] = heap_alloc(bytes + 1);
    if (noted[at] == NULL) {
        left_out++;
        return;
    }
    memcpy(noted[at], absolute, bytes + 1);
    noted_count++;
}

/* Returns the Nth, oldest first, of the last names that were not found, with or without --missing;
 * NULL: there are no more. */
static const char *nth_recent(uint32_t n)
{
    uint32_t kept = recent_count < FS_MISSING_RECENT ? recent_count : FS_MISSING_RECENT;

    return n < kept ? recent[(recent_count - kept + n) % FS_MISSING_RECENT] : NULL;
}

uint64_t fs_missing_add(struct fs_kept_buffer *buffer)
{
    struct fs_found found;

    for (uint32_t i = 0; noted != NULL && i < BUCKETS; i++) {
        if (noted[i] == NULL)
            continue;
        if (fs_walk(NULL, fs_root, noted[i], 0, &found) != 0)
            fs_kept_add_text(buffer, RUN_FILE_MISSING, noted[i]);
        else
            fs_found_release(&found); /* the program made it */
    }
    return left_out;
}

/* The host turns these lines into hints for the user. */
void fs_missing_log(void)
{
    char first[256] = "";
    uint64_t dropped = fs_kept_dropped(first, sizeof first);
    struct fs_found found;
    const char *name;

    if (dropped)
        log_line(RUN_LOG_DROPPED "%lu %s", dropped, first);
    for (uint32_t i = 0; (name = nth_recent(i)) != NULL; i++) {
        if (fs_walk(NULL, fs_root, name, 0, &found) != 0)
            log_line(RUN_LOG_MISSING "%s", name);
        else
            fs_found_release(&found); /* the program made it */
    }
}
