/* Compares a result from a stick with the one that is here. */
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/usb/usb_known.h"

#define TRACE_NAME "hr.bin"

/* Returns whether the first `bytes` of two files are equal. */
static bool same_start(const char *one, const char *other, uint64_t bytes)
{
    FILE *a = fopen(one, "re"), *b = fopen(other, "re");
    static char left[65536], right[65536];
    bool same = a != NULL && b != NULL;

    while (same && bytes > 0) {
        size_t now = bytes < sizeof left ? (size_t)bytes : sizeof left;

        same = fread(left, 1, now, a) == now && fread(right, 1, now, b) == now &&
               memcmp(left, right, now) == 0;
        bytes -= now;
    }
    if (a != NULL)
        fclose(a);
    if (b != NULL)
        fclose(b);
    return same;
}

static bool same_target(const char *one, const char *other)
{
    char left[PATH_MAX], right[PATH_MAX];
    ssize_t bytes = readlink(one, left, sizeof left);

    return bytes >= 0 && readlink(other, right, sizeof right) == bytes &&
           memcmp(left, right, (size_t)bytes) == 0;
}

/* Opens directories and regular files only, because a program may have left a named pipe, or a link
 * to one.
 */
static bool same_entry(const FTSENT *entry, const char *other, uint64_t trace_bytes)
{
    const struct stat *here = entry->fts_statp;
    bool trace = entry->fts_level == 1 && strcmp(entry->fts_name, TRACE_NAME) == 0;
    struct stat there;

    if (lstat(other, &there) != 0 || (there.st_mode & S_IFMT) != (here->st_mode & S_IFMT))
        return false;
    switch (entry->fts_info) {
    case FTS_D:
        return true;
    case FTS_F:
        return (trace || there.st_size == here->st_size) &&
               same_start(entry->fts_path, other, trace ? trace_bytes : (uint64_t)here->st_size);
    case FTS_SL:
    case FTS_SLNONE:
        return same_target(entry->fts_path, other);
    default:
        return false;
    }
}

bool usb_known(const char *taken, const char *place, uint64_t trace_bytes)
{
    char *const roots[] = {(char *)taken, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry = NULL;
    bool same = tree != NULL;
    bool any = false;

    while (same && (entry = fts_read(tree)) != NULL) {
        char other[2 * PATH_MAX];
        int bytes;

        if (entry->fts_info == FTS_DP)
            continue;
        bytes = snprintf(other, sizeof other, "%s%s", place, entry->fts_path + strlen(taken));
        any = any || entry->fts_level > 0;
        same = bytes > 0 && (size_t)bytes < sizeof other && same_entry(entry, other, trace_bytes);
    }
    if (tree != NULL)
        fts_close(tree);
    return same && any;
}
