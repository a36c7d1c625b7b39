/* Fuzzes a machine's connection to `hr collect --listen tcp:`: hello, frames, broken connections,
 * in pieces of any size.  Whatever comes: what is acknowledged is on the disk, a run keeps to its
 * limit, nothing appears outside the directory.
 *
 * The first byte is the size of the pieces, the second says whether what follows is sent as it is,
 * or as instructions: with checksums, bytes alone would not come far.
 */
#include <dirent.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/collect/stream_connection.h"
#include "lib/trace/trace_writer.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT_BYTES 20000u
#define TRACE_ROOM 8192

enum { PLAIN, FRAME, TRACE, ACK, BREAK, END, OPERATIONS };

static const char no_token[RUN_STREAM_NAME_BYTES];
static char jail[] = "/dev/shm/fuzz_collect_stream.XXXXXX"; /* in memory: runs are synced */
static char root[sizeof jail + 8];
static uint8_t trace[TRACE_ROOM]; /* a good one */
static size_t trace_bytes;
static struct connection c;
static struct stream_run run;
static struct run_hello hello;
static uint64_t promised; /* of the trace: acknowledged, as bytes of its file */
static size_t piece;

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    return at->level == 0 ? 0 : remove(path);
}

static void remove_jail(void)
{
    (void)nftw(jail, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    (void)remove(jail);
}

/* Of the jail's entries all but "kept" would have come from outside of it. */
static void check_jail(void)
{
    DIR *directory = opendir(jail);
    const struct dirent *entry;

    fuzz_check(directory != NULL);
    while ((entry = readdir(directory)) != NULL)
        fuzz_check(strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                   strcmp(entry->d_name, "kept") == 0);
    closedir(directory);
}

static void add_trace(const void *bytes, size_t count)
{
    fuzz_check(trace_bytes + count <= sizeof trace);
    memcpy(trace + trace_bytes, bytes, count);
    trace_bytes += count;
}

static void build_trace(void)
{
    static uint8_t chunk[TRACE_CHUNK_BYTES_MIN];
    const struct hr_meta_sampling sampling = {0};
    struct hr_file_header header;
    struct trace_writer w;

    trace_file_header(&header);
    add_trace(&header, sizeof header);
    trace_writer_init(&w, chunk, sizeof chunk, HR_CPU_NONE, 0);
    trace_writer_begin(&w, HR_CHUNK_META);
    fuzz_check(trace_writer_record(&w, HR_META_SAMPLING, TRACE_NO_TIME, &sampling, sizeof sampling,
                                   NULL, 0) == 0);
    add_trace(chunk, trace_writer_finish(&w));
    trace_writer_begin(&w, HR_CHUNK_END);
    add_trace(chunk, trace_writer_finish(&w));
}

static void begin(void)
{
    c = (struct connection){0};
    stream_connection_take(&c, no_token, &hello, sizeof hello);
    fuzz_check(c.state == CONNECTION_OPENING);
    stream_connection_opened(&c, &run, stream_run_open(&run, root, &hello, LIMIT_BYTES));
    if (c.state == CONNECTION_FRAMES)
        fuzz_check(run.have[RUN_STREAM_TRACE] >= promised);
    stream_connection_sent(&c, c.out_bytes);
}

static void leave(void)
{
    if (!run.open)
        return;
    if (c.state == CONNECTION_FINISHING) {
        fuzz_check(stream_run_finish(&run) == RUN_WELCOME_OK);
        stream_connection_finished(&c, RUN_WELCOME_OK);
        stream_connection_sent(&c, c.out_bytes);
    } else {
        (void)stream_run_suspend(&run, piece % 2 ? 0 : 15);
    }
}

/* What was acknowledged must be found again, even if it is killed now. */
static void acknowledge(void)
{
    uint64_t before = c.acked;

    if (c.state != CONNECTION_FRAMES)
        return;
    stream_connection_ack(&c);
    fuzz_check(c.acked >= before && c.acked <= c.position);
    fuzz_check(stream_connection_unacked(&c) == 0);
    fuzz_check(c.out_bytes <= sizeof(struct run_ack));
    stream_connection_sent(&c, c.out_bytes);
    promised = run.is_bad ? run.have[RUN_STREAM_TRACE] : run.trace.offset;
    if (!c.has_part)
        fuzz_check(promised == run.have[RUN_STREAM_TRACE]);
}

static void send_bytes(const void *bytes, size_t count)
{
    const uint8_t *from = bytes;

    while (count > 0 && c.state == CONNECTION_FRAMES) {
        size_t now = count < piece ? count : piece;

        stream_connection_take(&c, no_token, from, now);
        fuzz_check(run.bytes <= LIMIT_BYTES);
        fuzz_check(stream_run_whole(&run) <= run.have[RUN_STREAM_TRACE]);
        from += now;
        count -= now;
    }
    stream_connection_sent(&c, c.state == CONNECTION_CLOSING ? c.out_bytes : 0);
}

static void send_frame(enum run_stream_port port, uint64_t offset, const void *bytes, size_t count)
{
    struct run_frame frame;

    run_stream_frame(&frame, port, offset, (uint32_t)count);
    send_bytes(&frame, sizeof frame);
    send_bytes(bytes, count);
}

static void send_trace(size_t count)
{
    uint64_t have = run.have[RUN_STREAM_TRACE];

    if (have >= trace_bytes)
        return;
    if (count > trace_bytes - have)
        count = (size_t)(trace_bytes - have);
    send_frame(RUN_STREAM_TRACE, have, trace + have, count);
}

/* An instruction: what, how much, and how far from the right place. */
static size_t obey(const uint8_t *data, size_t size)
{
    size_t count = size >= 3 ? data[1] : 0;

    if (count > size - 3)
        count = size - 3;
    switch (data[0] % OPERATIONS) {
    case PLAIN:
        send_bytes(data + 3, count);
        break;
    case FRAME: {
        enum run_stream_port port = (enum run_stream_port)(data[0] / OPERATIONS % RUN_STREAM_PORTS);
        uint64_t have = c.state == CONNECTION_FRAMES ? run.have[port] : 0;

        send_frame(port, have + (uint64_t)(int64_t)(int8_t)data[2], data + 3,
                   port == RUN_STREAM_END ? 0 : count);
        break;
    }
    case TRACE:
        if (c.state == CONNECTION_FRAMES)
            send_trace(count);
        return 3;
    case ACK:
        acknowledge();
        return 3;
    case BREAK:
        leave();
        begin();
        return 3;
    default:
        send_frame(RUN_STREAM_END, 0, NULL, 0);
        return 3;
    }
    return 3 + count;
}

static void prepare(void)
{
    const uint8_t id[16] = {1};

    fuzz_check(mkdtemp(jail) != NULL);
    fuzz_check(atexit(remove_jail) == 0);
    snprintf(root, sizeof root, "%s/kept", jail);
    fuzz_check(run_stream_hello(&hello, id, NULL, "machine", "run") == 0);
    build_trace();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (trace_bytes == 0)
        prepare();
    if (size < 2)
        return 0;
    piece = data[0] != 0 ? data[0] : 4096;
    promised = 0;
    if (data[1] % 2 != 0) {
        c = (struct connection){0};
        for (size_t at = 2; at < size; at += piece)
            stream_connection_take(&c, no_token, data + at, size - at < piece ? size - at : piece);
        return 0;
    }
    begin();
    for (size_t at = 2; at + 3 <= size;)
        at += obey(data + at, size - at);
    leave();
    check_jail();
    (void)nftw(jail, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
