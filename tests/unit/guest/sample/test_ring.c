/* guest/sample/ring.c: room, order, dropped samples and the loss that is owed for them. */
#include "tests/unit/test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "guest/sample/ring.c"

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

/* The producer's sequence, as guest/sample/sampler.c has it. */
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

/* ---- NMIs between any two instructions: the thread's part is single-stepped, and the signal
 * handler of each step is where an NMI may come and a consumer on another CPU may look ----
 */
#define THREAD_TIME 1000
#define NMI_TIME 2000

static struct {
    unsigned steps;
    unsigned nmi_at[2]; /* steps; 0: none */
    uint64_t nmis;
    uint64_t nmis_lost;
    uint64_t head_seen;
    bool torn; /* a visible slot was not complete, or head went back */
} stepped;

static void nmi(void)
{
    uint64_t time = NMI_TIME + stepped.nmis++;

    if (!ring_has_room_nmi(&ring, 1) && !ring_reserve_nmi(&ring, 1)) {
        ring_drop(&ring, time);
        stepped.nmis_lost++;
        return;
    }
    struct trace_slot *slot = ring_slot(&ring, ring.reserved);
    slot->kind = 0;
    slot->time = time;
    ring_publish_nmi(&ring, 1);
}

static void on_step(int signal_number)
{
    (void)signal_number;
    stepped.steps++;
    if (stepped.steps == stepped.nmi_at[0] || stepped.steps == stepped.nmi_at[1])
        nmi();
    if (ring.head < stepped.head_seen)
        stepped.torn = true;
    stepped.head_seen = ring.head;
    for (uint64_t i = ring.tail; i < ring.head; i++)
        stepped.torn |= ring_slot(&ring, i)->time == 0;
}

static void set_trap_flag(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; "
                     "lea 128(%%rsp), %%rsp" ::
                         : "memory", "cc");
}

static void clear_trap_flag(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $-257, (%%rsp); popfq; "
                     "lea 128(%%rsp), %%rsp" ::
                         : "memory", "cc");
}

/* The thread writes a slot while NMIs come; `used` slots are in the ring already. */
static bool run_stepped(uint64_t used, unsigned first, unsigned second)
{
    ring_reset(&ring);
    memset(ring.slots, 0, 8 * 64);
    for (uint64_t i = 0; i < used; i++)
        produce(i + 1);
    memset(&stepped, 0, sizeof stepped);
    stepped.nmi_at[0] = first;
    stepped.nmi_at[1] = second;
    set_trap_flag();
    struct trace_slot *slot = ring_open(&ring);
    if (slot) {
        slot->time = THREAD_TIME;
        ring_close(&ring);
    }
    clear_trap_flag();
    return slot;
}

static void check_stepped(uint64_t used, bool thread_wrote)
{
    uint64_t threads = 0, nmis = 0;
    const struct trace_slot *slot;

    assert_false(stepped.torn);
    assert_int_equal(ring.head, ring.reserved);
    assert_int_equal(ring.lost_count, stepped.nmis_lost);
    for (uint64_t i = 0; i < used; i++)
        assert_int_equal(consume()->time, i + 1);
    while ((slot = consume())) {
        threads += slot->time == THREAD_TIME;
        nmis += slot->time >= NMI_TIME;
    }
    assert_int_equal(threads, thread_wrote);
    assert_int_equal(nmis + stepped.nmis_lost, stepped.nmis);
}

static void an_nmi_may_come_anywhere(void **state)
{
    struct sigaction action = {.sa_handler = on_step}, before;

    (void)state;
    begin(8, 5);
    sigaction(SIGTRAP, &action, &before);
    for (uint64_t used = 4; used <= 8; used += 2) {
        run_stepped(used, 0, 0);
        unsigned steps = stepped.steps;
        assert_true(steps > 10);
        for (unsigned first = 1; first <= steps; first++) {
            for (unsigned second = first; second <= steps + 40; second += 37)
                check_stepped(used, run_stepped(used, first, second));
        }
    }
    sigaction(SIGTRAP, &before, NULL);
}

/* What the thread reads before its slot is older than every later slot: here, the NMIs so far. */
static struct trace_slot *open_reading(uint64_t *nmis)
{
    for (int attempt = 0; attempt < 4; attempt++) {
        uint64_t reserved = ring_reserved(&ring);
        *nmis = *(volatile uint64_t *)&stepped.nmis;
        struct trace_slot *slot = ring_open_at(&ring, reserved);
        if (slot)
            return slot;
    }
    return NULL;
}

static void check_order(uint64_t thread_read)
{
    const struct trace_slot *slot;
    uint64_t before = 0;
    bool thread = false;

    assert_false(stepped.torn);
    assert_int_equal(ring.head, ring.reserved);
    assert_false(ring.open);
    while ((slot = consume())) {
        if (slot->time == THREAD_TIME) {
            thread = true;
            assert_int_equal(thread_read, before);
        }
        before += slot->time >= NMI_TIME;
    }
    assert_true(thread);
}

static void a_reading_and_its_slot_have_no_nmi_between(void **state)
{
    struct sigaction action = {.sa_handler = on_step}, before;
    unsigned steps = 1;

    (void)state;
    begin(8, 5);
    sigaction(SIGTRAP, &action, &before);
    for (unsigned first = 0; first <= steps; first++) {
        uint64_t nmis = 0;

        ring_reset(&ring);
        memset(ring.slots, 0, 8 * 64);
        memset(&stepped, 0, sizeof stepped);
        stepped.nmi_at[0] = first;
        stepped.nmi_at[1] = first + first % 40;
        set_trap_flag();
        struct trace_slot *slot = open_reading(&nmis);
        if (slot) {
            slot->time = THREAD_TIME;
            ring_close(&ring);
        }
        clear_trap_flag();
        assert_non_null(slot);
        check_order(nmis);
        if (first == 0)
            steps = stepped.steps;
    }
    assert_true(steps > 20);
    sigaction(SIGTRAP, &before, NULL);
}

/* A thread that was interrupted while it looked for room stores a limit that NMIs have passed. */
static void a_limit_may_be_behind(void **state)
{
    (void)state;
    begin(8, 5);
    ring.reserved = 9;
    ring.limit = 8;
    assert_false(ring_has_room_nmi(&ring, 1));
}

/* A loss that NMIs owe goes before their next sample, and never takes a thread's slot. */
static void nmis_report_losses(void **state)
{
    (void)state;
    begin(4, 5);
    memset(&stepped, 0, sizeof stepped);
    for (int i = 0; i < 5; i++)
        nmi();
    assert_int_equal(stepped.nmis_lost, 2); /* one slot is left for ring_open */
    assert_non_null(ring_open(&ring));
    ring_close(&ring);
    assert_null(ring_open(&ring));
    for (int i = 0; i < 3; i++)
        consume();
    nmi();
    consume(); /* the thread's */
    const struct trace_slot *lost = consume();
    assert_int_equal(lost->kind, HR_REC_LOST);
    assert_int_equal(lost->counters[0], 2);
    assert_int_equal(lost->time, NMI_TIME + 3);
    assert_int_equal(lost->ip, NMI_TIME + 4);
    assert_int_equal(consume()->time, NMI_TIME + 5);
    assert_null(consume());
}

static void stacks_make_slots_larger_and_fewer(void **state)
{
    enum { BYTES = 4 << 20 };
    static const struct {
        uint32_t events, stack_bytes, shift, slots;
    } cases[] = {
        {5, 16, 7, RING_SLOTS},
        {5, 64, 7, RING_SLOTS},
        {5, 72, 8, RING_SLOTS},
        {5, 8 + 127 * 8, 11, 2048},
        {6, 8 + 8 * 111, 10, 4096},
        {13, 8 + 512 * 8, 13, 512},
        {13, 8 + 128 + 32768, 16, RING_SLOTS_MIN},
    };
    void *memory = aligned_alloc(4096, BYTES);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(RING_SLOTS, cases[i].events);
        uint8_t *own = ring.slots;
        ring_add_stacks(&ring, memory, BYTES, cases[i].stack_bytes);
        free(own);
        assert_int_equal(ring.slot_shift, cases[i].shift);
        assert_int_equal(ring.mask + 1, cases[i].slots);
        assert_true(trace_slot_bytes(cases[i].events) + cases[i].stack_bytes <=
                    1u << ring.slot_shift);
        assert_int_equal(ring.record_bytes, trace_slot_bytes(cases[i].events) + 8);
        for (uint64_t time = 0; time < cases[i].slots; time++)
            assert_true(produce(time));
        assert_false(produce(0));
        ring.slots = NULL;
    }
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slot_size_follows_events),
        cmocka_unit_test(keeps_order_across_wraps),
        cmocka_unit_test(drops_and_reports),
        cmocka_unit_test(every_attempt_is_accounted_for),
        cmocka_unit_test(reset_forgets),
        cmocka_unit_test(an_nmi_may_come_anywhere),
        cmocka_unit_test(a_reading_and_its_slot_have_no_nmi_between),
        cmocka_unit_test(a_limit_may_be_behind),
        cmocka_unit_test(nmis_report_losses),
        cmocka_unit_test(stacks_make_slots_larger_and_fewer),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
