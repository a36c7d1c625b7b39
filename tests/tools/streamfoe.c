/* Whoever else may come to `hr collect --listen tcp:`: ways to behave badly.
 *
 *   streamfoe KIND PORT [N]
 *
 *   random    N bytes of nonsense at once
 *   nonsense  a good hello, then N bytes of nonsense
 *   gap, long, port, checksum    a good hello, a good frame, a wrong one
 *   flood     N bytes of standard error, frames of 1 byte, without ever reading an answer
 *   crowd     N connections that say nothing; prints how many were taken
 *   silent    a hello, then nothing until the other side closes
 *   drip      a hello, a byte every 50 ms, until the other side closes
 *   hold      a hello; waits for a line on standard input, then sends the end
 *   version, name    a hello like that
 *
 * Prints the status that the collector answered last: "welcome STATUS", "ack STATUS", or "closed".
 */
#include <poll.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/crc32c.h"
#include "tests/tools/streamsocket.h"

#define FLOOD_FRAMES 4096
#define DRIP_NS 50000000
#define CROWD_MAX 20000ul

static int socket_fd;
static struct run_hello hello;

/* Reads answers until the other side closes. */
static void print_end(bool welcomed)
{
    char last[32] = "closed";
    struct run_welcome welcome;
    struct run_ack ack;

    if (!welcomed && receive_all(socket_fd, &welcome, sizeof welcome))
        snprintf(last, sizeof last, "welcome %u", welcome.status);
    while (receive_all(socket_fd, &ack, sizeof ack))
        snprintf(last, sizeof last, "ack %u", ack.status);
    puts(last);
}

static void say_hello(void)
{
    struct run_welcome welcome;

    if (!send_all(socket_fd, &hello, sizeof hello) ||
        !receive_all(socket_fd, &welcome, sizeof welcome) || !run_stream_welcome_ok(&welcome) ||
        welcome.status != RUN_WELCOME_OK)
        die("hello");
}

static void nonsense(unsigned long count)
{
    uint64_t state = 88172645463325252ull;

    for (unsigned long i = 0; i < count; i++) {
        uint8_t byte;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        byte = (uint8_t)state;
        if (!send_all(socket_fd, &byte, 1))
            return;
    }
}

static void wrong_frame(const char *kind)
{
    struct run_frame frame;

    say_hello();
    run_stream_frame(&frame, RUN_STREAM_STDOUT, 0, 5);
    send_all(socket_fd, &frame, sizeof frame);
    send_all(socket_fd, "good\n", 5);
    run_stream_frame(&frame, RUN_STREAM_STDOUT, 5, 5);
    if (strcmp(kind, "gap") == 0)
        frame.offset = 6;
    else if (strcmp(kind, "long") == 0)
        frame.bytes = UINT32_MAX;
    else if (strcmp(kind, "port") == 0)
        frame.port = 77;
    frame.header_crc = 0;
    frame.header_crc = crc32c(0, &frame, sizeof frame) + (strcmp(kind, "checksum") == 0);
    send_all(socket_fd, &frame, sizeof frame);
    send_all(socket_fd, "evil\n", 5);
    print_end(true);
}

static void flood(unsigned long count)
{
    static uint8_t bytes[FLOOD_FRAMES * (sizeof(struct run_frame) + 1)];
    uint64_t offset = 0;

    say_hello();
    while (offset < count) {
        size_t used = 0;

        for (int i = 0; i < FLOOD_FRAMES; i++) {
            struct run_frame frame;

            run_stream_frame(&frame, RUN_STREAM_STDERR, offset++, 1);
            memcpy(bytes + used, &frame, sizeof frame);
            bytes[used + sizeof frame] = 'x';
            used += sizeof frame + 1;
        }
        if (!send_all(socket_fd, bytes, used))
            break;
    }
    print_end(true);
}

static void crowd(uint16_t port, unsigned long count)
{
    static int fds[CROWD_MAX];
    struct rlimit limit;
    unsigned long open_now = 0;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (unsigned long i = 0; i < count && i < CROWD_MAX; i++)
        fds[i] = connect_to(port, false);
    for (unsigned long i = 0; i < count && i < CROWD_MAX; i++)
        open_now += fds[i] >= 0;
    printf("%lu\n", open_now);
    fflush(stdout);
    (void)getchar(); /* until told */
}

static void drip(void)
{
    const struct timespec moment = {.tv_nsec = DRIP_NS};
    struct run_frame frame;
    uint8_t byte = 'x';

    say_hello();
    run_stream_frame(&frame, RUN_STREAM_LOG, 0, RUN_FRAME_BYTES_MAX);
    send_all(socket_fd, &frame, sizeof frame);
    while (send_all(socket_fd, &byte, 1))
        nanosleep(&moment, NULL);
    print_end(true);
}

/* Signs of life and nothing else. */
static void alive(void)
{
    const struct timespec moment = {.tv_nsec = DRIP_NS};
    struct run_frame frame;

    say_hello();
    run_stream_frame(&frame, RUN_STREAM_LOG, 0, 0);
    while (send_all(socket_fd, &frame, sizeof frame))
        nanosleep(&moment, NULL);
    print_end(true);
}

static void hold(void)
{
    struct run_frame frame;

    say_hello();
    puts("here");
    fflush(stdout);
    (void)getchar();
    run_stream_frame(&frame, RUN_STREAM_END, 0, 0);
    send_all(socket_fd, &frame, sizeof frame);
    print_end(true);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[1] : "";
    uint16_t port = argc > 2 ? (uint16_t)strtoul(argv[2], NULL, 10) : 0;
    unsigned long n = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
    uint8_t id[16] = {0};

    snprintf((char *)id, sizeof id, "%ld", (long)getpid());
    if (port == 0 || run_stream_hello(&hello, id, NULL, "foe", kind) != 0) {
        fputs("usage: streamfoe KIND PORT [N]; see the source\n", stderr);
        return 2;
    }
    if (strcmp(kind, "crowd") == 0) {
        crowd(port, n);
        return 0;
    }
    socket_fd = connect_to(port, false);
    if (socket_fd < 0)
        die("connect");
    if (strcmp(kind, "version") == 0)
        hello.version = 99;
    else if (strcmp(kind, "name") == 0)
        memcpy(hello.run, "../../x", 8);
    hello.crc = crc32c(0, &hello, offsetof(struct run_hello, crc));
    if (strcmp(kind, "random") == 0) {
        nonsense(n);
        print_end(false);
    } else if (strcmp(kind, "nonsense") == 0) {
        say_hello();
        nonsense(n);
        print_end(true);
    } else if (strcmp(kind, "version") == 0 || strcmp(kind, "name") == 0) {
        send_all(socket_fd, &hello, sizeof hello);
        print_end(false);
    } else if (strcmp(kind, "flood") == 0) {
        flood(n);
    } else if (strcmp(kind, "silent") == 0) {
        say_hello();
        print_end(true);
    } else if (strcmp(kind, "drip") == 0) {
        drip();
    } else if (strcmp(kind, "alive") == 0) {
        alive();
    } else if (strcmp(kind, "hold") == 0) {
        hold();
    } else {
        wrong_frame(kind);
    }
    return 0;
}
