/* guest/ring.c: room, order, dropped samples and the loss that is owed for them. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "guest/ring.c"

void *platform_allocate(size_t bytes)
{
    return aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
}

static struct ring ring;

static void begin(uint32_t capacity, uint32_t event_count)
{
    free(ring.slots);
    assert_int_equal(ring_init(&ring, 3, capacity, event_count), 0);
}

/* The producer's sequence, as guest/sampler.c has it. */
static bool produce(uint64_t time)
{
    struct trace_slot *slot = ring_slot(&ring, ring.head);

    if (!ring_has_room(&ring)) {
        slot = ring_reserve(&ring);
        if (!slot) {
            ring_drop(&ring, time);
            return false;
        }
    }
    slot->time = time;
    slot->kind = 0;
    ring_publish(&ring);
    return true;
}

static const struct trace_slot *consume(void)
{
    return ring.tail == ring.head ? NULL : ring_slot(&ring, ring.tail++);
}

static void slot_size_follows_events(void **state)
{
    (void)state;
    begin(8, TRACE_SLOT_SMALL_EVENTS);
    assert_ptr_equal((uint8_t *)ring_slot(&ring, 1) - (uint8_t *)ring_slot(&ring, 0), 64);
    begin(8, TRACE_SLOT_SMALL_EVENTS + 1);
    assert_ptr_equal((uint8_t *)ring_slot(&ring, 1) - (uint8_t *)ring_slot(&ring, 0), 128);
    assert_ptr_equal(ring_slot(&ring, 8), ring_slot(&ring, 0));
}

static void keeps_order_across_wraps(void **state)
{
    uint64_t next = 0;

    (void)state;
    begin(8, 5);
    for (uint64_t time = 0; time < 1000; time++) {
        assert_true(produce(time));
        if (time % 5 == 4) {
            const struct trace_slot *slot;
            while ((slot = consume()))
                assert_int_equal(slot->time, next++);
        }
    }
    assert_int_equal(next, 1000);
}

static void drops_and_reports(void **state)
{
    (void)state;
    begin(4, 5);
    for (uint64_t time = 0; time < 4; time++)
        assert_true(produce(time));
    assert_false(produce(4));
    assert_false(produce(5));
    assert_false(produce(6));
    /* One free slot is not enough for the loss and a sample. */
    assert_int_equal(consume()->time, 0);
    assert_false(produce(7));
    assert_int_equal(consume()->time, 1);
    assert_true(produce(8));
    assert_int_equal(consume()->time, 2);
    assert_int_equal(consume()->time, 3);
    const struct trace_slot *lost = consume();
    assert_int_equal(lost->kind, HR_REC_LOST);
    assert_int_equal(lost->time, 4);
    assert_int_equal(lost->ip, 7);
    assert_int_equal(lost->counters[0], 4);
    assert_int_equal(consume()->time, 8);
    assert_null(consume());
    assert_int_equal(ring.lost_count, 0);
}

static void every_attempt_is_accounted_for(void **state)
{
    uint64_t attempts = 0, seen = 0, lost = 0, random = 12345;

    (void)state;
    begin(16, 5);
    for (int round = 0; round < 2000; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        for (unsigned i = 0; i < (random >> 60); i++)
            produce(attempts++);
        for (unsigned i = 0; i < (random >> 56 & 7); i++) {
            const struct trace_slot *slot = consume();
            if (slot && slot->kind == HR_REC_LOST)
                lost += slot->counters[0];
            else if (slot)
                seen++;
        }
    }
    const struct trace_slot *slot;
    while ((slot = consume())) {
        if (slot->kind == HR_REC_LOST)
            lost += slot->counters[0];
        else
            seen++;
    }
    assert_true(lost > 0);
    assert_int_equal(seen + lost + ring.lost_count, attempts);
}

static void reset_forgets(void **state)
{
    (void)state;
    begin(4, 5);
    for (uint64_t time = 0; time < 6; time++)
        produce(time);
    ring_reset(&ring);
    assert_null(consume());
    assert_true(produce(1));
    assert_int_equal(consume()->kind, 0);
    assert_int_equal(ring.lost_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slot_size_follows_events),
        cmocka_unit_test(keeps_order_across_wraps),
        cmocka_unit_test(drops_and_reports),
        cmocka_unit_test(every_attempt_is_accounted_for),
        cmocka_unit_test(reset_forgets),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
