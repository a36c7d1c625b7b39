/* guest/net/outbox.c: whatever breaks when, the collector ends with each port's bytes, once. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "guest/net/outbox.c"

#define MEMORY_BYTES OUTBOX_BYTES_MIN
#define STREAM_MOST (8u << 20) /* of a port */

/* ---- a collector that takes what comes, in pieces, and forgets nothing ---- */

struct collector {
    uint8_t *streams[RUN_STREAM_PORTS];
    uint64_t have[RUN_STREAM_PORTS];
    struct run_parser parser;
    uint64_t position; /* of this connection */
    bool ended;
};

static void collector_connect(struct collector *c)
{
    memset(&c->parser, 0, sizeof c->parser);
    c->position = 0;
    c->ended = false;
}

static void collector_take(struct collector *c, const uint8_t *bytes, size_t count)
{
    c->position += count;
    while (count) {
        struct run_piece piece;
        size_t taken = run_parser_next(&c->parser, bytes, count, &piece);

        assert_int_not_equal(piece.kind, RUN_PIECE_BAD);
        if (piece.kind == RUN_PIECE_END)
            c->ended = true;
        if (piece.kind == RUN_PIECE_DATA) {
            assert_false(c->ended);
            assert_int_equal(piece.offset, c->have[piece.port]);
            if (piece.count)
                memcpy(c->streams[piece.port] + piece.offset, piece.bytes, piece.count);
            c->have[piece.port] += piece.count;
        }
        bytes += taken;
        count -= taken;
    }
}

/* ---- the machine's side ---- */

struct fixture {
    struct outbox box;
    uint8_t *memory;
    uint8_t *streams[RUN_STREAM_PORTS]; /* what was put */
    uint64_t put[RUN_STREAM_PORTS];
    struct collector collector;
    struct test_random random;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->memory = aligned_alloc(64, MEMORY_BYTES);
    for (int i = 0; i < RUN_STREAM_PORTS; i++) {
        f->streams[i] = malloc(STREAM_MOST);
        f->collector.streams[i] = malloc(STREAM_MOST);
    }
    f->random.state = 7;
    outbox_init(&f->box, f->memory, MEMORY_BYTES);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < RUN_STREAM_PORTS; i++) {
        free(f->streams[i]);
        free(f->collector.streams[i]);
    }
    free(f->memory);
    free(f);
    return 0;
}

static int put(struct fixture *f, enum run_stream_port port, size_t count)
{
    uint8_t *at = f->streams[port] + f->put[port];

    assert_true(f->put[port] + count <= STREAM_MOST);
    test_random_fill(&f->random, at, count);
    int status = outbox_put(&f->box, port, at, count);
    if (status == 0)
        f->put[port] += count;
    return status;
}

/* Hands out at most `most` bytes. */
static size_t pass(struct fixture *f, size_t most)
{
    size_t passed = 0;

    while (passed < most) {
        const void *bytes;
        size_t count = outbox_next(&f->box, &bytes);

        if (count == 0)
            break;
        if (count > most - passed)
            count = most - passed;
        collector_take(&f->collector, bytes, count);
        outbox_took(&f->box, count);
        passed += count;
    }
    return passed;
}

static void reconnect(struct fixture *f)
{
    collector_connect(&f->collector);
    assert_int_equal(outbox_resume(&f->box, f->collector.have), OUTBOX_RESUMED);
}

static void check_all_arrived(struct fixture *f)
{
    assert_true(f->collector.ended);
    assert_true(outbox_all_sent(&f->box));
    for (int i = 1; i < RUN_STREAM_PORTS; i++) {
        assert_int_equal(f->collector.have[i], f->put[i]);
        assert_memory_equal(f->collector.streams[i], f->streams[i], f->put[i]);
    }
    assert_int_equal(outbox_acknowledge(&f->box, f->collector.position), 0);
    assert_int_equal(outbox_kept(&f->box), 0);
}

static void test_in_order(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(put(f, RUN_STREAM_TRACE, 1000), 0);
    assert_int_equal(put(f, RUN_STREAM_STDOUT, 1), 0);
    assert_int_equal(put(f, RUN_STREAM_TRACE, 5), 0);
    assert_false(outbox_all_sent(&f->box));
    assert_int_equal(outbox_put_end(&f->box), 0);
    assert_int_equal(pass(f, SIZE_MAX), 1006 + 4 * sizeof(struct run_frame));
    check_all_arrived(f);
}

/* Frames join while they wait, and not once a byte of them is out. */
static void test_join(void **state)
{
    struct fixture *f = *state;

    put(f, RUN_STREAM_STDOUT, 10);
    put(f, RUN_STREAM_STDOUT, 10);
    assert_int_equal(f->box.last, 1);
    pass(f, 1);
    put(f, RUN_STREAM_STDOUT, 10);
    assert_int_equal(f->box.last, 2);
    put(f, RUN_STREAM_LOG, 10);
    put(f, RUN_STREAM_STDOUT, 10);
    assert_int_equal(f->box.last, 4);
    outbox_put_end(&f->box);
    pass(f, SIZE_MAX);
    check_all_arrived(f);
}

static void test_full(void **state)
{
    struct fixture *f = *state;
    uint64_t room = outbox_room(&f->box, RUN_STREAM_TRACE);

    assert_int_equal(put(f, RUN_STREAM_TRACE, room + 1), -ENOSPC);
    assert_int_equal(put(f, RUN_STREAM_TRACE, room), 0);
    assert_int_equal(outbox_room(&f->box, RUN_STREAM_TRACE), 0);
    assert_int_equal(put(f, RUN_STREAM_LOG, 1), -ENOSPC);
    assert_int_equal(outbox_put_end(&f->box), 0);
    pass(f, SIZE_MAX);
    check_all_arrived(f);
    assert_int_equal(outbox_room(&f->box, RUN_STREAM_TRACE), room);
}

/* Room for entries can end before room for bytes; the trace's is kept, and the end's. */
static void test_full_of_entries(void **state)
{
    struct fixture *f = *state;
    int status = 0;

    for (int i = 0; status == 0; i++)
        status = put(f, i & 1 ? RUN_STREAM_LOG : RUN_STREAM_STDOUT, 1);
    assert_int_equal(status, -ENOSPC);
    assert_int_equal(outbox_room(&f->box, RUN_STREAM_LOG), 0);
    assert_in_range(outbox_room(&f->box, RUN_STREAM_TRACE), 1000, f->box.ring_bytes);
    assert_int_equal(put(f, RUN_STREAM_TRACE, 1000), 0);
    for (status = 0; status == 0;)
        status = outbox_put_sign(&f->box);
    assert_int_equal(status, -ENOSPC);
    assert_int_equal(outbox_room(&f->box, RUN_STREAM_TRACE), 0);
    assert_int_equal(outbox_put_end(&f->box), 0);
    assert_int_equal(outbox_put_end(&f->box), -ENOSPC);
    pass(f, SIZE_MAX);
    check_all_arrived(f);
}

static void test_acknowledgements(void **state)
{
    struct fixture *f = *state;
    uint64_t frame = sizeof(struct run_frame);

    put(f, RUN_STREAM_TRACE, 100);
    put(f, RUN_STREAM_STDOUT, 50);
    assert_int_equal(outbox_acknowledge(&f->box, 1), -EINVAL); /* nothing is out */
    pass(f, frame + 100 + 10);
    assert_int_equal(outbox_acknowledge(&f->box, frame + 111), -EINVAL);
    assert_int_equal(outbox_acknowledge(&f->box, frame + 99), 0);
    assert_int_equal(outbox_kept(&f->box), 150); /* a frame goes as a whole */
    assert_int_equal(outbox_acknowledge(&f->box, frame + 98), -EINVAL); /* back */
    assert_int_equal(outbox_acknowledge(&f->box, frame + 110), 0);
    assert_int_equal(outbox_kept(&f->box), 50);
}

static void test_lies(void **state)
{
    struct fixture *f = *state;
    uint64_t have[RUN_STREAM_PORTS] = {0};

    put(f, RUN_STREAM_TRACE, 100);
    have[RUN_STREAM_TRACE] = 101;
    assert_int_equal(outbox_resume(&f->box, have), OUTBOX_CLAIMS);
    have[RUN_STREAM_TRACE] = 0;
    have[RUN_STREAM_END] = 1;
    assert_int_equal(outbox_resume(&f->box, have), OUTBOX_CLAIMS);
    have[RUN_STREAM_END] = 0;
    pass(f, SIZE_MAX);
    assert_int_equal(outbox_acknowledge(&f->box, 100 + sizeof(struct run_frame)), 0);
    have[RUN_STREAM_TRACE] = 99;
    assert_int_equal(outbox_resume(&f->box, have), OUTBOX_LACKS);
    have[RUN_STREAM_TRACE] = UINT64_MAX;
    assert_int_equal(outbox_resume(&f->box, have), OUTBOX_CLAIMS);
    have[RUN_STREAM_TRACE] = 100;
    assert_int_equal(outbox_resume(&f->box, have), OUTBOX_RESUMED);
    assert_int_equal(outbox_room(&f->box, RUN_STREAM_TRACE), f->box.ring_bytes);
}

/* What a welcome says may not be taken back by the next. */
static void test_welcome_holds(void **state)
{
    struct fixture *f = *state;
    uint64_t have[RUN_STREAM_PORTS] = {0};

    put(f, RUN_STREAM_TRACE, 100);
    have[RUN_STREAM_TRACE] = 60;
    assert_int_equal(outbox_resume(&f->box, have), OUTBOX_RESUMED);
    assert_int_equal(outbox_kept(&f->box), 40);
    have[RUN_STREAM_TRACE] = 59;
    assert_int_equal(outbox_resume(&f->box, have), OUTBOX_LACKS);
}

/* A collector may lack an early frame of one port and have a later one of another. */
static void test_holes(void **state)
{
    struct fixture *f = *state;

    put(f, RUN_STREAM_STDOUT, 100);
    put(f, RUN_STREAM_TRACE, 100);
    put(f, RUN_STREAM_STDOUT, 100);
    put(f, RUN_STREAM_TRACE, 100);
    f->collector.have[RUN_STREAM_TRACE] = 130;
    memcpy(f->collector.streams[RUN_STREAM_TRACE], f->streams[RUN_STREAM_TRACE], 130);
    reconnect(f);
    assert_int_equal(outbox_kept(&f->box), 400); /* in order of age */
    outbox_put_end(&f->box);
    assert_int_equal(pass(f, SIZE_MAX), 270 + 4 * sizeof(struct run_frame));
    check_all_arrived(f);
}

static void test_signs_of_life(void **state)
{
    struct fixture *f = *state;

    put(f, RUN_STREAM_TRACE, 10);
    pass(f, SIZE_MAX);
    assert_int_equal(outbox_put_sign(&f->box), 0);
    assert_int_equal(pass(f, SIZE_MAX), sizeof(struct run_frame));
    assert_int_equal(outbox_acknowledge(&f->box, f->collector.position), 0);
    assert_int_equal(outbox_put_sign(&f->box), 0);
    put(f, RUN_STREAM_LOG, 3);
    put(f, RUN_STREAM_TRACE, 10);
    reconnect(f); /* a sign's place in its stream may be past by now */
    outbox_put_end(&f->box);
    assert_int_equal(pass(f, SIZE_MAX), 13 + 3 * sizeof(struct run_frame));
    check_all_arrived(f);
}

/* What is under way when the connection breaks: some of it arrives, some does not. */
static void break_connection(struct fixture *f)
{
    struct collector before = f->collector;

    pass(f, test_random_below(&f->random, 4000)); /* it was handed out, and got lost */
    for (int i = 0; i < RUN_STREAM_PORTS; i++)
        f->collector.have[i] = before.have[i];
    reconnect(f);
}

static void random_step(struct fixture *f)
{
    static const uint32_t sizes[] = {1, 30, 3000, 40000};
    struct test_random *r = &f->random;

    switch (test_random_below(r, 8)) {
    case 0:
    case 1:
    case 2: {
        enum run_stream_port port = 1 + (enum run_stream_port)test_random_below(r, 5);
        size_t count = 1 + test_random_below(r, sizes[test_random_below(r, 4)]);

        if (f->put[port] + count <= STREAM_MOST)
            put(f, port, count);
        break;
    }
    case 3:
    case 4:
    case 5:
        pass(f, test_random_below(r, 60000));
        break;
    case 6: {
        uint64_t least = f->box.acknowledged, most = f->collector.position;

        outbox_acknowledge(&f->box, least + test_random_below(r, most - least + 1));
        break;
    }
    default:
        if (test_random_below(r, 4) == 0)
            break_connection(f);
        else if (test_random_below(r, 8) == 0)
            outbox_put_sign(&f->box);
    }
}

static void test_random_breaks(void **state)
{
    struct fixture *f = *state;
    struct collector none = f->collector;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        f->random.state = seed;
        f->collector = none;
        memset(f->put, 0, sizeof f->put);
        outbox_init(&f->box, f->memory, MEMORY_BYTES - 8 * seed);
        for (int i = 0; i < 1500; i++)
            random_step(f);
        while (outbox_put_end(&f->box)) {
            pass(f, SIZE_MAX);
            outbox_acknowledge(&f->box, f->collector.position);
        }
        break_connection(f);
        pass(f, SIZE_MAX);
        check_all_arrived(f);
        assert_true(f->put[RUN_STREAM_TRACE] > MEMORY_BYTES); /* the ring went round */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_join, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_of_entries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_acknowledgements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_welcome_holds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_holes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_signs_of_life, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random_breaks, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
