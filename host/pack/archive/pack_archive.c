/* Writes a run's archive. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "host/pack/archive/pack_archive.h"
#include "host/pack/archive/pack_cache.h"
#include "host/pack/archive/pack_writer.h"
#include "include/run_manifest.h"
#include "include/run_probes.h"

/* The kernel hands out memory in blocks of so much.  An archive that grows by whole blocks leaves
 * all others as they were, so probes do not change which memory the program gets. */
#define PROBES_STEP ((size_t)4 << 20)
#define KEPT_ENTRIES_MIN 200 /* writing fewer again is as quick */
#define KEPT_FIRST_INODE (1u << 24) /* so that a part does not depend on what comes before it */

struct archive {
    const struct pack *pack;
    const struct pack_list *list;
    struct pack_writer writer;
    struct stat own;
    struct run_failure *failure;
};

/* Files and links of the system are in a part of their own.  Directories are not, because which of
 * them are new depends on the run. */
static bool is_stable(const struct pack_list *list, const struct pack_entry *entry)
{
    return list->items[entry->item].stable && !S_ISDIR(entry->status.st_mode);
}

static int write_entries(struct archive *a, bool stable)
{
    for (size_t i = 0; i < a->list->count; i++) {
        const struct pack_entry *entry = a->list->entries[i];

        if (is_stable(a->list, entry) != stable)
            continue;
        /* The archive does not hold itself. */
        if (entry->status.st_dev == a->own.st_dev && entry->status.st_ino == a->own.st_ino)
            continue;
        if (pack_writer_add_entry(&a->writer, entry) != 0)
            return -1;
    }
    return 0;
}

/* Writes everything that determines the part's bytes: its entries, and their files. */
static void write_key(FILE *out, const struct pack_list *list, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct pack_entry *entry = list->entries[i];
        const struct stat *s = &entry->status;

        if (!is_stable(list, entry))
            continue;
        ++*count;
        fprintf(out, "%s%c%s%c%s%c%o %lx:%lx %lx %lx.%lx %lx.%lx%c", entry->name, 0,
                entry->source != NULL ? entry->source : "", 0,
                entry->target != NULL ? entry->target : "", 0, s->st_mode, s->st_dev, s->st_ino,
                s->st_size, s->st_mtim.tv_sec, (unsigned long)s->st_mtim.tv_nsec, s->st_ctim.tv_sec,
                (unsigned long)s->st_ctim.tv_nsec, 0);
    }
}

/* Writes the part with the system's files, from an earlier run or for later ones. */
static int write_kept(struct archive *a, const char *key, size_t key_bytes)
{
    struct pack_writer *w = &a->writer;
    uint64_t start = w->offset;
    struct pack_cache cache;
    int64_t copied;
    int result = 0;

    if (pack_writer_flush(w) != 0)
        return -1;
    pack_cache_open(&cache, key, key_bytes);
    copied = pack_cache_copy(&cache, w->fd);
    if (copied < 0)
        result = run_fail(a->failure, "cannot write the archive: %s", strerror((int)-copied));
    else
        w->offset += (uint64_t)copied;
    if (copied == 0) {
        result = write_entries(a, true);
        if (result == 0)
            result = pack_writer_flush(w);
        if (result == 0)
            pack_cache_keep(&cache, w->fd, start, w->offset - start);
    }
    pack_cache_close(&cache);
    return result;
}

static int write_stable(struct archive *a)
{
    char *key = NULL;
    size_t key_bytes = 0;
    size_t count = 0;
    FILE *out = open_memstream(&key, &key_bytes);
    int result;

    if (out == NULL)
        return run_fail(a->failure, "out of memory; end other programs");
    write_key(out, a->list, &count);
    if (fclose(out) != 0)
        result = run_fail(a->failure, "out of memory; end other programs");
    else
        result = count < KEPT_ENTRIES_MIN ? write_entries(a, true) : write_kept(a, key, key_bytes);
    free(key);
    return result;
}

static int write_all(struct archive *a, const void *manifest, size_t manifest_bytes)
{
    char directory[] = RUN_MANIFEST_NAME;

    if (pack_writer_add_bytes(&a->writer, RUN_MANIFEST_NAME, manifest, manifest_bytes) != 0 ||
        write_entries(a, false) != 0 || pack_writer_align(&a->writer, dirname(directory)) != 0)
        return -1;
    a->writer.next_inode = KEPT_FIRST_INODE;
    if (write_stable(a) != 0)
        return -1;
    if (a->pack->probes != NULL &&
        pack_writer_add_filled(&a->writer, RUN_PROBES_NAME, a->pack->probes, a->pack->probe_bytes,
                               PROBES_STEP) != 0)
        return -1;
    return pack_writer_end(&a->writer);
}

int pack_archive_write(const struct pack *pack, const void *manifest, size_t manifest_bytes, int fd,
                       struct run_failure *failure)
{
    struct archive a = {.pack = pack, .list = &pack->list, .failure = failure};
    int result;

    if (fstat(fd, &a.own) != 0)
        return run_fail(failure, "cannot write the archive: %s", strerror(errno));
    if (pack_writer_init(&a.writer, fd, failure) != 0)
        return -1;
    result = write_all(&a, manifest, manifest_bytes);
    pack_writer_free(&a.writer);
    return result;
}
