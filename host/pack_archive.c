/* Writes a run's archive. */
#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "host/pack_archive.h"
#include "host/pack_writer.h"
#include "include/run_manifest.h"

static int write_manifest(struct pack_writer *w, const void *manifest, size_t bytes)
{
    char directory[] = RUN_MANIFEST_NAME;

    if (pack_writer_add_bytes(w, RUN_MANIFEST_NAME, manifest, bytes) != 0)
        return -1;
    return pack_writer_align(w, dirname(directory));
}

int pack_archive_write(const struct pack_list *list, const void *manifest, size_t manifest_bytes,
                       int fd, struct run_failure *failure)
{
    struct pack_writer writer;
    struct stat own;
    int result;

    if (fstat(fd, &own) != 0)
        return run_fail(failure, RUN_EXIT_FAILED, "cannot write the archive: %s", strerror(errno));
    if (pack_writer_init(&writer, fd, failure) != 0)
        return -1;
    result = write_manifest(&writer, manifest, manifest_bytes);
    for (size_t i = 0; i < list->count && result == 0; i++) {
        const struct pack_entry *entry = list->entries[i];

        /* The archive does not hold itself. */
        if (entry->status.st_dev != own.st_dev || entry->status.st_ino != own.st_ino)
            result = pack_writer_add_entry(&writer, entry);
    }
    if (result == 0)
        result = pack_writer_end(&writer);
    pack_writer_free(&writer);
    return result;
}
