/* The server's thread: what comes over a port, files that do not answer, and the end of a run. */
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>

#include "tests/unit/host/serve/serve_fixture.h"

#define LATE_NS 100000000ull
#define SOON_NS (5 * 1000000000ull) /* far below SERVE_LIMIT_NS, also on a busy machine */

static pthread_mutex_t stuck = PTHREAD_MUTEX_INITIALIZER;
static int port; /* the guest's end */
static int ours;

static ssize_t stuck_pread(int fd, void *bytes, size_t count, off_t offset)
{
    pthread_mutex_lock(&stuck);
    pthread_mutex_unlock(&stuck);
    return pread(fd, bytes, count, offset);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int open_port(void **state)
{
    int pair[2];

    open_tree(state);
    tree_put(&tree, "file", "contents");
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    ours = pair[0];
    port = pair[1];
    return 0;
}

static int close_port(void **state)
{
    close_tree(state);
    close(ours);
    close(port);
    return 0;
}

static void send_request(uint32_t type, uint64_t node, uint32_t bytes, const char *name)
{
    const struct run_serve_request request = {
        .type = type, .bytes = bytes, .node = node, .number = 3};

    assert_int_equal(send(port, &request, sizeof request, MSG_NOSIGNAL), sizeof request);
    if (name != NULL)
        assert_int_equal(send(port, name, bytes, MSG_NOSIGNAL), bytes);
}

/* The error of the next answer; -1: the port has ended. */
static int receive(void)
{
    if (recv(port, &reply.answer, sizeof reply.answer, MSG_WAITALL) != sizeof reply.answer)
        return -1;
    assert_true(reply.answer.bytes <= sizeof reply.bytes);
    if (reply.answer.bytes != 0)
        assert_int_equal(recv(port, reply.bytes, reply.answer.bytes, MSG_WAITALL),
                         reply.answer.bytes);
    assert_int_equal(reply.answer.number, 3);
    return (int)reply.answer.error;
}

static uint64_t find_file(void)
{
    struct run_serve_node node;

    send_request(RUN_SERVE_LOOKUP, RUN_SERVE_ROOT, 4, "file");
    assert_int_equal(receive(), 0);
    memcpy(&node, reply.bytes, sizeof node);
    return node.node;
}

static void wait_for_abandoned(void)
{
    uint64_t end_ns = now_ns() + SOON_NS;

    while (serve_worker_abandoned() != 0 && now_ns() < end_ns)
        usleep(1000);
    assert_int_equal(serve_worker_abandoned(), 0);
}

static void answers_over_the_port(void **state)
{
    (void)state;
    assert_int_equal(fcntl(ours, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(serve_start(&serve, ours), 0);
    send_request(RUN_SERVE_READ, find_file(), 100, NULL);
    assert_int_equal(receive(), 0);
    assert_int_equal(reply.answer.bytes, 8);
    send_request(99, 99, 0, NULL);
    assert_int_equal(receive(), EINVAL);
    serve_stop(&serve);
    assert_int_equal(receive(), -1);
    assert_null(serve.bad);
    assert_int_equal(serve.late, 0);
}

static void closes_the_port_on_rubbish(void **state)
{
    (void)state;
    assert_int_equal(serve_start(&serve, ours), 0);
    send_request(RUN_SERVE_LOOKUP, RUN_SERVE_ROOT, UINT32_MAX, NULL);
    assert_int_equal(receive(), -1);
    serve_stop(&serve);
    assert_non_null(serve.bad);
}

/* A part of a request, and then nothing. */
static void ends_without_the_rest_of_a_request(void **state)
{
    (void)state;
    assert_int_equal(serve_start(&serve, ours), 0);
    assert_int_equal(send(port, "abc", 3, MSG_NOSIGNAL), 3);
    serve_stop(&serve);
    assert_int_equal(receive(), -1);
}

/* A guest that takes no answers. */
static void ends_without_a_reader(void **state)
{
    (void)state;
    assert_int_equal(serve_start(&serve, ours), 0);
    for (int i = 0; i < 2000; i++) {
        const struct run_serve_request request = {.type = 99};

        if (send(port, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;
    }
    serve_stop(&serve);
}

static void gives_up_a_file_that_does_not_answer(void **state)
{
    uint64_t file;

    (void)state;
    serve.limit_ns = LATE_NS;
    serve.pread = stuck_pread;
    assert_int_equal(serve_start(&serve, ours), 0);
    file = find_file();
    pthread_mutex_lock(&stuck);
    for (unsigned int i = 0; i < SERVE_ABANDONED_MAX + 2; i++) {
        send_request(RUN_SERVE_READ, file, 8, NULL);
        assert_int_equal(receive(), EIO);
        assert_true(serve_worker_abandoned() <= SERVE_ABANDONED_MAX);
    }
    pthread_mutex_unlock(&stuck);
    wait_for_abandoned();
    serve.limit_ns = SOON_NS;
    send_request(RUN_SERVE_READ, file, 8, NULL);
    assert_int_equal(receive(), 0);
    assert_int_equal(reply.answer.bytes, 8);
    serve_stop(&serve);
    assert_int_equal(serve.late, SERVE_ABANDONED_MAX + 2);
    assert_string_equal(serve.late_path, "file");
}

/* Whoever waits for a file when the run is to end waits no longer, and the next one hardly. */
static void hurries_at_the_end(void **state)
{
    uint64_t file, start_ns;

    (void)state;
    serve.pread = stuck_pread;
    assert_int_equal(serve_start(&serve, ours), 0);
    file = find_file();
    pthread_mutex_lock(&stuck);
    start_ns = now_ns();
    send_request(RUN_SERVE_READ, file, 8, NULL);
    serve_hurry(&serve);
    assert_int_equal(receive(), EIO);
    send_request(RUN_SERVE_READ, file, 8, NULL);
    assert_int_equal(receive(), EIO);
    send_request(99, 99, 0, NULL);
    assert_int_equal(receive(), EINVAL);
    serve_stop(&serve);
    assert_true(now_ns() - start_ns < SOON_NS);
    assert_int_equal(serve.late, 0);
    serve_close(&serve);
    pthread_mutex_unlock(&stuck);
    wait_for_abandoned();
}

static void stops_while_a_file_does_not_answer(void **state)
{
    uint64_t start_ns;

    (void)state;
    serve.pread = stuck_pread;
    assert_int_equal(serve_start(&serve, ours), 0);
    pthread_mutex_lock(&stuck);
    start_ns = now_ns();
    send_request(RUN_SERVE_READ, find_file(), 8, NULL);
    serve_stop(&serve);
    assert_true(now_ns() - start_ns < SOON_NS);
    serve_close(&serve);
    pthread_mutex_unlock(&stuck);
    wait_for_abandoned();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_over_the_port, open_port, close_port),
        cmocka_unit_test_setup_teardown(closes_the_port_on_rubbish, open_port, close_port),
        cmocka_unit_test_setup_teardown(ends_without_the_rest_of_a_request, open_port, close_port),
        cmocka_unit_test_setup_teardown(ends_without_a_reader, open_port, close_port),
        cmocka_unit_test_setup_teardown(gives_up_a_file_that_does_not_answer, open_port,
                                        close_port),
        cmocka_unit_test_setup_teardown(hurries_at_the_end, open_port, close_port),
        cmocka_unit_test_setup_teardown(stops_while_a_file_does_not_answer, open_port, close_port),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
