/* Writes the data of a run to its files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/base/transfer.h"
#include "host/collect/stream_run.h"
#include "host/collector/keep_files.h"

#define RUN_FILES_STREAM "files.stream" /* exists until it is unpacked */
#define INDEX_MAX (1u << 18) /* entries, 12 MB: for 16 GB of the kernel's usual chunks */
#define INDEX_SHARED (4ul * INDEX_MAX) /* for all runs */
#define BAD_FILE "hr.bad"

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

/* Unpacks RUN_FILES_STREAM to files/ and lists names that the program did not find in missing.txt.
 * Fills kept_files and files_bad of the run.  Returns 0, or -errno of the disk. */
static int unpack_files(struct stream_run *run)
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

static atomic_size_t index_left = INDEX_SHARED;

/* Only hr.bad and the stream of files do not exist from the beginning. */
static const struct {
    const char *name;
    bool at_once;
} port_files[RUN_STREAM_PORTS] = {
    [RUN_STREAM_TRACE] = {BAD_FILE, false},         [RUN_STREAM_STDOUT] = {"stdout", true},
    [RUN_STREAM_STDERR] = {"stderr", true},         [RUN_STREAM_LOG] = {"log.txt", true},
    [RUN_STREAM_FILES] = {RUN_FILES_STREAM, false},
};

static enum run_welcome_status fail(struct stream_run *run, int error)
{
    run->error = error;
    return error == EWOULDBLOCK ? RUN_WELCOME_BUSY : RUN_WELCOME_DISK;
}

/* Returns 0 or -errno; without O_CREAT in `flags` a missing file is not an error. */
static int open_port(struct stream_run *run, size_t port, int flags)
{
    struct stat status;
    int fd = openat(run->place.directory, port_files[port].name,
                    O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0666);

    if (fd < 0)
        return errno == ENOENT && !(flags & O_CREAT) ? 0 : -errno;
    run->files[port] = fd;
    if (fstat(fd, &status) != 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    run->have[port] = (uint64_t)status.st_size;
    return 0;
}

static int open_ports(struct stream_run *run)
{
    int result = 0;

    for (size_t port = 0; port < RUN_STREAM_PORTS && result == 0; port++)
        if (port_files[port].name != NULL)
            result = open_port(run, port, port_files[port].at_once ? O_CREAT : 0);
    run->is_bad = run->files[RUN_STREAM_TRACE] >= 0;
    return result;
}

static int open_trace(struct stream_run *run)
{
    char path[PATH_MAX + sizeof "/hr.bin"];
    uint64_t now_s = (uint64_t)time(NULL);
    int result;

    snprintf(path, sizeof path, "%s/hr.bin", run->place.path);
    result = collect_resume(&run->trace, path, INDEX_MAX, &index_left);
    if (result == 0 && run->place.state.created_s < now_s)
        run->trace.start_ns -= (now_s - run->place.state.created_s) * 1000000000u;
    return result;
}

static void close_ports(struct stream_run *run)
{
    for (size_t port = 0; port < RUN_STREAM_PORTS; port++)
        if (run->files[port] >= 0)
            close(run->files[port]);
    stream_place_close(&run->place);
    run->open = false;
}

enum run_welcome_status stream_run_open(struct stream_run *run, const char *root,
                                        const struct run_hello *hello, uint64_t limit_bytes)
{
    int result;

    *run = (struct stream_run){.limit_bytes = limit_bytes};
    for (size_t port = 0; port < RUN_STREAM_PORTS; port++)
        run->files[port] = -1;
    result = stream_place_open(&run->place, root, hello);
    if (result != 0)
        return fail(run, -result);
    if (!run->place.state.complete) {
        result = open_trace(run);
        if (result == 0) {
            run->open = true;
            result = open_ports(run);
        }
    }
    if (result != 0 || run->place.state.complete) {
        if (run->open)
            (void)collect_suspend(&run->trace);
        close_ports(run);
        return result != 0 ? fail(run, -result) : RUN_WELCOME_DONE;
    }
    run->have[RUN_STREAM_TRACE] += run->trace.offset; /* what hr.bad has came later */
    for (size_t port = 0; port < RUN_STREAM_PORTS; port++)
        run->bytes += run->have[port];
    return RUN_WELCOME_OK;
}

static int write_small(struct stream_run *run)
{
    size_t count = run->small_bytes;

    run->small_bytes = 0;
    return transfer_write(run->files[run->small_port], run->small, count, NULL);
}

/* Frames may be tiny: small data are gathered, until the next flush at the latest. */
static int append(struct stream_run *run, size_t port, const uint8_t *bytes, size_t count)
{
    int result = run->files[port] < 0 ? open_port(run, port, O_CREAT) : 0;

    if (result == 0 && (port != run->small_port || count > sizeof run->small - run->small_bytes))
        result = write_small(run);
    if (result != 0)
        return result;
    run->small_port = port;
    run->have[port] += count;
    run->bytes += count;
    if (count > sizeof run->small)
        return transfer_write(run->files[port], bytes, count, NULL);
    memcpy(run->small + run->small_bytes, bytes, count);
    run->small_bytes += count;
    return 0;
}

/* The collector found bytes that are not a trace: from the last whole chunk on, everything goes to
 * hr.bad. */
static int begin_bad(struct stream_run *run)
{
    struct collector *c = &run->trace;
    uint64_t good = collect_whole_bytes(c);
    int result;

    run->is_bad = true;
    run->bad = c->bad;
    collect_flush(c);
    if (c->write_error != 0)
        return -c->write_error;
    run->bytes -= run->have[RUN_STREAM_TRACE] - good;
    result = append(run, RUN_STREAM_TRACE, c->buffer + c->verified, c->used - c->verified);
    run->have[RUN_STREAM_TRACE] = good + (c->used - c->verified);
    c->used = c->verified;
    return result;
}

static int take_trace(struct stream_run *run, const uint8_t *bytes, size_t count)
{
    while (count > 0 && !run->is_bad) {
        size_t now = count < COLLECT_TAKE_BYTES ? count : COLLECT_TAKE_BYTES;

        collect_take(&run->trace, bytes, now);
        if (run->trace.write_error != 0)
            return -run->trace.write_error;
        run->have[RUN_STREAM_TRACE] += now;
        run->bytes += now;
        bytes += now;
        count -= now;
        if (run->trace.bad != NULL) {
            int result = begin_bad(run);

            if (result != 0)
                return result;
        }
    }
    return count > 0 ? append(run, RUN_STREAM_TRACE, bytes, count) : 0;
}

enum run_welcome_status stream_run_write(struct stream_run *run, enum run_stream_port port,
                                         const void *bytes, size_t count)
{
    uint64_t room = run->limit_bytes > run->bytes ? run->limit_bytes - run->bytes : 0;
    size_t now = count < room ? count : (size_t)room;
    int result = 0;

    if (now > 0)
        result =
            port == RUN_STREAM_TRACE ? take_trace(run, bytes, now) : append(run, port, bytes, now);
    if (result != 0)
        return fail(run, -result);
    return now < count ? RUN_WELCOME_LIMIT : RUN_WELCOME_OK;
}

enum run_welcome_status stream_run_flush(struct stream_run *run)
{
    int result = write_small(run);

    collect_flush(&run->trace);
    if (run->trace.write_error != 0)
        result = -run->trace.write_error;
    return result != 0 ? fail(run, -result) : RUN_WELCOME_OK;
}

uint64_t stream_run_whole(const struct stream_run *run)
{
    return run->is_bad ? run->have[RUN_STREAM_TRACE] : collect_whole_bytes(&run->trace);
}

static int sync_file(const struct stream_run *run, const char *name)
{
    int fd = openat(run->place.directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int result = 0;

    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    if (fsync(fd) != 0)
        result = -errno;
    close(fd);
    return result;
}

/* Everything that was unpacked into files/ is synced by one call. */
static int sync_all(const struct stream_run *run, bool has_files)
{
    int result = sync_file(run, "hr.bin");

    if (result == 0 && has_files && syncfs(run->place.directory) != 0)
        result = -errno;
    for (size_t port = 0; port < RUN_STREAM_PORTS && result == 0; port++)
        if (run->files[port] >= 0 && fsync(run->files[port]) != 0)
            result = -errno;
    return result;
}

enum run_welcome_status stream_run_finish(struct stream_run *run)
{
    enum hr_host_reason reason = run->is_bad ? HR_HOST_BAD_STREAM : collect_reason(&run->trace);
    bool has_files = run->files[RUN_STREAM_FILES] >= 0;
    int result = collect_close(&run->trace, reason, run->bad != NULL ? run->bad : "");

    if (result == 0)
        result = write_small(run);
    if (result == 0 && has_files)
        result = unpack_files(run);
    if (result == 0)
        result = sync_all(run, has_files);
    if (result == 0) {
        run->place.state.complete = true;
        result = stream_state_write(run->place.directory, &run->place.state);
    }
    /* Not earlier, because this file shows how far the port has come. */
    if (result == 0 && has_files && run->files_bad == NULL)
        (void)unlinkat(run->place.directory, RUN_FILES_STREAM, 0);
    close_ports(run);
    return result != 0 ? fail(run, -result) : RUN_WELCOME_OK;
}

enum run_welcome_status stream_run_suspend(struct stream_run *run, int signal_number)
{
    int written = write_small(run);
    int result;

    if (signal_number != 0 && !run->is_bad && run->trace.write_error == 0)
        result = collect_close(&run->trace, HR_HOST_INTERRUPTED, strsignal(signal_number));
    else
        result = collect_suspend(&run->trace);
    if (result == 0)
        result = written;
    close_ports(run);
    return result != 0 ? fail(run, -result) : RUN_WELCOME_OK;
}
