/* Writes the entries of a run's archive. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "host/pack_archive.h"
#include "lib/cpio.h"

#define HEADER_ROOM (PATH_MAX + 128)
#define COPY_BYTES (64u << 20) /* one sendfile at most */

void pack_archive_init(struct pack_archive *a, int fd, uint64_t limit_bytes,
                       struct run_failure *failure)
{
    *a = (struct pack_archive){
        .fd = fd, .limit_bytes = limit_bytes, .next_inode = 1, .failure = failure};
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* 1 when the name is new, 0 when the archive already holds it, -1 on failure. */
static int note_name(struct pack_archive *a, const char *name)
{
    char *copy;

    if (tfind(name, &a->names, compare_names) != NULL)
        return 0;
    copy = strdup(name);
    if (copy == NULL || tsearch(copy, &a->names, compare_names) == NULL) {
        free(copy);
        return run_fail(a->failure, RUN_EXIT_FAILED, "out of memory");
    }
    return 1;
}

static int write_bytes(struct pack_archive *a, const void *bytes, size_t count)
{
    const char *p = bytes;

    while (count > 0) {
        ssize_t written = write(a->fd, p, count);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return run_fail(a->failure, RUN_EXIT_FAILED, "cannot write the archive: %s",
                            strerror(written < 0 ? errno : ENOSPC));
        p += written;
        a->bytes += (uint64_t)written;
        count -= (size_t)written;
    }
    return 0;
}

static int write_padding(struct pack_archive *a, size_t bytes)
{
    static const char zeros[8];

    return write_bytes(a, zeros, cpio_padding(bytes));
}

static int write_header(struct pack_archive *a, const char *name, size_t bytes, mode_t mode,
                        time_t mtime)
{
    char header[HEADER_ROOM];
    const struct cpio_entry entry = {
        .name = name,
        .name_bytes = strlen(name),
        .bytes = bytes,
        .mode = mode,
        .ino = a->next_inode++,
        .nlink = S_ISDIR(mode) ? 2 : 1,
        .mtime = (uint32_t)mtime,
    };
    size_t length = cpio_write_header(header, sizeof header, &entry);

    if (length == 0)
        return run_fail(a->failure, RUN_EXIT_FAILED,
                        "%s: too large for the archive (a file has at most 4 GB)", name);
    if (a->bytes + bytes > a->limit_bytes)
        return run_fail(a->failure, RUN_EXIT_NOT_EXECUTABLE,
                        "%s: with it the guest's files need more than its %llu MB of memory; give "
                        "it more with --mem, or fewer files",
                        name, (unsigned long long)(a->limit_bytes >> 20));
    return write_bytes(a, header, length);
}

static int add_parents(struct pack_archive *a, const char *name)
{
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        char parent[PATH_MAX];
        int is_new;

        snprintf(parent, sizeof parent, "%.*s", (int)(slash - name), name);
        is_new = note_name(a, parent);
        if (is_new < 0 || (is_new > 0 && write_header(a, parent, 0, S_IFDIR | 0755, 0) != 0))
            return -1;
    }
    return 0;
}

/* Parents, then the name itself: 1 when its entry is to be written. */
static int begin_entry(struct pack_archive *a, const char **name)
{
    *name += strspn(*name, "/");
    if (**name == 0)
        return 0;
    return add_parents(a, *name) != 0 ? -1 : note_name(a, *name);
}

int pack_archive_add_bytes(struct pack_archive *a, const char *name, const void *bytes,
                           size_t count)
{
    int is_new;

    name += strspn(name, "/");
    is_new = note_name(a, name);
    if (is_new <= 0)
        return is_new;
    if (write_header(a, name, count, S_IFREG | 0644, 0) != 0 || write_bytes(a, bytes, count) != 0)
        return -1;
    return write_padding(a, count);
}

int pack_archive_add_directory(struct pack_archive *a, const char *name)
{
    int is_new = begin_entry(a, &name);

    return is_new <= 0 ? is_new : write_header(a, name, 0, S_IFDIR | 0755, 0);
}

int pack_archive_add_file(struct pack_archive *a, const char *name, int from,
                          const struct stat *status)
{
    int is_new = begin_entry(a, &name);
    size_t left = (size_t)status->st_size;
    off_t offset = 0;

    if (is_new <= 0)
        return is_new;
    if (write_header(a, name, left, status->st_mode, status->st_mtime) != 0)
        return -1;
    while (left > 0) {
        ssize_t copied = sendfile(a->fd, from, &offset, left < COPY_BYTES ? left : COPY_BYTES);

        if (copied < 0 && errno == EINTR)
            continue;
        if (copied <= 0)
            return run_fail(a->failure, RUN_EXIT_FAILED, "cannot copy %s into the archive: %s",
                            name, copied < 0 ? strerror(errno) : "it shrank meanwhile");
        left -= (size_t)copied;
        a->bytes += (uint64_t)copied;
    }
    return write_padding(a, (size_t)status->st_size);
}

static int add_link(struct pack_archive *a, const char *name, const FTSENT *entry)
{
    char target[PATH_MAX];
    ssize_t bytes = readlink(entry->fts_accpath, target, sizeof target);
    int is_new;

    if (bytes < 0)
        return run_fail(a->failure, RUN_EXIT_FAILED, "%s: %s", entry->fts_path, strerror(errno));
    is_new = begin_entry(a, &name);
    if (is_new <= 0)
        return is_new;
    if (write_header(a, name, (size_t)bytes, S_IFLNK | 0777, 0) != 0 ||
        write_bytes(a, target, (size_t)bytes) != 0)
        return -1;
    return write_padding(a, (size_t)bytes);
}

static int add_regular(struct pack_archive *a, const char *name, const FTSENT *entry)
{
    int fd = open(entry->fts_accpath, O_RDONLY | O_CLOEXEC);
    struct stat status;
    struct stat own;
    int result;

    if (fd < 0 || fstat(fd, &status) != 0 || fstat(a->fd, &own) != 0)
        result = run_fail(a->failure, RUN_EXIT_FAILED, "%s: %s", entry->fts_path, strerror(errno));
    else if (status.st_dev == own.st_dev && status.st_ino == own.st_ino)
        result = 0; /* the archive does not hold itself */
    else
        result = pack_archive_add_file(a, name, fd, &status);
    if (fd >= 0)
        close(fd);
    return result;
}

static int add_entry(struct pack_archive *a, const char *name, const FTSENT *entry)
{
    int is_new;

    switch (entry->fts_info) {
    case FTS_D:
        is_new = begin_entry(a, &name);
        return is_new <= 0 ? is_new
                           : write_header(a, name, 0, entry->fts_statp->st_mode,
                                          entry->fts_statp->st_mtime);
    case FTS_F:
        return add_regular(a, name, entry);
    case FTS_SL:
    case FTS_SLNONE:
        return add_link(a, name, entry);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return run_fail(a->failure, RUN_EXIT_FAILED, "%s: %s", entry->fts_path,
                        strerror(entry->fts_errno));
    default: /* a directory's second visit, and what is neither file, directory nor link */
        return 0;
    }
}

static int compare_entries(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

int pack_archive_add_tree(struct pack_archive *a, const char *path, const char *name)
{
    char *roots[] = {strdup(path), NULL};
    FTS *walk =
        roots[0] == NULL ? NULL : fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare_entries);
    size_t prefix = strlen(path);
    FTSENT *entry;
    int result = 0;

    if (walk == NULL)
        result = run_fail(a->failure, RUN_EXIT_FAILED, "%s: %s", path, strerror(errno));
    while (result == 0 && (entry = fts_read(walk)) != NULL) {
        char full[PATH_MAX];

        if ((size_t)snprintf(full, sizeof full, "%s%s%s", name, *name != 0 ? "" : "/",
                             entry->fts_path + prefix) >= sizeof full)
            result =
                run_fail(a->failure, RUN_EXIT_FAILED, "%s: the path is too long", entry->fts_path);
        else
            result = add_entry(a, full, entry);
    }
    if (walk != NULL)
        fts_close(walk);
    free(roots[0]);
    return result;
}

int pack_archive_finish(struct pack_archive *a)
{
    char trailer[256];
    size_t bytes = cpio_write_trailer(trailer, sizeof trailer);

    pack_archive_free(a);
    return write_bytes(a, trailer, bytes);
}

void pack_archive_free(struct pack_archive *a)
{
    tdestroy(a->names, free);
    a->names = NULL;
}
