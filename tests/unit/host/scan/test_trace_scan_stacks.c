/* The walk hands call stacks to its visitors: the right ones, to those who ask. */
#include "host/scan/trace_scan.h"

#include "tests/unit/host/fixture.h"

#define SAMPLES 3000u
#define CPU 1u /* the fixture's own writer has CPU 0 */

static struct fixture f;
static struct trace_writer w;
static uint8_t chunk[TRACE_STACKS_CHUNK_BYTES_MIN];
static void *memory;

static union {
    struct trace_slot slot;
    uint8_t bytes[4096];
} room;

static struct trace_slot_stack *stack(void)
{
    return (struct trace_slot_stack *)&room.slot.counters[TRACE_SLOT_SMALL_EVENTS];
}

static void begin(enum hr_stack_kind kind, uint32_t limit)
{
    const struct hr_meta_stacks meta = {.kind = kind, .limit = limit};

    fixture_init(&f);
    fixture_add(&f.meta, HR_META_STACKS, &meta, sizeof meta, NULL);
    fixture_begin_data(&f);
    memory = malloc(trace_stacks_bytes(kind));
    assert_non_null(memory);
    trace_writer_init(&w, chunk, sizeof chunk, CPU, 2);
    trace_writer_stacks(&w, kind, memory);
    trace_writer_begin(&w, HR_CHUNK_DATA);
    memset(&room, 0, sizeof room);
}

static void end(void)
{
    fixture_free(&f);
    free(memory);
}

static uint64_t sample_time(uint32_t i)
{
    return FIXTURE_START + 100ull * i;
}

/* What sample i's stack is: two to nine frames, some of them shared with its neighbours. */
static uint32_t chain(uint32_t i, uint64_t addresses[9])
{
    uint32_t count = i % 10 == 9 ? 0 : 2 + i / 7 % 8;

    for (uint32_t n = 0; n < count; n++) /* the outermost last */
        addresses[count - 1 - n] = 0x401000 + n * 0x100 + (n > 3 ? i / 5 % 11 : 0);
    return count;
}

static uint32_t chain_root(uint32_t i)
{
    return i % 10 == 9 ? HR_STACK_NONE : i % 3 == 0 ? HR_STACK_CUT : HR_STACK_WHOLE;
}

static void put_sample(void)
{
    if (trace_writer_sample(&w, &room.slot) == 0)
        return;
    fixture_chunk(&f, &w);
    trace_writer_begin(&w, HR_CHUNK_DATA);
    assert_int_equal(trace_writer_sample(&w, &room.slot), 0);
}

/* A thread begins to wait after sample i, with the next one's stack; what counters it has is
 * nothing. */
static void put_wait(uint32_t i)
{
    struct trace_slot sample = room.slot;

    room.slot = (struct trace_slot){.time = sample_time(i) + 40,
                                    .ip = 0x12345678,
                                    .tid = 3,
                                    .flags = HR_SAMPLE_WAITING | HR_SAMPLE_NO_COUNTERS,
                                    .counters = {77, 1ull << 60}};
    stack()->root = chain_root(i + 1);
    stack()->count = chain(i + 1, stack()->words);
    put_sample();
    memset(&room, 0, sizeof room);
    room.slot = sample;
}

static bool with_waits; /* one after every 7th sample */

static void put_chains(uint32_t samples)
{
    for (uint32_t i = 0; i < samples; i++) {
        room.slot.time = sample_time(i);
        room.slot.tid = 1 + i / 100 % 2;
        room.slot.ip = 0x401000 + i;
        room.slot.counters[0] = 10 * i * i;
        stack()->root = chain_root(i);
        stack()->count = chain(i, stack()->words);
        put_sample();
        if (with_waits && i % 7 == 3)
            put_wait(i);
        if (i % 1000 == 700) {
            const struct hr_rec_mark mark = {.time = room.slot.time};

            fixture_add(&w, HR_REC_MARK, &mark, sizeof mark, "text");
        }
        if (i % 1000 == 500) { /* stacks go on in the next chunk */
            fixture_chunk(&f, &w);
            trace_writer_begin(&w, HR_CHUNK_DATA);
        }
    }
    fixture_chunk(&f, &w);
    fixture_end(&f);
}

struct seen {
    const struct trace_scan *scan;
    uint32_t samples;
    uint32_t first, last; /* numbers of the samples seen */
    uint32_t without; /* samples that came without stacks */
    uint32_t waits;
    uint32_t roots[HR_STACK_ROOTS];
    bool roots_only;
    bool chains;
};

static void expect_chain(const struct seen *seen, uint32_t i, uint32_t node)
{
    uint64_t expected[9], addresses[16];
    uint32_t count = chain(i, expected);

    assert_int_equal(stacks_addresses(&seen->scan->stacks, node, addresses, 16), count);
    assert_memory_equal(addresses, expected, count * sizeof expected[0]);
    assert_int_equal(stacks_root(&seen->scan->stacks, node), chain_root(i));
}

static int see(void *context, const struct trace_samples *samples)
{
    struct seen *seen = context;

    if (samples->chunk->cpu != CPU)
        return 0;
    for (uint32_t n = 0; n < samples->count; n++) {
        uint32_t i = (uint32_t)((samples->slots[n].time - FIXTURE_START) / 100);

        if (seen->samples++ == 0)
            seen->first = i;
        seen->last = i;
        if (seen->chains) { /* whether there are waits or not */
            const struct trace_slot *before = n != 0 ? &samples->slots[n - 1] : samples->previous;

            assert_int_equal(samples->slots[n].counters[0], 10 * i * i);
            assert_int_equal(before->time, i != 0 ? sample_time(i - 1) : 0);
            assert_int_equal(before->ip, i != 0 ? 0x401000 + i - 1 : 0);
        }
        seen->without += samples->stacks == NULL;
        if (samples->stacks != NULL && (seen->roots_only || !seen->chains)) {
            assert_true(seen->chains || samples->stacks[n] < seen->scan->stacks.count);
            seen->roots[stacks_root(&seen->scan->stacks, samples->stacks[n])]++;
            assert_true(!seen->roots_only || samples->stacks[n] < HR_STACK_ROOTS);
        } else if (samples->stacks != NULL) {
            expect_chain(seen, i, samples->stacks[n]);
        }
    }
    return 0;
}

static int see_wait(void *context, const struct trace_samples *samples)
{
    struct seen *seen = context;
    uint32_t i = (uint32_t)((samples->slots[0].time - FIXTURE_START) / 100);

    assert_int_equal(samples->count, 1);
    assert_int_equal(samples->slots[0].time, sample_time(i) + 40);
    assert_int_equal(samples->slots[0].ip, 0x12345678);
    assert_int_equal(samples->slots[0].counters[0], 10 * i * i);
    expect_chain(seen, i + 1, samples->stacks[0]);
    seen->waits++;
    return 0;
}

static struct seen walk(enum trace_scan_stacks wanted, bool chains, uint64_t from_ns,
                        uint64_t to_ns, uint32_t *thread, uint64_t damaged)
{
    struct seen seen = {.roots_only = wanted == TRACE_SCAN_ROOTS, .chains = chains};
    const struct trace_visitor visitor = {.context = &seen, .stacks = wanted, .samples = see};
    struct trace_scan scan;

    assert_int_equal(trace_scan_open(&scan, fixture_file(&f)), 0);
    seen.scan = &scan;
    scan.selection.from_ns = from_ns;
    scan.selection.to_ns = to_ns;
    scan.selection.threads = thread;
    scan.selection.thread_count = thread != NULL;
    assert_int_equal(trace_scan_run(&scan, &visitor), 0);
    assert_int_equal(scan.audit.damage_count, damaged);
    scan.selection.threads = NULL;
    trace_scan_close(&scan);
    return seen;
}

static void every_sample_has_its_chain(void **state)
{
    struct seen seen;

    (void)state;
    begin(HR_STACK_FP, 127);
    put_chains(SAMPLES);
    seen = walk(TRACE_SCAN_STACKS, true, 0, UINT64_MAX, NULL, 0);
    assert_int_equal(seen.samples, SAMPLES);
    assert_int_equal(seen.without, 0);
    end();
}

/* Where threads wait are no samples: those who do not ask see the trace that it would be without.
 */
static void waits_are_no_samples(void **state)
{
    const struct trace_visitor visitor = {.stacks = TRACE_SCAN_STACKS, .waits = see_wait};
    struct trace_visitor asks = visitor;
    struct trace_scan scan;
    struct seen seen;

    (void)state;
    with_waits = true;
    begin(HR_STACK_FP, 127);
    put_chains(SAMPLES);
    with_waits = false;
    seen = walk(TRACE_SCAN_STACKS, true, 0, UINT64_MAX, NULL, 0);
    assert_int_equal(seen.samples, SAMPLES);
    assert_int_equal(seen.without, 0);
    assert_int_equal(w.samples, SAMPLES);
    seen = (struct seen){.scan = &scan};
    asks.context = &seen;
    assert_int_equal(trace_scan_open(&scan, fixture_file(&f)), 0);
    assert_int_equal(trace_scan_run(&scan, &asks), 0);
    assert_int_equal(seen.waits, (SAMPLES + 3) / 7);
    assert_int_equal(scan.audit.damage_count, 0);
    trace_scan_close(&scan);
    end();
}

static void who_does_not_ask_gets_none(void **state)
{
    struct seen seen;

    (void)state;
    begin(HR_STACK_FP, 127);
    put_chains(SAMPLES);
    seen = walk(TRACE_SCAN_NO_STACKS, true, 0, UINT64_MAX, NULL, 0);
    assert_int_equal(seen.samples, SAMPLES);
    assert_int_equal(seen.without, SAMPLES);
    seen = walk(TRACE_SCAN_ROOTS, true, 0, UINT64_MAX, NULL, 0);
    assert_int_equal(seen.without, 0);
    assert_int_equal(seen.roots[HR_STACK_NONE], SAMPLES / 10);
    assert_int_equal(seen.roots[HR_STACK_CUT], SAMPLES / 3 - SAMPLES / 30);
    end();
}

static void a_selection_cuts_stacks_with_their_samples(void **state)
{
    uint32_t thread = 2;
    struct seen seen;

    (void)state;
    begin(HR_STACK_FP, 127);
    put_chains(SAMPLES);
    seen = walk(TRACE_SCAN_STACKS, true, 100ull * 777, 100ull * 1234, NULL, 0);
    assert_int_equal(seen.first, 777);
    assert_int_equal(seen.last, 1234);
    assert_int_equal(seen.samples, 1234 - 777 + 1);
    seen = walk(TRACE_SCAN_STACKS, true, 0, UINT64_MAX, &thread, 0);
    assert_int_equal(seen.samples, SAMPLES / 2);
    assert_int_equal(seen.first, 100);
    end();
}

/* A record of stacks that does not follow its run: the chunk is wrong, for those who look. */
static void stacks_of_no_run_are_damage(void **state)
{
    (void)state;
    begin(HR_STACK_FP, 127);
    fixture_add(&w, HR_REC_MARK, "16 bytes of mark", 16, "text");
    fixture_add(&w, HR_REC_STACKS, "\x04", 1, NULL);
    put_chains(10);
    assert_int_equal(walk(TRACE_SCAN_STACKS, true, 0, UINT64_MAX, NULL, 1).samples, 0);
    assert_int_equal(walk(TRACE_SCAN_NO_STACKS, true, 0, UINT64_MAX, NULL, 0).samples, 10);
    end();
}

/* Nothing is known about the addresses: stacks end soon, but each sample has one. */
static void copies_are_unwound_when_they_are_asked_for(void **state)
{
    struct seen seen;

    (void)state;
    begin(HR_STACK_DWARF, 512);
    for (uint32_t i = 0; i < 500; i++) {
        room.slot.time = sample_time(i);
        room.slot.ip = 0x401000;
        stack()->root = i % 10 == 0 ? HR_STACK_NONE : HR_STACK_WHOLE;
        stack()->count = i % 10 == 0 ? 0 : i;
        stack()->words[7] = 0x7ffffffe0000 + i;
        stack()->words[HR_STACK_REGISTERS + i % 8] = i * 0x1234567ull;
        put_sample();
    }
    fixture_chunk(&f, &w);
    fixture_end(&f);
    seen = walk(TRACE_SCAN_ROOTS, false, 0, UINT64_MAX, NULL, 0);
    assert_int_equal(seen.roots[HR_STACK_NONE], 50);
    assert_int_equal(seen.roots[HR_STACK_WHOLE], 450);
    seen = walk(TRACE_SCAN_STACKS, false, 0, UINT64_MAX, NULL, 0);
    assert_int_equal(seen.samples, 500);
    assert_int_equal(seen.without, 0);
    assert_int_equal(seen.roots[HR_STACK_NONE], 50);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_has_its_chain),
        cmocka_unit_test(waits_are_no_samples),
        cmocka_unit_test(who_does_not_ask_gets_none),
        cmocka_unit_test(a_selection_cuts_stacks_with_their_samples),
        cmocka_unit_test(stacks_of_no_run_are_damage),
        cmocka_unit_test(copies_are_unwound_when_they_are_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
