/* The collector's side of the protocol, fed in pieces of every size: what is acknowledged is on
 * disk, what is no stream ends the connection and nothing else.
 */
#include "tests/unit/host/collect/fixture.h"

#include "host/collect/stream_connection.h"
#include "tests/unit/host/collect_fixture.h"

#define WIRE_ROOM 65536

static const char no_token[RUN_STREAM_NAME_BYTES];
static uint8_t wire[WIRE_ROOM]; /* frames of a run, and its end */
static size_t wire_bytes;
static const char text[] = "what the program said, many times over, or so it seems\n";
#define TEXT_BYTES (sizeof text - 1)

static void put_frame(enum run_stream_port port, uint64_t offset, const void *bytes, uint32_t count)
{
    struct run_frame frame;

    run_stream_frame(&frame, port, offset, count);
    memcpy(wire + wire_bytes, &frame, sizeof frame);
    memcpy(wire + wire_bytes + sizeof frame, bytes, count);
    wire_bytes += sizeof frame + count;
}

/* The trace in frames of 100 bytes, with the program's words and signs of life between them. */
static int prepare(void **state)
{
    build_stream();
    for (size_t at = 0; at < stream_bytes; at += 100) {
        size_t count = stream_bytes - at < 100 ? stream_bytes - at : 100;

        put_frame(RUN_STREAM_TRACE, at, stream + at, (uint32_t)count);
        if (at / 100 < TEXT_BYTES)
            put_frame(RUN_STREAM_STDOUT, at / 100, text + at / 100, 1);
        put_frame(RUN_STREAM_LOG, 0, "", 0);
    }
    put_frame(RUN_STREAM_END, 0, "", 0);
    return make_root(state);
}

/* Takes what the collector says: the last acknowledged position, or the end's status. */
struct answers {
    uint64_t position;
    uint32_t status;
};

static void take_answers(struct connection *c, struct answers *a)
{
    struct run_ack ack;

    while (c->out_bytes > 0) {
        assert_true(c->out_bytes >= sizeof ack);
        memcpy(&ack, c->out, sizeof ack);
        assert_true(run_stream_ack_ok(&ack, wire_bytes));
        assert_true(ack.position >= a->position);
        a->position = ack.position;
        a->status = ack.status;
        stream_connection_sent(c, sizeof ack);
    }
}

/* Says hello and opens the run; what the welcome says it has goes to have. */
static void begin(struct connection *c, struct stream_run *run, const struct run_hello *hello,
                  uint64_t have[RUN_STREAM_PORTS])
{
    struct run_welcome welcome;

    *c = (struct connection){0};
    stream_connection_take(c, no_token, hello, sizeof *hello);
    assert_int_equal(c->state, CONNECTION_OPENING);
    stream_connection_opened(c, run, stream_run_open(run, root, hello, LIMIT_BYTES));
    assert_int_equal(c->state, CONNECTION_FRAMES);
    assert_int_equal(c->out_bytes, sizeof welcome);
    memcpy(&welcome, c->out, sizeof welcome);
    assert_true(run_stream_welcome_ok(&welcome));
    assert_int_equal(welcome.status, RUN_WELCOME_OK);
    if (have != NULL)
        memcpy(have, welcome.have, sizeof welcome.have);
    stream_connection_sent(c, sizeof welcome);
}

static void finish(struct connection *c, struct stream_run *run, struct answers *a)
{
    assert_int_equal(c->state, CONNECTION_FINISHING);
    stream_connection_finished(c, stream_run_finish(run));
    take_answers(c, a);
    assert_int_equal(a->status, RUN_WELCOME_DONE);
    assert_int_equal(c->state, CONNECTION_CLOSING);
    assert_int_equal(run->trace.samples, CHUNKS * SAMPLES);
}

static void takes_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t size = 1; size < 2 * wire_bytes; size += size < 130 ? 1 + size / 20 : size / 2) {
        struct run_hello hello = hello_of("pieces", "x", (uint8_t)(size * 7));
        struct answers a = {0};
        struct stream_run run;
        struct connection c;

        begin(&c, &run, &hello, NULL);
        for (size_t at = 0; at < wire_bytes; at += size) {
            stream_connection_take(&c, no_token, wire + at,
                                   wire_bytes - at < size ? wire_bytes - at : size);
            if (c.state == CONNECTION_FRAMES && at % 3 == 0)
                stream_connection_ack(&c);
            take_answers(&c, &a);
        }
        finish(&c, &run, &a);
        assert_int_equal(a.position, wire_bytes);
    }
    check_bytes("pieces/x-1", "stdout", text, stream_bytes / 100 + 1);
}

/* How much of the trace the frames of the wire's first `position` bytes carry. */
static size_t trace_within(uint64_t position)
{
    struct run_parser parser = {0};
    struct run_piece piece;
    size_t bytes = 0, at = 0;

    do {
        at += run_parser_next(&parser, wire + at, (size_t)position - at, &piece);
        if (piece.kind == RUN_PIECE_DATA && piece.port == RUN_STREAM_TRACE)
            bytes += piece.count;
    } while (piece.kind != RUN_PIECE_MORE);
    return bytes;
}

static void what_is_acknowledged_is_on_disk(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < wire_bytes; cut += 89) {
        struct run_hello hello = hello_of("cut", "x", (uint8_t)(cut / 89));
        uint64_t have[RUN_STREAM_PORTS];
        struct answers a = {0};
        struct stream_run run;
        struct connection c;

        begin(&c, &run, &hello, NULL);
        stream_connection_take(&c, no_token, wire, cut);
        assert_true(stream_connection_unacked(&c) <= cut);
        stream_connection_ack(&c);
        take_answers(&c, &a);
        assert_int_equal(stream_connection_unacked(&c), 0);
        /* As if it were killed now: what is not in the file is gone. */
        assert_true(run.trace.offset >= trace_within(a.position));
        if (cut - a.position > 2000)
            assert_true(run.trace.used > 1500); /* a chunk that is not whole: no other reason */
        assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
        begin(&c, &run, &hello, have);
        assert_true(have[RUN_STREAM_TRACE] >= trace_within(a.position));
        stream_connection_take(&c, no_token, wire,
                               wire_bytes); /* once more from the start: no harm */
        a = (struct answers){0};
        finish(&c, &run, &a);
    }
    check_bytes("cut/x-2", "stdout", text, stream_bytes / 100 + 1);
}

static void refuse_hello(const void *bytes, size_t count, const char *token, uint32_t status)
{
    for (size_t size = 1; size <= count; size = size == 1 ? count : count + 1) {
        struct connection c = {0};
        struct run_welcome welcome;

        for (size_t at = 0; at < count; at += size)
            stream_connection_take(&c, token, (const uint8_t *)bytes + at, size);
        assert_int_equal(c.state, CONNECTION_CLOSING);
        assert_int_equal(c.status, status);
        assert_non_null(c.why);
        assert_int_equal(c.out_bytes, sizeof welcome);
        memcpy(&welcome, c.out, sizeof welcome);
        assert_true(run_stream_welcome_ok(&welcome));
        assert_int_equal(welcome.status, status);
    }
}

static void refuses_hellos(void **state)
{
    struct run_hello hello = hello_of("a", "x", 0);
    char token[RUN_STREAM_NAME_BYTES] = "secret";
    uint8_t longer[sizeof hello + 1] = {0};
    const uint8_t id[16] = {0};
    struct connection c = {0};

    (void)state;
    refuse_hello("GET / HTTP/1.1\r\n", 16, no_token, RUN_WELCOME_STREAM);
    refuse_hello(&hello, sizeof hello, token, RUN_WELCOME_TOKEN);
    assert_int_equal(run_stream_hello(&hello, id, "secre", "a", "x"), 0);
    refuse_hello(&hello, sizeof hello, token, RUN_WELCOME_TOKEN);
    refuse_hello(&hello, sizeof hello, no_token, RUN_WELCOME_TOKEN);
    hello.version = 2;
    refuse_hello(&hello, 8, no_token, RUN_WELCOME_VERSION); /* whatever follows then */
    hello = hello_of("a", "x", 0);
    hello.machine[0] = '.';
    refuse_hello(&hello, sizeof hello, no_token, RUN_WELCOME_STREAM); /* the checksum */
    hello = hello_of("a", "x", 0);
    memcpy(longer, &hello, sizeof hello);
    stream_connection_take(&c, no_token, longer,
                           sizeof longer); /* it did not wait for the welcome */
    assert_int_equal(c.status, RUN_WELCOME_STREAM);
}

/* Sends `count` bytes of the wire, then one frame that must end the connection. */
static void end_with(uint8_t number, const struct run_frame *frame, uint32_t status)
{
    struct run_hello hello = hello_of("wrong", "x", number);
    size_t count = sizeof *frame + 100 + sizeof *frame + 1; /* two frames */
    struct answers a = {0};
    struct stream_run run;
    struct connection c;

    begin(&c, &run, &hello, NULL);
    stream_connection_take(&c, no_token, wire, count);
    stream_connection_take(&c, no_token, frame, sizeof *frame);
    stream_connection_take(&c, no_token, text, TEXT_BYTES);
    assert_int_equal(c.state, CONNECTION_CLOSING);
    take_answers(&c, &a);
    assert_int_equal(a.status, status);
    assert_true(a.position <= count + sizeof *frame);
    stream_connection_take(&c, no_token, wire, wire_bytes); /* deaf now */
    assert_int_equal(c.out_bytes, 0);
    assert_int_equal(run.have[RUN_STREAM_STDOUT], 1);
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
    begin(&c, &run, &hello, NULL); /* and the run may go on */
    stream_connection_take(&c, no_token, wire, wire_bytes);
    finish(&c, &run, &a);
}

static void ends_at_what_is_no_stream(void **state)
{
    struct run_frame frame;

    (void)state;
    run_stream_frame(&frame, RUN_STREAM_TRACE, 101, 10); /* a byte is missing */
    end_with(1, &frame, RUN_WELCOME_STREAM);
    run_stream_frame(&frame, RUN_STREAM_FILES, UINT64_MAX - 10, 10);
    end_with(2, &frame, RUN_WELCOME_STREAM);
    run_stream_frame(&frame, RUN_STREAM_LOG, 0, 10);
    frame.header_crc++;
    end_with(3, &frame, RUN_WELCOME_STREAM);
    run_stream_frame(&frame, RUN_STREAM_LOG, 0, RUN_FRAME_BYTES_MAX + 1);
    end_with(4, &frame, RUN_WELCOME_STREAM);
    run_stream_frame(&frame, RUN_STREAM_PORTS, 0, 10);
    end_with(5, &frame, RUN_WELCOME_STREAM);
}

static void ends_at_the_limit(void **state)
{
    const struct run_hello hello = hello_of("limit", "x", 1);
    struct answers a = {0};
    struct stream_run run;
    struct connection c = {0};

    (void)state;
    stream_connection_take(&c, no_token, &hello, sizeof hello);
    stream_connection_opened(&c, &run, stream_run_open(&run, root, &hello, 1000));
    stream_connection_sent(&c, c.out_bytes);
    stream_connection_take(&c, no_token, wire, wire_bytes);
    take_answers(&c, &a);
    assert_int_equal(a.status, RUN_WELCOME_LIMIT);
    assert_int_equal(run.bytes, 1000);
    assert_int_equal(stream_run_suspend(&run, 0), RUN_WELCOME_OK);
}

static void a_run_that_cannot_be_opened(void **state)
{
    const struct run_hello hello = hello_of("not", "x", 1);
    struct connection c = {0};
    struct stream_run run;
    struct run_welcome welcome;

    (void)state;
    stream_connection_take(&c, no_token, &hello, sizeof hello);
    stream_connection_opened(&c, &run, stream_run_open(&run, "/no/such/directory", &hello, 1000));
    memcpy(&welcome, c.out, sizeof welcome);
    assert_int_equal(welcome.status, RUN_WELCOME_DISK);
    assert_int_equal(c.state, CONNECTION_CLOSING);
    assert_int_equal(stream_connection_unacked(&c), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_pieces_of_any_size),
        cmocka_unit_test(what_is_acknowledged_is_on_disk),
        cmocka_unit_test(refuses_hellos),
        cmocka_unit_test(ends_at_what_is_no_stream),
        cmocka_unit_test(ends_at_the_limit),
        cmocka_unit_test(a_run_that_cannot_be_opened),
    };

    return cmocka_run_group_tests(tests, prepare, remove_root);
}
