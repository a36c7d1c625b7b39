/* Unpacks the stream of files of a run. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/collect/stream_files.h"
#include "host/collector/keep_files.h"

static int write_missing(const struct stream_run *run, const struct keep_files *k)
{
    int fd = openat(run->place.directory, "missing.txt",
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (out == NULL) {
        int error = -errno;

        if (fd >= 0)
            close(fd);
        return error;
    }
    keep_files_print_missing(k, out);
    return fclose(out) == 0 ? 0 : -errno;
}

static int take_all(struct keep_files *k, int from)
{
    ssize_t count;

    do
        count = keep_files_receive(k, from);
    while (count > 0 && k->bad == NULL && k->error == 0);
    return count < 0 ? (int)count : -k->error;
}

static int unpack(struct stream_run *run, struct keep_files *k, int from)
{
    char directory[PATH_MAX + sizeof "/files"];
    int result;

    snprintf(directory, sizeof directory, "%s/files", run->place.path);
    result = keep_files_open(k, directory, run->limit_bytes / KEEP_FILES_MEMORIES);
    if (result != 0)
        return result;
    result = take_all(k, from);
    run->kept_files = k->files;
    run->files_bad = k->bad;
    if (k->bad == NULL && !k->ended)
        run->files_bad = "it was cut off";
    if (result == 0 && k->missing_count > 0)
        result = write_missing(run, k);
    keep_files_close(k);
    return result;
}

int stream_files_unpack(struct stream_run *run)
{
    int from = openat(run->place.directory, RUN_FILES_STREAM, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct keep_files *k;
    int result = -ENOMEM;

    if (from < 0)
        return -errno;
    k = malloc(sizeof *k);
    if (k != NULL)
        result = unpack(run, k, from);
    free(k);
    close(from);
    return result;
}
