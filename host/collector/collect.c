/* Verifies the trace stream and appends it to hr.bin in whole chunks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/base/transfer.h"
#include "host/collector/collect.h"
#include "lib/trace/trace_reader.h"
#include "lib/trace/trace_writer.h"

/* Under load the file is written in blocks of this size and alignment, which file systems accept a
 * quarter faster than unaligned ones.  The blocks and what follows them fit into the second-level
 * cache. */
#define BLOCK_BYTES COLLECT_TAKE_BYTES
#define DRIFT_BYTES (512u << 10) /* the buffer moves back to its start after this many bytes */
#define FILE_HEADER_BYTES_MAX 65536u
#define CHUNK_BYTES_MAX (sizeof(struct hr_chunk_header) + HR_CHUNK_PAYLOAD_MAX)
/* The drift and one drop of written pieces, and then: a partly written chunk, a block that waits,
 * an incomplete chunk, and one read. */
#define BUFFER_BYTES (DRIFT_BYTES + 3 * CHUNK_BYTES_MAX + 3ul * BLOCK_BYTES)

int collect_init(struct collector *c, size_t index_max)
{
    *c = (struct collector){
        .fd = -1, .file = {.fd = -1}, .start_ns = monotonic_ns(), .index_max = index_max};
    trace_index_init(&c->index);
    c->memory = malloc(BUFFER_BYTES);
    c->buffer = c->memory;
    return c->memory != NULL ? 0 : -ENOMEM;
}

int collect_open(struct collector *c, const char *path, bool force, const struct stat *input,
                 struct run_failure *failure)
{
    const struct output_file_wish wish = {
        .kind = OUTPUT_TRACE, .force = force, .keeps_former = true, .input = input};
    struct stat status;
    int result = collect_init(c, TRACE_INDEX_ENTRIES_MAX);

    if (strcmp(path, "-") == 0)
        run_fail(failure, "--output -: a trace cannot go to standard output; name a file");
    else if (output_file_open(&c->file, path, &wish, failure) != 0)
        ;
    /* A reader that stalls would block the run and its handling of signals. */
    else if (fstat(c->file.fd, &status) != 0 || S_ISFIFO(status.st_mode) || isatty(c->file.fd))
        run_fail(failure,
                 "cannot write the trace '%s': a pipe or a terminal; name a file with --output",
                 path);
    else if (result != 0)
        run_fail(failure, "out of memory; end other programs");
    else {
        c->fd = c->file.fd;
        c->named = c->file.partial == NULL; /* a device */
        return 0;
    }
    output_file_close(&c->file, false);
    free(c->memory);
    return -1;
}

/* *written_bytes says how far it came. */
/* Cuts a partly written chunk off again; a device cannot be cut and needs no cutting. */
static void cut_back(struct collector *c)
{
    if (ftruncate(c->fd, (off_t)c->offset) == 0)
        (void)lseek(c->fd, (off_t)c->offset, SEEK_SET);
}

/* Returns the length of the file header if it is complete and valid, otherwise 0. */
static size_t take_file_header(struct collector *c)
{
    uint32_t first_chunk = 0;
    enum trace_status status;

    if (c->used < sizeof(struct hr_file_header))
        return 0;
    status = trace_check_file(c->buffer, c->used, &first_chunk);
    if (status == TRACE_SHORT && c->used < FILE_HEADER_BYTES_MAX)
        return 0;
    if (status != TRACE_OK || first_chunk > FILE_HEADER_BYTES_MAX) {
        c->bad = status == TRACE_OK ? "the file header is too long" : trace_status_text(status);
        return 0;
    }
    if (first_chunk > c->used)
        return 0;
    c->has_header = true;
    return first_chunk;
}

/* Verifies the pieces in the buffer that have become complete. */
static void scan(struct collector *c)
{
    if (!c->has_header)
        c->verified = take_file_header(c);
    while (c->has_header && c->bad == NULL) {
        struct hr_chunk_header header;
        const uint8_t *chunk = c->buffer + c->verified;
        size_t available = c->used - c->verified;
        enum trace_status status;

        if (available < sizeof header)
            break;
        status = trace_check_header(chunk, available, &header);
        if (status == TRACE_OK && available - sizeof header < header.payload_bytes)
            break;
        if (status == TRACE_OK)
            status = trace_check_payload(&header, chunk + sizeof header);
        c->bad = status != TRACE_OK ? trace_status_text(status)
                                    : collect_note_chunk(c, &header, chunk + sizeof header,
                                                         collect_whole_bytes(c));
        if (c->bad == NULL)
            c->verified += sizeof header + header.payload_bytes;
    }
}

/* Returns the length of the piece (file header, chunk) at this place of the verified bytes. */
static size_t piece_bytes(const struct collector *c, size_t at, struct hr_chunk_header *header)
{
    uint32_t first_chunk = 0;

    if (c->offset + at == 0) {
        memset(header, 0, sizeof *header);
        return trace_check_file(c->buffer, c->used, &first_chunk) == TRACE_OK ? first_chunk : 0;
    }
    memcpy(header, c->buffer + at, sizeof *header);
    return sizeof *header + header->payload_bytes;
}

/* Drops the pieces that are completely in the file; the buffer then begins with one that is not. */
static void drop_written(struct collector *c)
{
    struct hr_chunk_header header;
    size_t gone = 0;

    while (gone < c->written) {
        size_t bytes = piece_bytes(c, gone, &header);
        if (bytes == 0 || c->written - gone < bytes)
            break;
        gone += bytes;
    }
    c->offset += gone;
    c->used -= gone;
    c->verified -= gone;
    c->written -= gone;
    c->buffer += gone;
}

/* Moves the buffer back to the start of its memory, but only rarely. */
static void make_room(struct collector *c)
{
    if ((size_t)(c->buffer - c->memory) < DRIFT_BYTES)
        return;
    memmove(c->memory, c->buffer, c->used);
    c->buffer = c->memory;
}

/* After a failed write: pieces that are not completely in the file were never counted. */
static void give_up(struct collector *c, int error)
{
    struct hr_chunk_header header;

    c->write_error = error;
    drop_written(c);
    for (size_t at = 0; at < c->verified;) {
        bool file_header = c->offset + at == 0;
        size_t bytes = piece_bytes(c, at, &header);

        if (bytes == 0)
            break;
        at += bytes;
        if (file_header) {
            c->has_header = false;
            continue;
        }
        c->samples -= header.sample_count;
        c->lost -= header.lost_count;
        c->index.count -= !c->index_full;
        if (header.type == HR_CHUNK_END)
            c->has_end = c->has_exit = false;
    }
    cut_back(c);
    c->used = c->verified = c->written = 0;
}

/* A run that was refused does not replace an earlier trace. */
static int take_name(struct collector *c)
{
    bool refused =
        (c->has_exit && c->exit.kind == HR_EXIT_REFUSED) || (c->needs_pmu && c->unmeasured[0] != 0);
    int result = !c->named && c->has_meta && !refused ? output_file_take_name(&c->file) : 0;

    c->named |= c->file.partial == NULL;
    return result;
}

/* Writes the verified bytes up to `target` of the buffer to the file. */
static void write_up_to(struct collector *c, size_t target)
{
    size_t written;
    int result;

    if (target <= c->written)
        return;
    result = transfer_write(c->fd, c->buffer + c->written, target - c->written, &written);
    c->written += written;
    if (result != 0)
        give_up(c, -result);
    else
        drop_written(c);
    if (result == 0 ? c->has_data || c->has_end : c->samples != 0)
        result = take_name(c);
    if (result != 0 && c->write_error == 0)
        c->write_error = -result;
}

/* While more data are waiting, writes whole blocks only; otherwise writes everything, so that the
 * file is up to date when the stream is idle. */
static void write_verified(struct collector *c, int from)
{
    uint64_t end = c->offset + c->verified;
    int waiting = 0;

    if (c->bad == NULL && !c->has_end && ioctl(from, FIONREAD, &waiting) == 0 && waiting > 0)
        end -= end % BLOCK_BYTES;
    if (end > c->offset)
        write_up_to(c, (size_t)(end - c->offset));
}

ssize_t collect_receive(struct collector *c, int from)
{
    ssize_t received;

    make_room(c);
    received = read(from, c->buffer + c->used, BLOCK_BYTES);
    if (received <= 0)
        return received < 0 ? -errno : 0;
    c->received_bytes += (uint64_t)received;
    if (c->bad != NULL || c->write_error != 0)
        return received;
    c->used += (size_t)received;
    scan(c);
    write_verified(c, from);
    if (c->bad != NULL || c->write_error != 0)
        c->used = c->verified = c->written = 0;
    return received;
}

void collect_take(struct collector *c, const void *bytes, size_t count)
{
    uint64_t blocks;

    if (c->bad != NULL || c->write_error != 0)
        return;
    make_room(c);
    memcpy(c->buffer + c->used, bytes, count);
    c->used += count;
    c->received_bytes += count;
    scan(c);
    blocks = collect_whole_bytes(c) / BLOCK_BYTES * BLOCK_BYTES;
    if (blocks > c->offset)
        write_up_to(c, (size_t)(blocks - c->offset));
}

void collect_flush(struct collector *c)
{
    write_up_to(c, c->verified);
}

/* Appends a chunk of the collector. */
static int append(struct collector *c, const uint8_t *chunk, uint32_t bytes)
{
    size_t written;
    int result = transfer_write(c->fd, chunk, bytes, &written);

    if (result == 0) {
        collect_index_chunk(c, (const struct hr_chunk_header *)(const void *)chunk, c->offset);
        c->offset += bytes;
    }
    return result;
}

static int write_host_chunk(struct collector *c, enum hr_host_reason reason, const char *message)
{
    /* On the stack, because several runs may end at once, in a thread each. */
    _Alignas(struct hr_chunk_header) uint8_t buffer[TRACE_CHUNK_BYTES_MIN];
    struct hr_host_end end = {.wall_ns = monotonic_ns() - c->start_ns, .reason = reason};
    struct trace_writer writer;
    uint32_t bytes;
    int result;

    trace_writer_init(&writer, buffer, sizeof buffer, HR_CPU_NONE, 0);
    trace_writer_begin(&writer, HR_CHUNK_HOST);
    result = trace_writer_record(&writer, HR_HOST_END, TRACE_NO_TIME, &end, sizeof end, message,
                                 (uint32_t)strnlen(message, 2048));
    bytes = trace_writer_finish(&writer);
    return result == 0 ? append(c, buffer, bytes) : result;
}

int collect_add(struct collector *c, const uint8_t *chunk, uint32_t bytes)
{
    int result;

    collect_flush(c);
    if (c->write_error != 0 || !c->has_header)
        return -c->write_error;
    result = append(c, chunk, bytes);
    if (result != 0)
        give_up(c, -result);
    return result;
}

static int close_and_free(struct collector *c, int result)
{
    int closed;

    if (c->file.name != NULL)
        closed = output_file_close(&c->file, c->named);
    else
        closed = close(c->fd) != 0 ? -errno : 0;
    if (result == 0)
        result = closed;
    c->fd = -1;
    collect_free_index(c);
    free(c->memory);
    c->memory = c->buffer = NULL;
    return c->write_error != 0 ? -c->write_error : result;
}

int collect_suspend(struct collector *c)
{
    collect_flush(c);
    return close_and_free(c, 0);
}

int collect_close(struct collector *c, enum hr_host_reason reason, const char *message)
{
    uint64_t index_bytes = 0;
    int result = 0;

    collect_flush(c);
    if (c->has_header && c->offset > 0) {
        result = write_host_chunk(c, reason, message);
        if (result == 0 && !c->index_full)
            result = trace_index_append(&c->index, c->fd, c->offset, &index_bytes);
        if (result == 0)
            c->offset += index_bytes;
        else
            cut_back(c);
    }
    if (c->file.name != NULL && c->write_error == 0) {
        int error = take_name(c);

        result = result == 0 ? error : result;
    }
    return close_and_free(c, result);
}

enum hr_host_reason collect_reason(const struct collector *c)
{
    if (c->bad != NULL)
        return HR_HOST_BAD_STREAM;
    return c->has_end ? HR_HOST_COMPLETE : HR_HOST_GUEST_DIED;
}
