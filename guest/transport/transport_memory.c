/* On a machine without a host: frames go into memory that the loader gave, and that it reads when
 * the kernel has returned.  It never waits; what does not fit is dropped and counted.
 *
 * What is left of the memory is kept in steps: samples leave a margin for everything else, records
 * that are no samples half of it, stdout and files a part for stderr, that one for the log, and
 * nothing but the end of the trace takes what that needs.
 */
#include <errno.h>
#include <string.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/memory/phys.h"
#include "guest/transport/transport.h"
#include "lib/boot/run_buffer.h"

#define MARGIN_SHARE 16 /* the margin is one of so many parts of the buffer, within limits */
#define MARGIN_BYTES_MIN (256ull << 10)
#define MARGIN_BYTES_MAX (16ull << 20)
#define LOG_BYTES_KEPT (64ull << 10)
#define STDERR_BYTES_KEPT (64ull << 10)

static const enum run_stream_port stream_ports[TRANSPORT_PORTS] = {
    [TRANSPORT_TRACE] = RUN_STREAM_TRACE,   [TRANSPORT_STDOUT] = RUN_STREAM_STDOUT,
    [TRANSPORT_STDERR] = RUN_STREAM_STDERR, [TRANSPORT_LOG] = RUN_STREAM_LOG,
    [TRANSPORT_FILES] = RUN_STREAM_FILES,
};

static const char *const names[TRANSPORT_PORTS] = {
    [TRANSPORT_STDOUT] = "of stdout",
    [TRANSPORT_STDERR] = "of stderr",
    [TRANSPORT_LOG] = "of this log",
    [TRANSPORT_FILES] = "of files",
};

static struct run_buffer buffer;
static struct boot_result *result;
static uint64_t margin_bytes;
static uint64_t dropped[TRANSPORT_PORTS]; /* bytes */

static int transport_memory_init(struct boot_info *boot)
{
    result = &boot->result;
    for (uint32_t i = 0; i < boot->range_count; i++) {
        const struct boot_memory_range *range = &boot->ranges[i];

        if (range->kind == BOOT_MEMORY_BUFFER &&
            run_buffer_add(&buffer, phys_pointer(range->base), range->bytes))
            return -E2BIG;
    }
    margin_bytes = buffer.capacity / MARGIN_SHARE;
    if (margin_bytes < MARGIN_BYTES_MIN)
        margin_bytes = MARGIN_BYTES_MIN;
    if (margin_bytes > MARGIN_BYTES_MAX)
        margin_bytes = MARGIN_BYTES_MAX;
    return 0;
}

static bool transport_memory_has(enum transport_port port)
{
    uint64_t files = 0, missing = 0;

    if (port != TRANSPORT_FILES)
        return stream_ports[port] != RUN_STREAM_END;
    manifest_number(&run.manifest, "keep-files", &files);
    manifest_number(&run.manifest, "missing", &missing);
    return files || missing;
}

static uint64_t room_before(uint64_t kept_bytes)
{
    uint64_t left = buffer.capacity - buffer.used;

    return left > kept_bytes ? left - kept_bytes : 0;
}

static bool trace_room(uint64_t bytes, bool samples)
{
    uint64_t kept = transport_end_bytes + LOG_BYTES_KEPT;

    return run_buffer_fits(room_before(kept + (samples ? margin_bytes : margin_bytes / 2))) >=
           bytes;
}

static uint64_t room_of(enum transport_port port)
{
    uint64_t kept = 0;

    if (port != TRANSPORT_TRACE)
        kept = transport_end_bytes;
    if (port != TRANSPORT_TRACE && port != TRANSPORT_LOG)
        kept += LOG_BYTES_KEPT;
    if (port == TRANSPORT_STDOUT || port == TRANSPORT_FILES)
        kept += STDERR_BYTES_KEPT;
    return run_buffer_fits(room_before(kept));
}

/* A port that has lost bytes loses all later ones, so that its output has no holes. */
static int transport_memory_send(enum transport_port port, const void *bytes, size_t count)
{
    uint64_t room = dropped[port] ? 0 : room_of(port);
    uint64_t taken = count < room ? count : room;
    int status;

    if (port == TRANSPORT_TRACE && taken < count)
        return -ENOSPC;
    status = run_buffer_put(&buffer, stream_ports[port], bytes, taken);
    dropped[port] += count - taken;
    __atomic_store_n(&result->sent_bytes, buffer.used, __ATOMIC_RELEASE);
    return status;
}

static size_t transport_memory_receive(enum transport_port /* port */, void *, size_t /* room */)
{
    return 0;
}

static uint64_t transport_memory_poll(void)
{
    return TRANSPORT_NEVER;
}

/* Writes the notice as the log's last line; without room for it, into the report. */
static void note_dropped(enum transport_port port)
{
    char line[160];

    if (!dropped[port])
        return;
    format_text(line, sizeof line,
                LOG_NOTICE "no room for %lu bytes %s: the buffer has %lu MiB; see buffer in "
                           "microtome.conf\n",
                dropped[port], names[port], buffer.capacity >> 20);
    if (port != TRANSPORT_LOG)
        transport_memory_send(TRANSPORT_LOG, line, strlen(line));
    else
        result->report_bytes =
            (uint32_t)format_text(result->report, sizeof result->report, "%s", line);
}

static uint32_t transport_memory_finish(void)
{
    note_dropped(TRANSPORT_STDOUT);
    note_dropped(TRANSPORT_STDERR);
    note_dropped(TRANSPORT_FILES);
    note_dropped(TRANSPORT_LOG);
    return BOOT_END_DONE;
}

const struct transport transport_memory = {
    .name = "memory",
    .init = transport_memory_init,
    .has = transport_memory_has,
    .send = transport_memory_send,
    .receive = transport_memory_receive,
    .trace_room = trace_room,
    .poll = transport_memory_poll,
    .finish = transport_memory_finish,
};
