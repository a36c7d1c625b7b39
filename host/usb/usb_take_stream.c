/* Copies streams from a stick. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/base/transfer.h"
#include "host/collector/collect.h"
#include "host/collector/keep_files.h"
#include "host/scan/trace_scan.h"
#include "host/usb/usb_take_stream.h"
#include "lib/crc32c.h"

#define FILES_FLOOR_BYTES (1u << 20)
#define FILES_GROWTH 12 /* times KEEP_FILES_MEMORIES: a page for 43 bytes */

/* Consumes a stream's bytes.  Returns 0, or -errno of the host's disk. */
typedef int usb_consume(void *context, const void *bytes, size_t count);

struct part { /* state of reading a part of a stream */
    const struct usb_result_file *listed; /* NULL: its length is unknown */
    uint64_t limit;
    uint64_t bytes;
    uint32_t crc32c;
    usb_consume *consume;
    void *context;
    struct progress_bar *bar;
    int error; /* of the host's disk */
};

/* What exceeds the limit is left out, and what comes before it is taken, however the bytes come. */
static int take_bytes(void *context, const void *bytes, size_t count)
{
    struct part *part = context;
    bool exceeds = count > part->limit - part->bytes;

    if (usb_take_interrupted != 0)
        part->error = -EINTR;
    if (part->error != 0)
        return -1;
    if (exceeds)
        count = (size_t)(part->limit - part->bytes);
    part->bytes += count;
    part->crc32c = crc32c(part->crc32c, bytes, count);
    progress_bar_add(part->bar, count);
    part->error = part->consume(part->context, bytes, count);
    part->bytes += exceeds;
    return exceeds ? -1 : part->error;
}

static int fail_host(struct usb_take *t, const char *name, int error)
{
    if (error == -EINTR)
        return run_fail(t->failure, "interrupted");
    return run_fail(t->failure, "%s/%s: %s", t->temporary, name, strerror(-error));
}

/* Reports what is wrong with a part, and clears *good if anything is. */
static void check_part(struct usb_take *t, const struct part *part, const char *name,
                       enum usb_tool_end end, const char *words, bool *good)
{
    const struct usb_result_file *listed = part->listed;

    if (part->bytes > part->limit && (listed == NULL || part->limit < listed->bytes))
        usb_take_problem(
            t, USB_TAKEN_DAMAGED,
            "%s: with it the results would be longer than the file system, which has %lu bytes",
            name, t->source->bytes);
    else if (part->bytes > part->limit)
        usb_take_problem(t, USB_TAKEN_DAMAGED, "%s is longer than %lu bytes", name, part->limit);
    else if (end != USB_TOOL_DONE)
        usb_take_problem(t, USB_TAKEN_DAMAGED, "%s cannot be read: %s", name, words);
    else if (listed != NULL && part->bytes != listed->bytes)
        usb_take_problem(t, USB_TAKEN_DAMAGED, "%s has %lu bytes and should have %lu", name,
                         part->bytes, listed->bytes);
    else if (listed != NULL && part->crc32c != listed->crc32c)
        usb_take_problem(t, USB_TAKEN_DAMAGED,
                         "%s is damaged: its checksum is %08x and should be %08x", name,
                         part->crc32c, listed->crc32c);
    else
        return;
    *good = false;
}

static bool is_on_stick(const struct usb_take *t, const char *name)
{
    for (size_t i = 0; i < t->names.count; i++)
        if (strcmp(t->names.names[i], name) == 0)
            return true;
    return false;
}

/* A complete result lists the parts that should exist; without such a list, the existing parts
 * count. */
static bool find_part(const struct usb_take *t, enum usb_stream stream, uint32_t number,
                      const struct usb_result_file **listed)
{
    char name[USB_RESULT_NAME_BYTES];

    *listed = NULL;
    for (size_t i = 0; i < t->result.file_count && t->result.complete; i++)
        if (t->result.files[i].stream == stream && t->result.files[i].part == number)
            *listed = &t->result.files[i];
    if (t->result.complete && stream != USB_LOG)
        return *listed != NULL;
    return number < USB_RESULT_FILES_MAX && is_on_stick(t, usb_result_name(name, stream, number));
}

bool usb_take_has(const struct usb_take *t, enum usb_stream stream)
{
    const struct usb_result_file *listed;

    return find_part(t, stream, 0, &listed);
}

/* Returns the most that a part may hold: files that share clusters, or a circular chain of them,
 * would otherwise exceed the stick. */
static uint64_t part_limit(const struct usb_take *t, const struct usb_result_file *listed)
{
    uint64_t room = t->source->bytes - t->taken_bytes;

    return listed != NULL && listed->bytes < room ? listed->bytes : room;
}

/* Passes all parts of a stream to a consumer.  *good: they agree with result.conf. */
static int read_stream(struct usb_take *t, enum usb_stream stream, usb_consume *consume,
                       void *context, bool *good)
{
    const struct usb_result_file *listed;

    *good = true;
    for (uint32_t number = 0; find_part(t, stream, number, &listed); number++) {
        struct part part = {
            .listed = listed,
            .limit = part_limit(t, listed),
            .consume = consume,
            .context = context,
            .bar = &t->bar,
        };
        struct run_failure words = {0};
        char name[USB_RESULT_NAME_BYTES];
        char path[128];
        enum usb_tool_end end;

        usb_result_name(name, stream, number);
        snprintf(path, sizeof path, "results/%.32s/%s", t->number, name);
        end = usb_source_read(t->source, path, take_bytes, &part, &words);
        t->taken_bytes += part.bytes < part.limit ? part.bytes : part.limit;
        if (usb_take_interrupted != 0) /* the signal may have ended the program that reads, too */
            part.error = -EINTR;
        if (part.error != 0)
            return fail_host(t, name, part.error);
        if (end == USB_TOOL_ABSENT)
            return run_fail(t->failure, "%s", words.text);
        check_part(t, &part, name, end, words.text, good);
    }
    return 0;
}

/* Creates a regular file in the temporary directory. */
static int create(struct usb_take *t, const char *name)
{
    char path[PATH_MAX + USB_RESULT_NAME_BYTES + 1];
    int fd;

    snprintf(path, sizeof path, "%s/%s", t->temporary, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        fail_host(t, name, -errno);
    return fd;
}

struct plain {
    int fd;
    uint64_t bytes;
};

static int write_plain(void *context, const void *bytes, size_t count)
{
    struct plain *plain = context;
    int error = transfer_write(plain->fd, bytes, count, NULL);

    if (error == 0)
        plain->bytes += count;
    return error;
}

int usb_take_plain(struct usb_take *t, enum usb_stream stream)
{
    char name[USB_RESULT_NAME_BYTES];
    struct plain plain = {.fd = create(t, usb_result_name(name, stream, 0))};
    bool good;
    int result;

    if (plain.fd < 0)
        return -1;
    result = read_stream(t, stream, write_plain, &plain, &good);
    if (close(plain.fd) != 0 && result == 0)
        result = fail_host(t, name, -errno);
    t->bytes += plain.bytes;
    if (stream == USB_TRACE)
        t->trace_bytes = plain.bytes;
    return result;
}

static int collect(void *context, const void *bytes, size_t count)
{
    struct collector *c = context;

    for (size_t done = 0; done < count && c->bad == NULL;) {
        size_t now = count - done < COLLECT_TAKE_BYTES ? count - done : COLLECT_TAKE_BYTES;

        collect_take(c, (const char *)bytes + done, now);
        done += now;
    }
    return c->bad == NULL ? -c->write_error : 0;
}

static enum hr_host_reason reason_of(const struct usb_take *t, const struct collector *c)
{
    if (c->has_end)
        return collect_reason(c);
    return strcmp(t->result.end, "panic") == 0 ? HR_HOST_GUEST_PANIC : HR_HOST_GUEST_DIED;
}

/* Audits the trace as hr check does. */
static int audit(struct usb_take *t, const char *path)
{
    struct trace_scan *scan = calloc(1, sizeof *scan);
    const struct trace_visitor visitor = {.stacks = TRACE_SCAN_NO_STACKS};
    int error = scan != NULL ? trace_scan_open(scan, path) : -ENOMEM;

    if (error == 0) {
        error = trace_scan_run(scan, &visitor);
        t->samples = scan->audit.samples;
        t->lost_samples = scan->audit.lost;
        if (error != 0)
            ;
        else if (scan->audit.damage_count != 0 || scan->audit.disordered_chunks != 0)
            usb_take_problem(t, USB_TAKEN_DAMAGED,
                             "hr.bin: chunks are damaged; hr check says which");
        else if (!trace_audit_complete(&scan->audit))
            usb_take_problem(t, USB_TAKEN_INCOMPLETE, "hr.bin: %s",
                             scan->audit.has_end ? "chunks are missing; hr check says which"
                                                 : "the trace stops before the program did");
        trace_scan_close(scan);
    }
    free(scan);
    if (error == -ENOMEM)
        return run_fail(t->failure, "out of memory; end other programs");
    if (error != 0)
        usb_take_problem(t, USB_TAKEN_DAMAGED, "hr.bin is no trace");
    return 0;
}

/* Copies through the collector.  *good: it is a trace. */
static int collect_trace(struct usb_take *t, const char *path, bool *good)
{
    struct collector c;
    int error =
        collect_resume(&c, path, TRACE_INDEX_ENTRIES_MAX, NULL); /* the file does not exist yet */
    int result;

    if (error != 0)
        return fail_host(t, "hr.bin", error);
    result = read_stream(t, USB_TRACE, collect, &c, good);
    collect_flush(&c);
    t->trace_bytes = collect_whole_bytes(&c);
    *good = *good && c.bad == NULL && c.has_header;
    c.start_ns = monotonic_ns() - t->result.elapsed_ns; /* the run's duration, not the copying's */
    error = collect_close(&c, reason_of(t, &c), t->result.reason);
    return result == 0 && error != 0 ? fail_host(t, "hr.bin", error) : result;
}

int usb_take_trace(struct usb_take *t)
{
    char path[PATH_MAX + USB_RESULT_NAME_BYTES + 1];
    uint64_t before = t->taken_bytes;
    bool good;
    int result;

    snprintf(path, sizeof path, "%s/hr.bin", t->temporary);
    result = collect_trace(t, path, &good);
    if (result != 0)
        return result;
    t->has_trace = true;
    if (good) {
        t->bytes += t->trace_bytes;
        return audit(t, path);
    }
    t->taken_bytes = before; /* these bytes are read a second time */
    result = usb_take_plain(t, USB_TRACE);
    return result == 0 ? audit(t, path) : result;
}

struct files {
    struct keep_files keep;
    uint64_t bytes;
};

static int keep(void *context, const void *bytes, size_t count)
{
    struct files *files = context;

    files->bytes += count;
    keep_files_take(&files->keep, bytes, count);
    return -files->keep.error;
}

/* Estimates the guest's memory from the size of the messages: a file of some bytes takes a page
 * here, and a name without contents took a kilobyte there. */
static uint64_t memory_bytes(const struct usb_take *t)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < t->result.file_count; i++)
        bytes += t->result.files[i].stream == USB_FILES ? t->result.files[i].bytes : 0;
    if (bytes == 0 || bytes > t->source->bytes)
        bytes = t->source->bytes;
    return FILES_FLOOR_BYTES + FILES_GROWTH * bytes;
}

int usb_take_files(struct usb_take *t)
{
    char path[PATH_MAX + USB_RESULT_NAME_BYTES + 1];
    struct files *files = calloc(1, sizeof *files);
    bool good = true;
    int result;

    if (files == NULL)
        return run_fail(t->failure, "out of memory; end other programs");
    snprintf(path, sizeof path, "%s/files", t->temporary);
    result = keep_files_open(&files->keep, path, memory_bytes(t));
    if (result != 0) {
        fail_host(t, "files", result);
    } else {
        result = read_stream(t, USB_FILES, keep, files, &good);
        if (files->keep.bad != NULL)
            usb_take_problem(t, USB_TAKEN_DAMAGED, "files.bin: %s", files->keep.bad);
        else if (good && !files->keep.ended)
            usb_take_problem(t, USB_TAKEN_INCOMPLETE, "files.bin stops before its end");
        t->bytes += files->bytes;
        keep_files_close(&files->keep);
    }
    free(files);
    return result == 0 ? 0 : -1;
}
