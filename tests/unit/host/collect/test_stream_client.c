/* A machine's socket and its times: when it must say something, when it is answered. */
#include "tests/unit/host/collect/fixture.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "host/base/units.h"
#include "host/collect/stream_client.h"

#define START 1000000000000ull
#define IDLE (60 * UNITS_SECOND)

static const char no_token[RUN_STREAM_NAME_BYTES];
static int machine; /* the other end */

static struct client *come(void)
{
    int pair[2];
    struct client *c;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    machine = pair[1];
    c = stream_client_new(pair[0], "somewhere", START);
    assert_non_null(c);
    return c;
}

static void leave(struct client *c)
{
    c->run = NULL; /* the test's own */
    stream_client_free(c);
    close(machine);
}

static void say(const void *bytes, size_t count)
{
    assert_int_equal(send(machine, bytes, count, 0), count);
}

static void strangers_have_ten_seconds(void **state)
{
    struct client *c = come();

    (void)state;
    assert_int_equal(stream_client_deadline(c, IDLE), START + 10 * UNITS_SECOND);
    assert_int_equal(stream_client_receive(c, no_token, START), -EAGAIN);
    say("HR", 2);
    assert_int_equal(stream_client_receive(c, no_token, START + 9 * UNITS_SECOND), 2);
    assert_null(stream_client_overdue(c, IDLE, START + 10 * UNITS_SECOND - 1));
    assert_non_null(stream_client_overdue(c, IDLE, START + 10 * UNITS_SECOND)); /* all the same */
    leave(c);
}

static void the_last_answer_is_heard(void **state)
{
    struct run_welcome welcome;
    struct client *c = come();
    uint64_t now = START + 1000 * UNITS_SECOND; /* far behind all other times */
    char byte;

    (void)state;
    say("GET / HTTP", 10);
    assert_int_equal(stream_client_receive(c, no_token, now), 10);
    assert_int_equal(c->connection.state, CONNECTION_CLOSING);
    assert_null(stream_client_overdue(c, IDLE, now)); /* nothing was sent yet */
    assert_true(stream_client_wants(c) & POLLOUT);
    assert_int_equal(stream_client_send(c, now), 0);
    assert_int_equal(recv(machine, &welcome, sizeof welcome, 0), sizeof welcome);
    assert_int_equal(recv(machine, &byte, 1, 0), 0); /* and that is all */
    assert_null(stream_client_overdue(c, IDLE, now));
    assert_int_equal(stream_client_deadline(c, IDLE), now + 3 * UNITS_SECOND);
    assert_non_null(stream_client_overdue(c, IDLE, now + 3 * UNITS_SECOND));
    assert_false(stream_client_wants(c) & POLLOUT);
    leave(c);
}

/* A machine in FRAMES. */
static void begin(struct client *c, struct stream_run *run, uint8_t number)
{
    struct run_hello hello = hello_of("client", "x", number);
    struct run_welcome welcome;

    say(&hello, sizeof hello);
    assert_int_equal(stream_client_receive(c, no_token, START), sizeof hello);
    assert_int_equal(stream_client_wants(c), 0); /* nothing is read while the run is opened */
    stream_connection_opened(&c->connection, run, stream_run_open(run, root, &hello, LIMIT_BYTES));
    c->run = run;
    assert_int_equal(stream_client_send(c, START), 0);
    assert_int_equal(recv(machine, &welcome, sizeof welcome, 0), sizeof welcome);
    assert_int_equal(welcome.status, RUN_WELCOME_OK);
}

static void send_log(struct stream_run *run, uint32_t count)
{
    static const uint8_t bytes[RUN_FRAME_BYTES_MAX];
    struct run_frame frame;

    run_stream_frame(&frame, RUN_STREAM_LOG, run->have[RUN_STREAM_LOG], count);
    say(&frame, sizeof frame);
    say(bytes, count);
}

static uint64_t acknowledged(void)
{
    struct run_ack ack = {0};
    ssize_t count = recv(machine, &ack, sizeof ack, 0);

    assert_true(count < 0 || count == sizeof ack);
    return ack.position;
}

static void acknowledges_in_time(void **state)
{
    struct client *c = come();
    struct stream_run run;
    uint64_t now = START + 10000000, position;

    (void)state;
    begin(c, &run, 1);
    send_log(&run, 100); /* little, and soon after the last one: later */
    assert_int_equal(stream_client_receive(c, no_token, now), 124);
    assert_int_equal(stream_client_send(c, now), 0);
    assert_int_equal(acknowledged(), 0);
    assert_int_equal(stream_client_deadline(c, IDLE), START + 50000000);
    now = START + 50000000;
    assert_null(stream_client_overdue(c, IDLE, now));
    assert_int_equal(stream_client_send(c, now), 0);
    assert_int_equal(acknowledged(), 124);
    assert_int_equal(stream_client_deadline(c, IDLE),
                     START + 10000000 + IDLE); /* since it was heard */
    send_log(&run, 130000);
    position = 124 + 130024;
    while (stream_client_receive(c, no_token, now) > 0)
        continue;
    assert_int_equal(stream_client_send(c, now), 0); /* less than 128 KiB */
    assert_int_equal(acknowledged(), 0);
    send_log(&run, 2000);
    assert_true(stream_client_receive(c, no_token, now) > 0);
    assert_int_equal(stream_client_send(c, now), 0); /* more: at once */
    assert_int_equal(acknowledged(), position + 2024);
    assert_null(stream_client_overdue(c, IDLE, now + IDLE - 1));
    assert_non_null(stream_client_overdue(c, IDLE, now + IDLE));
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    leave(c);
}

static void one_answer_waits_at_most(void **state)
{
    struct client *c = come();
    struct stream_run run;
    size_t sent = 0;

    (void)state;
    begin(c, &run, 2);
    for (int i = 0; i < 100000; i++) { /* nobody reads the answers */
        send_log(&run, 0);
        assert_int_equal(stream_client_receive(c, no_token, START), sizeof(struct run_frame));
        stream_connection_ack(&c->connection);
        assert_int_equal(stream_client_send(c, START), 0);
        assert_true(c->connection.out_bytes <= sizeof(struct run_ack));
        sent += c->connection.out_bytes == 0;
    }
    assert_true(sent > 0 && sent < 100000);
    while (acknowledged() != 0)
        continue;
    assert_int_equal(stream_client_send(c, START), 0);
    stream_connection_ack(&c->connection);
    assert_int_equal(stream_connection_unacked(&c->connection), 0); /* the last one says it all */
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    leave(c);
}

static void knows_the_same_run(void **state)
{
    struct client *a = come(), *b;
    int first = machine;

    (void)state;
    b = come();
    a->connection.hello = hello_of("m", "x", 1);
    b->connection.hello = hello_of("m", "x", 1);
    assert_true(stream_client_same_run(a, b));
    b->connection.hello = hello_of("m", "y", 1);
    assert_false(stream_client_same_run(a, b));
    b->connection.hello = hello_of("n", "x", 1);
    assert_false(stream_client_same_run(a, b));
    b->connection.hello = hello_of("m", "x", 2);
    assert_false(stream_client_same_run(a, b));
    close(first);
    stream_client_free(a);
    leave(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strangers_have_ten_seconds), cmocka_unit_test(the_last_answer_is_heard),
        cmocka_unit_test(acknowledges_in_time),       cmocka_unit_test(one_answer_waits_at_most),
        cmocka_unit_test(knows_the_same_run),
    };

    return cmocka_run_group_tests(tests, make_root, remove_root);
}
