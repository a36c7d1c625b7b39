/* guest/sample/pebs.c: from the processor's records to samples; what is damaged, or finds no room,
 * is counted. */
#include "tests/unit/test.h"

#include "tests/unit/guest/sample/fake_pebs.h"

#define EVENTS 3u /* the second one only counts */
#define COUNTER_OF_FIRST 2u
#define COUNTER_OF_THIRD 33u
#define SLOTS 64u

static struct cpu *cpu;
static struct ring ring;
static struct pebs *pebs;
static uint64_t offset, counters[EVENTS];
static bool serves_itself; /* sampler_make_room drains */
static struct trace_slot drained[256];
static uint32_t drained_count;

bool sampler_make_room(struct cpu *of, uint64_t now)
{
    if (ring_reserve(of->ring) != NULL)
        return true;
    if (!serves_itself) {
        ring_drop(of->ring, now);
        return false;
    }
    for (; ring.tail != ring.head; ring.tail++) {
        struct trace_slot *slot = ring_slot(&ring, ring.tail);

        pebs_complete(pebs, slot, counters);
        memcpy(&drained[drained_count++], slot, sizeof *slot);
    }
    return ring_reserve(of->ring) != NULL;
}

static void begin_with(bool registers)
{
    static const uint32_t used[] = {COUNTER_OF_FIRST, COUNTER_OF_THIRD};
    static const struct pmu_driver driver = {.name = "fake"};

    run.pmu = &driver;
    cpu = &cpus[1];
    memset(&sampling, 0, sizeof sampling);
    sampling.precise = true;
    sampling.session.registers = registers;
    sampling.session.event_count = EVENTS;
    sampling.session.events[0].record_period = 100;
    sampling.session.events[0].counter = COUNTER_OF_FIRST;
    sampling.session.events[2].record_period = 10;
    sampling.session.events[2].counter = INTEL_RDPMC_FIXED | 1;
    offset = 1000;
    cpu->clock.offset = &offset;
    pebs = fake_pebs_begin(cpu, &ring, SLOTS);
    memset(pebs->records, 0, sizeof pebs->records);
    memset(counters, 0, sizeof counters);
    pebs->area.ds.base = pebs->area.ds.index = (uint64_t)pebs->area.buffer;
    pebs->area.kind = PMU_RECORD_ADAPTIVE;
    pebs->area.record_bytes = 64;
    pebs->area.latency_shift = 0;
    memset(pebs->area.bits, 0xff, sizeof pebs->area.bits);
    for (uint32_t i = 0; i < 2; i++) {
        pebs->area.bits[used[i]] = 1ull << used[i];
        pebs->area.events[used[i]] = (uint8_t)(2 * i);
    }
    pebs->area.counters = 1ull << COUNTER_OF_FIRST | 1ull << COUNTER_OF_THIRD;
    for (uint32_t i = 0; i < EVENTS; i++) {
        pebs->armed[i] = pebs->next[i] = sampling.session.events[i].record_period;
        pebs->whole[i] = 0;
    }
    pebs->emptied = x86_rdtsc();
    serves_itself = false;
    drained_count = 0;
}

static void begin(void)
{
    begin_with(false);
}

/* The processor writes a record, `i` ticks after the last time the buffer was emptied. */
static uint8_t *write_record(uint64_t i, uint64_t made_by)
{
    uint8_t *at = (uint8_t *)pebs->area.ds.index;
    const uint64_t words[8] = {64ull << 48 | 1,  0x400000 + i, made_by, pebs->emptied + i,
                               0x600000 + 8 * i, 0xa,          214,     0};

    memcpy(at, words, sizeof words);
    pebs->area.ds.index += sizeof words;
    return at;
}

static void expect_sample(const struct trace_slot *slot, uint64_t time, uint64_t i,
                          const uint64_t expected[EVENTS], uint32_t events)
{
    struct hr_access access;

    assert_int_equal(slot->kind, 0);
    assert_int_equal(slot->time, time);
    assert_int_equal(slot->ip, 0x400000 + i);
    assert_int_equal(slot->tid, 77);
    assert_int_equal(slot->cost_ticks, 0);
    assert_memory_equal(slot->counters, expected, 8 * EVENTS);
    memcpy(&access, &slot->counters[EVENTS], offsetof(struct hr_access, registers));
    assert_int_equal(access.address, 0x600000 + 8 * i);
    assert_int_equal(access.source, 0xa);
    assert_int_equal(access.latency, 214);
    assert_int_equal(access.events, events);
}

static void records_become_samples(void **state)
{
    uint64_t first;

    (void)state;
    begin();
    first = pebs->emptied;
    write_record(1, 1ull << COUNTER_OF_FIRST);
    write_record(2, 1ull << COUNTER_OF_THIRD);
    write_record(3, 1ull << COUNTER_OF_THIRD | 1ull << COUNTER_OF_FIRST);
    pebs_empty(cpu);
    assert_int_equal(ring.head, 3);
    assert_int_equal(pebs->area.ds.index, pebs->area.ds.base);
    for (uint32_t i = 0; i < 3; i++)
        pebs_complete(pebs, ring_slot(&ring, i), counters);
    expect_sample(ring_slot(&ring, 0), first - 1000 + 1, 1, (uint64_t[]){100, 0, 0}, 1);
    expect_sample(ring_slot(&ring, 1), first - 1000 + 2, 2, (uint64_t[]){100, 0, 10}, 4);
    expect_sample(ring_slot(&ring, 2), first - 1000 + 3, 3, (uint64_t[]){200, 0, 20}, 5);
    assert_int_equal(pebs->whole[0], 200);
    assert_int_equal(pebs->whole[2], 20);
    pebs_empty(cpu);
    assert_int_equal(ring.head, 3);
    fake_pebs_end();
}

/* A session of one event has code of its own. */
static void one_event_likewise(void **state)
{
    uint64_t first;

    (void)state;
    begin();
    pebs->area.counters = 1ull << COUNTER_OF_FIRST;
    first = pebs->emptied;
    for (uint64_t i = 1; i <= 5; i++)
        write_record(i, 1ull << COUNTER_OF_FIRST);
    pebs_empty(cpu);
    assert_int_equal(ring.head, 5);
    for (uint32_t i = 0; i < 5; i++) {
        pebs_complete(pebs, ring_slot(&ring, i), counters);
        expect_sample(ring_slot(&ring, i), first - 1000 + i + 1, i + 1,
                      (uint64_t[]){100 * (i + 1), 0, 0}, 1);
    }
    assert_int_equal(pebs->whole[0], 500);
    fake_pebs_end();
}

/* Registers come from the record in its order, and leave in that of the trace. */
static void registers_are_put_in_order(void **state)
{
    static const uint8_t fixed[HR_ACCESS_REGISTERS] = {0, 1,  2,  4,  5,  3,  9,  8,  6,
                                                       7, 10, 11, 12, 13, 14, 15, 16, 17};

    (void)state;
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        uint32_t bytes = adaptive ? 208 : 200, from = adaptive ? 64 : 0;
        uint64_t words[26] = {0}, by = 1ull << COUNTER_OF_FIRST;
        struct hr_access access;

        begin_with(true);
        pebs->area.kind = adaptive ? PMU_RECORD_ADAPTIVE_REGISTERS : PMU_RECORD_FORMAT3;
        pebs->area.record_bytes = bytes;
        for (uint32_t i = 0; i < HR_ACCESS_REGISTERS; i++)
            words[from / 8 + i] = 0x1000 + i;
        if (adaptive)
            words[0] = 208ull << 48 | 3;
        words[adaptive ? 2 : 0x90 / 8] = by;
        for (uint32_t i = 0; i < 2; i++)
            memcpy(pebs->area.buffer + i * bytes, words, bytes);
        pebs->area.ds.index += 2ull * bytes;
        pebs_empty(cpu);
        assert_int_equal(ring.head, 2);
        pebs_complete(pebs, ring_slot(&ring, 1), counters);
        memcpy(&access, &ring_slot(&ring, 1)->counters[EVENTS], sizeof access);
        assert_int_equal(access.events, 1);
        for (uint32_t i = 0; i < HR_ACCESS_REGISTERS; i++)
            assert_int_equal(access.registers[i], 0x1000 + (adaptive ? i : fixed[i]));
        fake_pebs_end();
    }
}

/* stack_add_to_ring gives it another place. */
static void with_stacks_the_ring_stays(void **state)
{
    (void)state;
    run.stacks.kind = HR_STACK_FP;
    begin();
    run.stacks.kind = 0;
    assert_int_equal(block_count, 1); /* that of the records */
    assert_int_equal(ring.record_bytes, trace_slot_bytes(EVENTS + TRACE_SLOT_ACCESS));
    fake_pebs_end();
}

static void expect_loss(uint64_t position, uint64_t lost)
{
    assert_int_equal(ring_slot(&ring, position)->kind, HR_REC_LOST);
    assert_int_equal(ring_slot(&ring, position)->counters[0], lost);
}

static void damaged_records_are_lost(void **state)
{
    (void)state;
    for (int one = 0; one < 2; one++) {
        uint64_t first, impossible = 1ull << 63;
        uint8_t *at;

        begin();
        if (one)
            pebs->area.counters = 1ull << COUNTER_OF_FIRST;
        first = pebs->emptied;
        write_record(1, 1ull << COUNTER_OF_FIRST);
        at = write_record(2, 1ull << COUNTER_OF_FIRST);
        at[6] = 65; /* its size */
        write_record(3, 0);
        write_record(4, 1ull << 1); /* a counter that makes none */
        write_record(5, 1ull << COUNTER_OF_FIRST | 1ull << 63);
        at = write_record(6, 1ull << COUNTER_OF_FIRST);
        memcpy(at + 24, &impossible, sizeof impossible); /* its time */
        pebs_empty(cpu);
        assert_int_equal(ring.head, 6); /* the first, what was lost, the last */
        pebs_complete(pebs, ring_slot(&ring, 0), counters);
        pebs_complete(pebs, ring_slot(&ring, 5), counters);
        expect_sample(ring_slot(&ring, 0), first - 1000 + 1, 1, (uint64_t[]){100, 0, 0}, 1);
        for (uint64_t i = 1; i < 5; i++)
            expect_loss(i, 1);
        expect_sample(ring_slot(&ring, 5), first - 1000, 6, (uint64_t[]){200, 0, 0}, 1);
        assert_int_equal(ring.lost_count, 0);
        assert_int_equal(pebs->whole[0], 200);
        fake_pebs_end();
    }
}

static void a_full_ring_loses_what_it_must(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 0; i < SLOTS + 10; i++)
        write_record(i, 1ull << (i % 2 ? COUNTER_OF_FIRST : COUNTER_OF_THIRD));
    pebs_empty(cpu);
    assert_int_equal(ring.head, SLOTS);
    assert_int_equal(ring.lost_count, 10);
    assert_int_equal(pebs->whole[0], 100 * (SLOTS + 10) / 2); /* what was lost was counted */
    assert_int_equal(pebs->whole[2], 10 * (SLOTS + 10) / 2);
    ring.tail = ring.head;
    write_record(0, 1ull << COUNTER_OF_FIRST);
    pebs_empty(cpu);
    assert_int_equal(ring.head, SLOTS + 2);
    expect_loss(SLOTS, 10);
    fake_pebs_end();
}

static void who_serves_itself_loses_none(void **state)
{
    (void)state;
    begin();
    serves_itself = true;
    for (uint64_t i = 0; i < 3 * SLOTS; i++)
        write_record(i, 1ull << COUNTER_OF_FIRST);
    pebs_empty(cpu);
    assert_true(sampler_make_room(cpu, 0));
    while (ring.tail != ring.head)
        memcpy(&drained[drained_count++], ring_slot(&ring, ring.tail++), sizeof drained[0]);
    assert_int_equal(drained_count, 3 * SLOTS);
    for (uint64_t i = 0; i < 3 * SLOTS; i++)
        assert_int_equal(drained[i].ip, 0x400000 + i);
    assert_int_equal(ring.lost_count, 0);
    fake_pebs_end();
}

static void random_periods_are_close_and_repeat(void **state)
{
    uint64_t drawn[2][50], sum = 0;

    (void)state;
    for (int round = 0; round < 2; round++) {
        begin();
        sampling.jitter = true;
        pebs->random = 1;
        sampling.session.events[0].width_bits = sampling.session.events[2].width_bits = 48;
        for (int i = 0; i < 50; i++) {
            uint64_t whole = pebs->whole[0], armed = pebs->armed[0], next = pebs->next[0];

            write_record(0, 1ull << COUNTER_OF_FIRST);
            write_record(1, 1ull << COUNTER_OF_FIRST);
            pebs_empty(cpu);
            ring.tail = ring.head;
            /* the record under way ends with the period that was set when it began */
            assert_int_equal(pebs->whole[0], whole + armed + next);
            assert_in_range(pebs->next[0], 100 - 12, 100 + 12);
            assert_in_range(pebs->next[2], 10 - 1, 10 + 1);
            assert_int_equal(pebs->area.ds.general_reset[COUNTER_OF_FIRST],
                             (1 - pebs->next[0]) & 0xffffffffffff);
            drawn[round][i] = pebs->next[0];
            sum += pebs->next[0];
        }
        fake_pebs_end();
    }
    assert_memory_equal(drawn[0], drawn[1], sizeof drawn[0]);
    assert_in_range(sum / 100, 97, 103);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_become_samples),
        cmocka_unit_test(one_event_likewise),
        cmocka_unit_test(registers_are_put_in_order),
        cmocka_unit_test(with_stacks_the_ring_stays),
        cmocka_unit_test(damaged_records_are_lost),
        cmocka_unit_test(a_full_ring_loses_what_it_must),
        cmocka_unit_test(who_serves_itself_loses_none),
        cmocka_unit_test(random_periods_are_close_and_repeat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
