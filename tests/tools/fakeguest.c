/* Plays the emulator and the guest for tests of hr run: speaks the ports over the sockets that
 * -chardev socket,id=portN,fd=N names, without booting anything.
 *
 * FAKEGUEST chooses the part: normal, cat, output, death, garbage, badchunk, panic, endless, deaf,
 * slow, refused, uncounted, crash, counters, fds, reads, donetwice, endtwice, hostile, logflood,
 * tiny, files, files-death, files-bad (with FAKEGUEST_BAD). FAKEGUEST_CHUNKS: number of DATA
 * chunks, default 10.  FAKEGUEST_STATUS: exit status. FAKEGUEST_BYTES: of output to stdout, default
 * 0.  FAKEGUEST_VENDOR, FAKEGUEST_CPU: flag and value of RUN_GUEST_CPU for the part counters, which
 * writes the host's answers to stdout.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/run_ports.h"
#include "lib/trace_writer.h"

#define EVENTS 2
#define SAMPLES_A_CHUNK 1000
#define CHUNK_BYTES 65536

enum { TRACE, OUTPUT, ERRORS, LOG, INPUT, CONTROL, CONSOLE, FILES, PORTS };

static int ports[PORTS];
static struct trace_writer meta_writer;
static struct trace_writer data_writer;
static uint8_t meta_buffer[TRACE_CHUNK_BYTES_MIN];
static uint8_t data_buffer[CHUNK_BYTES];
static uint64_t now_ticks;

static void send_all(int port, const void *bytes, size_t count)
{
    const char *p = bytes;

    while (count > 0) {
        ssize_t written = write(port, p, count);

        if (written < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (written <= 0)
            _exit(3);
        p += written;
        count -= (size_t)written;
    }
}

static void receive_all(int port, void *bytes, size_t count)
{
    char *p = bytes;

    while (count > 0) {
        ssize_t got = read(port, p, count);

        if (got <= 0)
            _exit(4);
        p += got;
        count -= (size_t)got;
    }
}

static void say(enum run_message_type type, uint64_t value)
{
    struct run_message message = {.type = type, .value = value};

    send_all(ports[CONTROL], &message, sizeof message);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void send_chunk(struct trace_writer *w)
{
    uint32_t bytes = trace_writer_finish(w);

    send_all(ports[TRACE], w->buffer, bytes);
}

static void send_start(enum hr_source source, uint16_t events)
{
    static const char *const names[EVENTS] = {"instructions", "cycles"};
    const struct hr_meta_clock clock = {1000000000, 0, 0, HR_CLOCK_VIRTUAL, 0};
    const struct hr_meta_sampling sampling = {
        .interval_ticks = 1000, .mode = HR_MODE_TIMER, .event_count = events, .ring_slots = 1024};
    struct hr_file_header header;

    trace_file_header(&header);
    send_all(ports[TRACE], &header, sizeof header);
    trace_writer_init(&meta_writer, meta_buffer, sizeof meta_buffer, HR_CPU_NONE, EVENTS);
    trace_writer_init(&data_writer, data_buffer, sizeof data_buffer, 0, EVENTS);
    trace_writer_begin(&meta_writer, HR_CHUNK_META);
    trace_writer_record(&meta_writer, HR_META_CLOCK, TRACE_NO_TIME, &clock, sizeof clock, NULL, 0);
    trace_writer_record(&meta_writer, HR_META_SAMPLING, TRACE_NO_TIME, &sampling, sizeof sampling,
                        NULL, 0);
    for (uint16_t i = 0; i < events; i++) {
        const struct hr_meta_event event = {
            .index = i, .source = source, .width_bits = 64, .flags = HR_EVENT_USER};

        trace_writer_record(&meta_writer, HR_META_EVENT, TRACE_NO_TIME, &event, sizeof event,
                            names[i], (uint32_t)strlen(names[i]));
    }
    send_chunk(&meta_writer);
}

static void send_data(void)
{
    trace_writer_begin(&data_writer, HR_CHUNK_DATA);
    for (int i = 0; i < SAMPLES_A_CHUNK; i++) {
        struct trace_slot slot = {.ip = 0x401000 + (now_ticks & 0xfff), .tid = 1, .cost_ticks = 9};

        now_ticks += 1000;
        slot.time = now_ticks;
        slot.counters[0] = now_ticks;
        slot.counters[1] = now_ticks * 2;
        if (trace_writer_sample(&data_writer, &slot) != 0)
            break;
    }
    send_chunk(&data_writer);
}

static void send_end(enum hr_exit_kind kind, uint32_t code)
{
    const struct hr_rec_exit end = {
        .time = now_ticks, .user_ticks = now_ticks, .kind = kind, .code = code};
    const struct hr_rec_stream stream = {
        .samples = data_writer.samples, .chunks = data_writer.sequence, .cpu = 0};

    trace_writer_begin(&meta_writer, HR_CHUNK_END);
    trace_writer_record(&meta_writer, HR_REC_EXIT, now_ticks, &end, sizeof end, NULL, 0);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_rec_total total = {.value = now_ticks * (i + 1u), .index = i};

        trace_writer_record(&meta_writer, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL,
                            0);
    }
    trace_writer_record(&meta_writer, HR_REC_STREAM, TRACE_NO_TIME, &stream, sizeof stream, NULL,
                        0);
    send_chunk(&meta_writer);
}

__attribute__((noreturn)) static void finish(enum hr_exit_kind kind, uint32_t code)
{
    send_end(kind, code);
    say(RUN_GUEST_DONE, 0);
    _exit(RUN_EXIT_DONE * 2 + 1);
}

/* Ends the run as the host asks when a stop message has come. */
static void obey(int wait_ms)
{
    struct pollfd p = {.fd = ports[CONTROL], .events = POLLIN};
    struct run_message message;

    if (poll(&p, 1, wait_ms) <= 0)
        return;
    receive_all(ports[CONTROL], &message, sizeof message);
    if (message.type == RUN_HOST_BROKEN)
        finish(HR_EXIT_SIGNAL, SIGPIPE);
    if (message.type == RUN_HOST_STOP)
        finish(message.flag ? HR_EXIT_TIMEOUT : HR_EXIT_SIGNAL, (uint32_t)message.value);
}

/* A pattern that shows every shift, swap and loss. */
static void send_pattern(uint64_t count)
{
    char bytes[4096];

    for (uint64_t done = 0; done < count;) {
        size_t now = count - done < sizeof bytes ? (size_t)(count - done) : sizeof bytes;

        for (size_t i = 0; i < now; i++)
            bytes[i] = (char)((done + i) * 2654435761u >> 13);
        send_all(ports[OUTPUT], bytes, now);
        done += now;
        obey(0);
    }
}

static void copy_input(void)
{
    char bytes[RUN_STDIN_FRAME_MAX];
    uint32_t count;

    do {
        say(RUN_GUEST_READ, sizeof bytes);
        receive_all(ports[INPUT], &count, sizeof count);
        if (count > sizeof bytes)
            _exit(5);
        receive_all(ports[INPUT], bytes, count);
        send_all(ports[OUTPUT], bytes, count);
    } while (count > 0);
}

static void play_normal(void)
{
    uint64_t chunks = setting("FAKEGUEST_CHUNKS", 10);

    for (uint64_t i = 0; i < chunks; i++) {
        send_data();
        obey(0);
    }
    send_pattern(setting("FAKEGUEST_BYTES", 0));
}

static void play_cat(void)
{
    play_normal();
    copy_input();
}

static void play_death(void)
{
    play_normal();
    fprintf(stderr, "fakeguest: about to die\n");
    kill(getpid(), SIGKILL);
}

static void play_garbage(void)
{
    char bytes[4096];

    play_normal();
    memset(bytes, 0x5a, sizeof bytes);
    send_all(ports[TRACE], bytes, sizeof bytes);
    send_all(ports[CONTROL], bytes, sizeof bytes);
    for (;;)
        obey(1000);
}

/* A chunk whose payload does not match its checksum. */
static void play_badchunk(void)
{
    uint32_t bytes;

    play_normal();
    trace_writer_begin(&data_writer, HR_CHUNK_DATA);
    bytes = trace_writer_finish(&data_writer);
    data_buffer[bytes - 1] ^= 1;
    send_all(ports[TRACE], data_buffer, bytes);
    for (;;)
        obey(1000);
}

static void play_panic(void)
{
    static const char report[] = "kernel starts\npanic: test of the report\n"
                                 "  rip ffffffff80100000\x1b[31m\n";

    play_normal();
    send_all(ports[CONSOLE], report, sizeof report - 1);
    _exit(RUN_EXIT_PANIC * 2 + 1);
}

static void play_endless(void)
{
    for (;;) {
        send_data();
        obey(20);
    }
}

static void play_deaf(void)
{
    for (;;) {
        send_data();
        poll(NULL, 0, 20);
    }
}

static void play_slow(void)
{
    for (int i = 0; i < 20; i++) {
        send_data();
        obey(100);
    }
}

/* Asks for the encodings of its events, writes them down, asks again and hears nothing. */
static void play_counters(void)
{
    struct run_message message = {.type = RUN_GUEST_CPU,
                                  .flag = (uint32_t)setting("FAKEGUEST_VENDOR", RUN_CPU_INTEL),
                                  .value = setting("FAKEGUEST_CPU", 0)};
    struct pollfd p = {.fd = ports[CONTROL], .events = POLLIN};
    char line[64];

    send_all(ports[CONTROL], &message, sizeof message);
    send_all(ports[CONTROL], &message, sizeof message);
    do {
        receive_all(ports[CONTROL], &message, sizeof message);
        snprintf(line, sizeof line, "%u %u %llx\n", message.type, message.flag,
                 (unsigned long long)message.value);
        send_all(ports[OUTPUT], line, strlen(line));
    } while (message.type != RUN_HOST_EVENTS_END);
    if (poll(&p, 1, 100) > 0)
        _exit(7);
    send_start(HR_SOURCE_PMU, EVENTS);
    play_normal();
}

static void play_refused(void)
{
    finish(HR_EXIT_REFUSED, ENOEXEC);
}

/* A kernel that cannot count what was asked for. */
static void play_uncounted(void)
{
    static const char notice[] = "notice: event r81d0: no counters\n";

    send_all(ports[LOG], notice, sizeof notice - 1);
    finish(HR_EXIT_REFUSED, ENOENT);
}

static void play_crash(void)
{
    play_normal();
    finish(HR_EXIT_SIGNAL, SIGSEGV);
}

static void put_output(const char *text)
{
    send_all(ports[OUTPUT], text, strlen(text));
}

/* Says which descriptors it was given. */
static void play_fds(void)
{
    char text[32];
    int first = -1;

    put_output("fds:");
    for (int fd = 0; fd <= 1024; fd++) {
        bool is_open = fcntl(fd, F_GETFD) >= 0;

        if (is_open && first < 0)
            first = fd;
        if (is_open || first < 0)
            continue;
        snprintf(text, sizeof text, " %d-%d", first, fd - 1);
        put_output(text);
        first = -1;
    }
    put_output("\n");
}

/* Asks, takes one frame, and passes it on to stdout. */
static uint32_t pass_frame(uint64_t wanted)
{
    char bytes[RUN_STDIN_FRAME_MAX];
    uint32_t count = 0;

    say(RUN_GUEST_READ, wanted);
    receive_all(ports[INPUT], &count, sizeof count);
    if (count > sizeof bytes)
        _exit(5);
    receive_all(ports[INPUT], bytes, count);
    send_all(ports[OUTPUT], bytes, count);
    return count;
}

/* A request for nothing gets a byte: an empty frame would be the end of the file. */
static void play_reads(void)
{
    if (pass_frame(0) != 1)
        _exit(6);
    say((enum run_message_type)0xffffffff, UINT64_MAX);
    pass_frame(UINT64_MAX);
}

/* Never ends, and says every second that it has. */
static void play_donetwice(void)
{
    send_data();
    for (;;) {
        say(RUN_GUEST_DONE, 0);
        poll(NULL, 0, 1000);
    }
}

static void play_endtwice(void)
{
    send_data();
    send_end(HR_EXIT_STATUS, 0);
    send_end(HR_EXIT_STATUS, 1);
    for (;;)
        obey(1000);
}

/* Well-formed records full of nonsense: times, counts and text as bad as they come. */
static void play_hostile(void)
{
    static const char text[] = "\x1b]0;title\x07\x1b[2J,\"'\n\r\xff\xc3";
    const struct hr_rec_mark mark = {.time = UINT64_MAX, .tid = UINT32_MAX};
    const struct hr_rec_lost lost = {.time_first = UINT64_MAX, .count = UINT64_MAX};
    const struct hr_rec_fault fault = {.time = UINT64_MAX,
                                       .ip = UINT64_MAX,
                                       .address = UINT64_MAX,
                                       .signal = UINT32_MAX,
                                       .vector = UINT32_MAX,
                                       .tid = UINT32_MAX};
    const uint64_t times[] = {UINT64_MAX, 0, UINT64_MAX - 1, 1, 1ull << 63};
    char info[128];
    int bytes = snprintf(info, sizeof info, "program.args%c%s", 0, text);

    trace_writer_begin(&meta_writer, HR_CHUNK_META);
    trace_writer_record(&meta_writer, HR_META_INFO, TRACE_NO_TIME, info, (uint32_t)bytes + 1, NULL,
                        0);
    send_chunk(&meta_writer);
    trace_writer_begin(&data_writer, HR_CHUNK_DATA);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct trace_slot slot = {.time = times[i], .ip = times[i], .counters = {times[i], i}};

        trace_writer_sample(&data_writer, &slot);
    }
    trace_writer_record(&data_writer, HR_REC_MARK, TRACE_NO_TIME, &mark, sizeof mark, text,
                        sizeof text);
    trace_writer_record(&data_writer, HR_REC_LOST, TRACE_NO_TIME, &lost, sizeof lost, NULL, 0);
    trace_writer_record(&data_writer, HR_REC_FAULT, TRACE_NO_TIME, &fault, sizeof fault, NULL, 0);
    send_chunk(&data_writer);
    send_all(ports[LOG], "notice: ", 8);
    send_all(ports[LOG], text, sizeof text);
    now_ticks = UINT64_MAX;
    finish(HR_EXIT_SIGNAL, UINT32_MAX);
}

/* Log and console without end, a line without end first. */
static void play_logflood(void)
{
    char bytes[4096];

    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < 5000; i++) {
        send_all(ports[LOG], bytes, sizeof bytes);
        send_all(ports[CONSOLE], bytes, sizeof bytes);
        bytes[i % 256] = '\n';
    }
}

/* The smallest chunks that there are. */
static void play_tiny(void)
{
    static char batch[1 << 20];
    uint64_t chunks = setting("FAKEGUEST_CHUNKS", 1000);
    size_t used = 0;

    for (uint64_t i = 0; i < chunks; i++) {
        uint32_t bytes;

        trace_writer_begin(&data_writer, HR_CHUNK_DATA);
        bytes = trace_writer_finish(&data_writer);
        memcpy(batch + used, data_buffer, bytes);
        used += bytes;
        if (used > sizeof batch - 4096 || i == chunks - 1) {
            send_all(ports[TRACE], batch, used);
            used = 0;
        }
    }
}

static void send_file(uint32_t type, uint64_t id, uint64_t offset, const void *bytes,
                      uint32_t count)
{
    const struct run_file_message m = {.type = type,
                                       .bytes = count,
                                       .id = id,
                                       .offset = offset,
                                       .mode = 06751,
                                       .modified = 1700000000123456789};

    send_all(ports[FILES], &m, sizeof m);
    send_all(ports[FILES], bytes, count);
}

static void send_path(uint32_t type, uint64_t id, uint64_t offset, const char *path)
{
    send_file(type, id, offset, path, (uint32_t)strlen(path));
}

/* A small file, one with holes, one that grew piece by piece and backwards, an empty one. */
static void send_contents(void)
{
    static char block[RUN_FILE_BYTES_MAX];

    memset(block, 'b', sizeof block);
    send_file(RUN_FILE_DATA, 1, 0, "hello\n", 6);
    send_file(RUN_FILE_DATA, 2, 1 << 20, block, sizeof block);
    for (uint64_t i = 0; i < 8; i++) {
        memset(block, (int)('0' + i), sizeof block);
        send_file(RUN_FILE_DATA, UINT64_MAX, (7 - i) * sizeof block, block, sizeof block);
    }
    send_file(RUN_FILE_DATA, 1, 1, "E", 1);
}

static void play_files(void)
{
    play_normal();
    send_contents();
    send_path(RUN_FILE_DIRECTORY, 0, 0, "/out");
    send_path(RUN_FILE_NAME, 1, 5, "/out/hello");
    send_path(RUN_FILE_NAME, 2, (1 << 20) + (1 << 18), "/out/holes");
    send_path(RUN_FILE_NAME, UINT64_MAX, 8 * RUN_FILE_BYTES_MAX, "/out/deep/er/pieces");
    send_path(RUN_FILE_NAME, 77, 0, "/empty");
    send_path(RUN_FILE_LINK, 0, 9, "/out/link/etc/passwd");
    send_path(RUN_FILE_REMOVED, 0, 0, "/etc/passwd");
    send_path(4711, 0, 0, "of a newer guest");
    send_path(RUN_FILE_MISSING, 0, 0, "/no/such/file");
    send_path(RUN_FILE_MISSING, 0, 0, "/etc/passwd");
    send_path(RUN_FILE_MISSING, 0, 0, "/no/escape\x1b[31m");
    send_path(RUN_FILE_END, 0, 3, "");
}

static void play_files_death(void)
{
    send_data();
    send_contents();
    kill(getpid(), SIGKILL);
}

/* FAKEGUEST_BAD says which of these. */
static void play_files_bad(void)
{
    static const char *const names[] = {"/../up",
                                        "relative",
                                        "/a//b",
                                        "/",
                                        "/a/./b",
                                        "",
                                        "/a/",
                                        "/link/in",
                                        "/deep/../x",
                                        "/dir",
                                        "/file/in",
                                        "/microtome-incomplete-000/7",
                                        "/dir/microtome-incomplete-1"};
    static char large[RUN_FILE_BYTES_MAX];
    struct run_file_message m = {.type = RUN_FILE_DATA, .bytes = UINT32_MAX};
    uint64_t kind = setting("FAKEGUEST_BAD", 0);

    send_data();
    send_path(RUN_FILE_LINK, 0, 5, "/link/tmp");
    send_path(RUN_FILE_DIRECTORY, 0, 0, "/dir");
    send_path(RUN_FILE_NAME, 9, 0, "/file");
    send_file(RUN_FILE_DATA, 1, 0, "x", 1);
    memset(large, 'x', sizeof large);
    if (kind < sizeof names / sizeof names[0])
        send_path(RUN_FILE_NAME, 1, 1, names[kind]);
    else if (kind == 20)
        send_all(ports[FILES], &m, sizeof m);
    else if (kind == 21)
        send_file(RUN_FILE_DATA, 1, UINT64_MAX, "x", 1);
    else if (kind == 22)
        send_path(RUN_FILE_NAME, 1, UINT64_MAX, "/huge");
    else if (kind == 23)
        send_file(RUN_FILE_NAME, 1, 1, "/nul\0x", 6);
    else if (kind == 24)
        send_path(RUN_FILE_LINK, 0, 100, "/short");
    else if (kind == 25)
        send_file(RUN_FILE_NAME, 1, 1, large, sizeof large);
    else if (kind == 26)
        for (uint64_t id = 2;; id++) { /* without end */
            for (uint64_t i = 0; i < 16; i++)
                send_file(RUN_FILE_DATA, id, i * sizeof large, large, sizeof large);
            obey(0);
        }
    else if (kind == 28)
        for (;;) /* names without end */
            send_path(RUN_FILE_DIRECTORY, 0, 0, "/again");
    else if (kind == 27)
        for (uint64_t i = 0; i < 1000; i++)
            send_file(RUN_FILE_DATA, 2, i * sizeof large, large, sizeof large);
    for (;;)
        obey(1000);
}

static const struct {
    const char *name;
    void (*play)(void);
} parts[] = {
    {"normal", play_normal},
    {"cat", play_cat},
    {"output", play_normal},
    {"death", play_death},
    {"garbage", play_garbage},
    {"badchunk", play_badchunk},
    {"panic", play_panic},
    {"endless", play_endless},
    {"deaf", play_deaf},
    {"slow", play_slow},
    {"refused", play_refused},
    {"crash", play_crash},
    {"fds", play_fds},
    {"reads", play_reads},
    {"donetwice", play_donetwice},
    {"endtwice", play_endtwice},
    {"hostile", play_hostile},
    {"logflood", play_logflood},
    {"tiny", play_tiny},
    {"counters", play_counters},
    {"uncounted", play_uncounted},
    {"files", play_files},
    {"files-death", play_files_death},
    {"files-bad", play_files_bad},
};

static void find_ports(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        unsigned port;
        int fd;

        if (sscanf(argv[i], "socket,id=port%u,fd=%d", &port, &fd) == 2 && port < PORTS)
            ports[port] = fd;
    }
}

int main(int argc, char **argv)
{
    const char *name = getenv("FAKEGUEST");

    find_ports(argc, argv);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(parts[i].name, name != NULL ? name : "normal") == 0) {
            if (parts[i].play != play_counters) /* it knows its events later */
                send_start(HR_SOURCE_STUB, parts[i].play == play_uncounted ? 0 : EVENTS);
            parts[i].play();
            finish(HR_EXIT_STATUS, (uint32_t)setting("FAKEGUEST_STATUS", 0));
        }
    fprintf(stderr, "fakeguest: unknown part\n");
    return 6;
}
