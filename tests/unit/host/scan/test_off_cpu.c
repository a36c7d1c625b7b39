/* Each wait ends with the next switch to its thread, whichever chunk that is in. */
#include "host/scan/off_cpu.h"

#include "tests/unit/test.h"

struct seen {
    uint32_t count;
    uint64_t ticks[16];
    uint32_t stacks[16];
};

static struct off_cpu off;

static void wait_at(uint32_t tid, uint64_t time, uint32_t stack)
{
    const struct trace_slot slot = {.tid = tid, .time = time, .ip = 0x401000};
    const struct hr_chunk_header chunk = {.cpu = 3};
    const struct trace_samples samples = {
        .chunk = &chunk, .slots = &slot, .count = 1, .stacks = &stack};

    assert_int_equal(off_cpu_take_waits(&off, &samples), 0);
}

static void runs_at(uint32_t tid, uint64_t time)
{
    const struct hr_rec_switch change = {.time = time, .to_tid = tid};
    const struct trace_record record = {
        .type = HR_REC_SWITCH, .bytes = sizeof change, .body = (const uint8_t *)&change};

    assert_int_equal(off_cpu_take_record(&off, &record), 0);
}

static int take(void *context, const struct off_cpu_event *wait, uint64_t ticks)
{
    struct seen *seen = context;

    assert_int_equal(wait->cpu, 3);
    seen->ticks[seen->count] = ticks;
    seen->stacks[seen->count++] = wait->stack;
    return 0;
}

static void a_wait_ends_when_its_thread_runs(void **state)
{
    struct seen seen = {0};

    (void)state;
    runs_at(1, 500); /* another CPU's chunk comes first */
    runs_at(1, 100);
    runs_at(0, 50);
    wait_at(1, 200, 7);
    wait_at(2, 10, 8);
    runs_at(2, 10); /* no time passed */
    runs_at(2, 300);
    wait_at(2, 310, 9);
    assert_int_equal(off_cpu_settle(&off, take, &seen), 0);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.ticks[0], 300);
    assert_int_equal(seen.stacks[0], 7);
    assert_int_equal(seen.ticks[1], 0);
    assert_int_equal(seen.stacks[1], 8);
    runs_at(2, 410); /* the one that was kept */
    assert_int_equal(off_cpu_settle(&off, take, &seen), 0);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.ticks[2], 100);
    assert_int_equal(seen.stacks[2], 9);
    off_cpu_free(&off);
}

static void other_records_are_none(void **state)
{
    const struct trace_record mark = {.type = HR_REC_MARK};
    const struct trace_record cut = {.type = HR_REC_SWITCH, .bytes = 8};

    (void)state;
    assert_int_equal(off_cpu_take_record(&off, &mark), 0);
    assert_int_equal(off_cpu_take_record(&off, &cut), 0);
    assert_int_equal(off.count, 0);
    assert_int_equal(off_cpu_settle(&off, take, NULL), 0);
    assert_false(off_cpu_full(&off));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_ends_when_its_thread_runs),
        cmocka_unit_test(other_records_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
