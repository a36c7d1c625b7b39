/* Sends a run to `hr collect --listen tcp:` as a machine does, which keeps what is not
 * acknowledged.
 *
 *   streamclient [OPTION...] PORT
 *
 *   --machine NAME --run NAME --id HEX --token TEXT     what the hello says (lab, run, random,
 * none)
 *   --trace FILE --stdout FILE --stderr FILE --log FILE --files FILE    what the ports carry
 *   --frame BYTES   of data in a frame, at most (65536)
 *   --break BYTES   close the connection after so many bytes of frames (given again: of the next)
 *   --again         connect again, until the run is complete; for at most 30 s without success
 *   --stall BYTES   stop after so many bytes of the first connection, which stays, ...
 *   --pause FILE    ... until FILE exists; FILE.here is made when it stops
 *   --ipv6          connect to ::1
 *   --verbose       say how each connection went
 *   --rate          print MB/s, from the first connection to the end
 *
 * Every answer is checked: nothing that was acknowledged may be asked for again.  Exit status: 0
 * the run is complete, 3 the connection broke, 4 the collector broke the protocol, 10 + status of
 * enum run_welcome_status: it was refused.
 */
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "tests/tools/streamsocket.h"

#define BREAKS_MAX 16
#define PATIENCE_S 30
#define RETRY_NS 20000000
#define MARKS (1u << 16) /* frames that may be on their way */
#define MACHINE_REFUSED 10

struct port {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t sent; /* in this connection and before */
    uint64_t acked; /* will never be asked for again */
};

struct mark { /* where a frame ended */
    uint64_t position;
    uint64_t sent; /* of its port, up to there */
    uint32_t port;
};

struct client {
    struct run_hello hello;
    uint16_t tcp_port;
    bool v6, again, verbose, rate;
    const char *pause;
    uint64_t stall;
    uint32_t frame_bytes;
    uint64_t breaks[BREAKS_MAX];
    size_t break_count, breaks_done;
    struct port ports[RUN_STREAM_PORTS];
    int fd;
    uint64_t position; /* bytes of frames since the welcome */
    struct mark marks[MARKS];
    uint64_t first_mark, last_mark;
    uint8_t answer[sizeof(struct run_ack)];
    size_t answer_bytes;
    bool ended; /* the end was sent */
};

enum outcome { BROKEN = 3, WRONG = 4, REFUSED = MACHINE_REFUSED }; /* otherwise 0: done */

static int wrong(const char *what, uint64_t got, uint64_t limit)
{
    printf("the collector is wrong: %s: %llu, %llu\n", what, (unsigned long long)got,
           (unsigned long long)limit);
    return WRONG;
}

static int take_welcome(struct client *c)
{
    struct run_welcome welcome;

    if (!receive_all(c->fd, &welcome, sizeof welcome))
        return BROKEN;
    if (!run_stream_welcome_ok(&welcome))
        return wrong("no welcome", welcome.magic, RUN_WELCOME_MAGIC);
    if (welcome.status == RUN_WELCOME_DONE)
        return 0;
    if (welcome.status != RUN_WELCOME_OK)
        return MACHINE_REFUSED + (int)welcome.status;
    for (size_t i = 1; i < RUN_STREAM_PORTS; i++) {
        struct port *p = &c->ports[i];

        if (welcome.have[i] < p->acked)
            return wrong("it lost what it had acknowledged", welcome.have[i], p->acked);
        if (welcome.have[i] > p->size)
            return wrong("it has more than there is", welcome.have[i], p->size);
        p->sent = welcome.have[i];
        if (c->verbose)
            printf("port %zu: %llu of %llu\n", i, (unsigned long long)p->sent,
                   (unsigned long long)p->size);
    }
    return -1;
}

/* -1: go on. */
static int take_ack(struct client *c, const struct run_ack *ack)
{
    if (!run_stream_ack_ok(ack, c->position))
        return wrong("no acknowledgement", ack->position, c->position);
    while (c->first_mark < c->last_mark &&
           c->marks[c->first_mark % MARKS].position <= ack->position) {
        const struct mark *m = &c->marks[c->first_mark++ % MARKS];

        if (m->sent > c->ports[m->port].acked)
            c->ports[m->port].acked = m->sent;
    }
    if (ack->status == RUN_WELCOME_OK)
        return -1;
    if (ack->status != RUN_WELCOME_DONE)
        return MACHINE_REFUSED + (int)ack->status;
    if (!c->ended || ack->position != c->position)
        return wrong("done before the end", ack->position, c->position);
    return 0;
}

/* Takes the answers that are there; with `wait`, at least some.  -1: go on. */
static int take_answers(struct client *c, bool wait)
{
    for (;;) {
        struct run_ack ack;
        int result;
        ssize_t count = recv(c->fd, c->answer + c->answer_bytes, sizeof ack - c->answer_bytes,
                             wait ? 0 : MSG_DONTWAIT);

        if (count < 0 && errno == EAGAIN)
            return -1;
        if (count <= 0)
            return BROKEN;
        c->answer_bytes += (size_t)count;
        if (c->answer_bytes < sizeof ack)
            continue;
        c->answer_bytes = 0;
        memcpy(&ack, c->answer, sizeof ack);
        result = take_ack(c, &ack);
        if (result != -1)
            return result;
        wait = false;
    }
}

static void add_mark(struct client *c, uint32_t port)
{
    if (c->last_mark - c->first_mark == MARKS)
        c->first_mark++; /* what is acknowledged of it is not checked */
    c->marks[c->last_mark++ % MARKS] =
        (struct mark){.position = c->position, .sent = c->ports[port].sent, .port = port};
}

/* Sends the next frame of a port, as far as the next break.  False: the connection is broken. */
static bool send_frame(struct client *c, uint32_t port, uint64_t until)
{
    struct port *p = &c->ports[port];
    uint64_t left = p->size - p->sent;
    uint32_t bytes = left < c->frame_bytes ? (uint32_t)left : c->frame_bytes;
    struct run_frame frame;
    struct iovec parts[2] = {
        {.iov_base = &frame, .iov_len = sizeof frame},
        {.iov_base = (void *)(uintptr_t)(p->bytes + p->sent), .iov_len = bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    size_t total = sizeof frame + bytes;
    size_t wanted = until - c->position < total ? (size_t)(until - c->position) : total;
    ssize_t sent;

    run_stream_frame(&frame, (enum run_stream_port)port, p->sent, bytes);
    if (wanted < total) { /* the part before a break */
        parts[0].iov_len = wanted < sizeof frame ? wanted : sizeof frame;
        parts[1].iov_len = wanted - parts[0].iov_len;
    }
    sent = sendmsg(c->fd, &message, MSG_NOSIGNAL);
    while (sent >= 0 && (size_t)sent < wanted) { /* it blocks: a part was sent before a signal */
        bool head = (size_t)sent < parts[0].iov_len;
        const uint8_t *from =
            head ? (const uint8_t *)&frame + sent
                 : (const uint8_t *)parts[1].iov_base + ((size_t)sent - parts[0].iov_len);
        size_t count = head ? parts[0].iov_len - (size_t)sent : wanted - (size_t)sent;

        if (!send_all(c->fd, from, count))
            return false;
        sent += (ssize_t)count;
    }
    if (sent < 0)
        return false;
    c->position += wanted;
    p->sent += wanted > sizeof frame ? wanted - sizeof frame : 0;
    add_mark(c, port);
    return true;
}

static bool send_end(struct client *c)
{
    struct run_frame frame;

    run_stream_frame(&frame, RUN_STREAM_END, 0, 0);
    if (!send_all(c->fd, &frame, sizeof frame))
        return false;
    c->position += sizeof frame;
    c->ended = true;
    return true;
}

static void wait_for(const char *path)
{
    const struct timespec moment = {.tv_nsec = RETRY_NS};
    char here[4096];
    FILE *file;

    snprintf(here, sizeof here, "%s.here", path);
    file = fopen(here, "w");
    if (file == NULL || fclose(file) != 0)
        die(here);
    while (access(path, F_OK) != 0)
        nanosleep(&moment, NULL);
}

static uint64_t break_position(const struct client *c)
{
    return c->breaks_done < c->break_count ? c->breaks[c->breaks_done] : UINT64_MAX;
}

/* Sends everything, a frame of each port in turn. */
static int send_run(struct client *c)
{
    uint64_t until = break_position(c);
    bool more;
    int result;

    do {
        more = false;
        for (uint32_t port = 1; port < RUN_STREAM_PORTS; port++) {
            if (c->ports[port].sent == c->ports[port].size)
                continue;
            more = true;
            if (c->position < until && !send_frame(c, port, until)) {
                result = take_answers(c, true); /* the reason may lie there */
                return result != -1 ? result : BROKEN;
            }
            if (c->position >= until) {
                c->breaks_done++;
                return BROKEN;
            }
            if (c->pause != NULL && c->position >= c->stall) {
                wait_for(c->pause);
                c->pause = NULL;
            }
            result = take_answers(c, false);
            if (result != -1)
                return result;
        }
    } while (more);
    if (!send_end(c))
        return BROKEN;
    do
        result = take_answers(c, true);
    while (result == -1);
    return result;
}

static int connect_once(struct client *c)
{
    int result = BROKEN;

    c->fd = connect_to(c->tcp_port, c->v6);
    if (c->fd < 0)
        return BROKEN;
    c->position = c->first_mark = c->last_mark = c->answer_bytes = 0;
    c->ended = false;
    if (send_all(c->fd, &c->hello, sizeof c->hello)) {
        result = take_welcome(c);
        if (result == -1)
            result = send_run(c);
    }
    close(c->fd);
    if (c->verbose)
        printf("connection: %d after %llu bytes\n", result, (unsigned long long)c->position);
    return result;
}

static bool is_worth_trying(int result)
{
    return result == BROKEN || result == MACHINE_REFUSED + RUN_WELCOME_BUSY ||
           result == MACHINE_REFUSED + RUN_WELCOME_DISK;
}

static void print_rate(const struct client *c, const struct timespec *start)
{
    struct timespec now;
    double seconds, bytes = 0;

    clock_gettime(CLOCK_MONOTONIC, &now);
    seconds = (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
    for (size_t i = 1; i < RUN_STREAM_PORTS; i++)
        bytes += (double)c->ports[i].size;
    printf("%.0f\n", bytes / 1e6 / seconds);
}

static int run(struct client *c)
{
    const struct timespec moment = {.tv_nsec = RETRY_NS};
    struct timespec start;
    time_t deadline = time(NULL) + PATIENCE_S;
    uint64_t connections = 0;
    int result;

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        result = connect_once(c);
        connections++;
        if (!c->again || !is_worth_trying(result) || time(NULL) > deadline)
            break;
        nanosleep(&moment, NULL);
    }
    if (c->rate)
        print_rate(c, &start);
    if (c->verbose)
        printf("%llu connections\n", (unsigned long long)connections);
    if (result > MACHINE_REFUSED)
        printf("refused: %s\n", run_stream_status_text((uint32_t)(result - MACHINE_REFUSED)));
    return result;
}

static void map(struct port *p, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) != 0)
        die(path);
    p->size = (uint64_t)status.st_size;
    if (p->size > 0) {
        p->bytes = mmap(NULL, p->size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
        if (p->bytes == MAP_FAILED)
            die(path);
    }
    close(fd);
}

static const struct option names[] = {
    {"trace", 1, NULL, RUN_STREAM_TRACE},
    {"stdout", 1, NULL, RUN_STREAM_STDOUT},
    {"stderr", 1, NULL, RUN_STREAM_STDERR},
    {"log", 1, NULL, RUN_STREAM_LOG},
    {"files", 1, NULL, RUN_STREAM_FILES},
    {"machine", 1, NULL, 'm'},
    {"run", 1, NULL, 'r'},
    {"id", 1, NULL, 'i'},
    {"token", 1, NULL, 't'},
    {"frame", 1, NULL, 'f'},
    {"break", 1, NULL, 'b'},
    {"again", 0, NULL, 'a'},
    {"pause", 1, NULL, 'p'},
    {"stall", 1, NULL, 's'},
    {"ipv6", 0, NULL, '6'},
    {"verbose", 0, NULL, 'v'},
    {"rate", 0, NULL, 'R'},
    {0},
};

int main(int argc, char **argv)
{
    static struct client c = {.frame_bytes = 65536};
    const char *machine = "lab", *name = "run", *token = NULL;
    uint8_t id[16];
    int option;

    if (getrandom(id, sizeof id, 0) != sizeof id)
        die("getrandom");
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (option > 0 && option < RUN_STREAM_PORTS)
            map(&c.ports[option], optarg);
        else if (option == 'm')
            machine = optarg;
        else if (option == 'r')
            name = optarg;
        else if (option == 'i' && !parse_id(optarg, id))
            return 2;
        else if (option == 't')
            token = optarg;
        else if (option == 'f')
            c.frame_bytes = (uint32_t)strtoul(optarg, NULL, 0);
        else if (option == 'b' && c.break_count < BREAKS_MAX)
            c.breaks[c.break_count++] = strtoull(optarg, NULL, 0);
        else if (option == 's')
            c.stall = strtoull(optarg, NULL, 0);
        else if (option == 'p')
            c.pause = optarg;
        c.again |= option == 'a';
        c.v6 |= option == '6';
        c.verbose |= option == 'v';
        c.rate |= option == 'R';
        if (option == '?')
            return 2;
    }
    if (optind + 1 != argc || c.frame_bytes == 0 || c.frame_bytes > RUN_FRAME_BYTES_MAX ||
        run_stream_hello(&c.hello, id, token, machine, name) != 0) {
        fputs("usage: streamclient [OPTION...] PORT; see the source\n", stderr);
        return 2;
    }
    c.tcp_port = (uint16_t)strtoul(argv[optind], NULL, 10);
    return run(&c);
}
