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
#include "tests/tools/fakeguest.h"
#include "tests/tools/fakeguest_files.h"

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
