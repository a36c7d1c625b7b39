/* Tests of host/scan/trace_parallel.c: any number of workers gives what one gives, whatever the
 * trace.
 */
#include "host/scan/trace_parallel.h"

#include <errno.h>

#include "host/summary/summary.h"
#include "tests/unit/host/fixture.h"

#define CPUS 3u

struct cpus { /* writers of three CPUs; fixture_* serve META and END */
    struct fixture f;
    struct trace_writer writers[CPUS];
    uint8_t chunks[CPUS][FIXTURE_CHUNK_BYTES];
    struct trace_slot slots[CPUS];
    uint32_t random;
};

static uint32_t below(struct cpus *c, uint32_t limit)
{
    c->random = c->random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(c->random >> 8) * limit >> 24);
}

static void one_sample(struct cpus *c, uint32_t cpu)
{
    struct trace_slot *slot = &c->slots[cpu];
    uint32_t roll = below(c, 40);

    slot->time += FIXTURE_INTERVAL + below(c, 30);
    slot->ip = 0x401000 + below(c, 64) * 16;
    slot->tid = 1 + below(c, 2);
    slot->cost_ticks = (uint16_t)(5 + below(c, 9));
    slot->flags = roll == 0 ? HR_SAMPLE_POLLED : roll == 1 ? HR_SAMPLE_RESUMED : 0;
    slot->counters[0] += 90 + below(c, 20);
    slot->counters[1] += below(c, 500);
    assert_int_equal(trace_writer_sample(&c->writers[cpu], slot), 0);
}

/* A chunk of one CPU with pauses and losses between its samples. */
static void one_chunk(struct cpus *c, uint32_t cpu)
{
    const struct hr_rec_gap gap = {.reason = HR_GAP_SLEEP, .tid = 1};
    struct hr_rec_lost lost = {.count = 3};

    trace_writer_begin(&c->writers[cpu], HR_CHUNK_DATA);
    for (uint32_t n = 1 + below(c, 40); n > 0; n--) {
        one_sample(c, cpu);
        lost.time_first = lost.time_last = c->slots[cpu].time;
        if (below(c, 30) == 0)
            fixture_add(&c->writers[cpu], HR_REC_GAP, &gap, sizeof gap, NULL);
        if (below(c, 60) == 0)
            assert_int_equal(trace_writer_lost(&c->writers[cpu], &lost), 0);
    }
    fixture_chunk(&c->f, &c->writers[cpu]);
}

static void make(struct cpus *c, uint32_t seed, uint32_t mode)
{
    memset(c, 0, sizeof *c);
    c->random = seed;
    fixture_init_sampling(&c->f,
                          (struct hr_meta_sampling){.interval_ticks = FIXTURE_INTERVAL,
                                                    .mode = mode,
                                                    .period_events = 100,
                                                    .cpu_count = CPUS},
                          (struct hr_meta_calibration){40, 7, 0, 100, 0});
    fixture_chunk(&c->f, &c->f.meta);
    for (uint32_t i = 0; i < CPUS; i++) {
        trace_writer_init(&c->writers[i], c->chunks[i], FIXTURE_CHUNK_BYTES, (uint16_t)i, 2);
        c->slots[i].time = FIXTURE_START;
    }
    for (uint32_t i = 0; i < 50; i++)
        one_chunk(c, below(c, CPUS));
    trace_writer_begin(&c->f.meta, HR_CHUNK_END);
    for (uint32_t i = 0; i < CPUS; i++) {
        const struct hr_rec_stream stream = {.samples = c->writers[i].samples,
                                             .lost = c->writers[i].lost,
                                             .chunks = c->writers[i].sequence,
                                             .cpu = (uint16_t)i};

        fixture_add(&c->f.meta, HR_REC_STREAM, &stream, sizeof stream, NULL);
    }
    fixture_finish(&c->f);
    fixture_file(&c->f);
}

static void same(const struct summary *a, const struct summary *b)
{
    const struct summary_spread *spreads[][2] = {
        {&a->interval, &b->interval}, {&a->skew, &b->skew}, {&a->cost, &b->cost}};

    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(spreads[i][0], spreads[i][1], sizeof *spreads[i][0]);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->polled, b->polled);
    assert_int_equal(a->lost, b->lost);
    assert_int_equal(a->gone, b->gone);
    assert_int_equal(a->duration_ns, b->duration_ns);
    assert_int_equal(a->complete, b->complete);
    assert_int_equal(a->damaged_chunks, b->damaged_chunks);
    assert_int_equal(a->missing_chunks, b->missing_chunks);
    assert_memory_equal(a->last, b->last, sizeof a->last);
    assert_memory_equal(a->sums, b->sums, sizeof a->sums);
    assert_memory_equal(&a->period, &b->period, sizeof a->period);
}

/* Two numbers of workers beside one: a few seeds go through them all. */
static void compare_jobs(const char *path, const struct selection *wanted, uint32_t seed)
{
    const unsigned int others = TRACE_PARALLEL_JOBS_MAX - 1;
    const unsigned int jobs[] = {1, 2 + seed % others, 2 + (seed + others / 2) % others};
    struct summary one, several;

    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct selection selection = *wanted;

        assert_int_equal(summary_of_part(path, &selection, jobs[i], i == 0 ? &one : &several), 0);
        if (i == 0)
            continue;
        same(&one, &several);
        summary_free(&several);
    }
    assert_true(one.samples != 0);
    summary_free(&one);
}

static struct cpus c;

static void as_one_worker(void **state)
{
    static const uint32_t modes[] = {HR_MODE_TIMER, HR_MODE_IPI, HR_MODE_OVERFLOW,
                                     HR_MODE_INSTRUCTED};
    struct selection all;

    (void)state;
    selection_init(&all);
    for (uint32_t seed = 0; seed < 24; seed++) {
        make(&c, seed, modes[seed % 4]);
        compare_jobs(c.f.path, &all, seed);
        fixture_free(&c.f);
    }
}

static void as_one_worker_of_a_part(void **state)
{
    struct selection part;

    (void)state;
    for (uint32_t seed = 0; seed < 24; seed++) {
        selection_init(&part);
        make(&c, seed, HR_MODE_TIMER);
        part.from_ns = seed % 2 != 0 ? 5000 : 0;
        part.to_ns = seed % 3 != 0 ? 30000 : UINT64_MAX;
        compare_jobs(c.f.path, &part, seed);
        fixture_free(&c.f);
    }
}

/* Bytes turned over, chunks cut out, the end cut off: also then. */
static void as_one_worker_of_damage(void **state)
{
    struct selection all;

    (void)state;
    selection_init(&all);
    for (uint32_t seed = 0; seed < 60; seed++) {
        size_t chunk = 2 + seed % 40, at;

        make(&c, seed, HR_MODE_TIMER);
        at = c.f.offsets[chunk];
        if (seed % 3 == 0) {
            c.f.bytes[at + seed] ^= 0x10;
        } else if (seed % 3 == 1) {
            size_t next = c.f.offsets[chunk + 1];

            memmove(c.f.bytes + at, c.f.bytes + next, c.f.count - next);
            c.f.count -= next - at;
        } else {
            c.f.count = at + seed % 64;
        }
        fixture_file(&c.f);
        compare_jobs(c.f.path, &all, seed);
        fixture_free(&c.f);
    }
}

struct counts {
    int joined, left, taken;
};

static void *join(void *owner, struct trace_scan *scan)
{
    struct counts *counts = owner;

    (void)scan;
    counts->joined++;
    return malloc(1);
}

static void leave(void *owner, void *context)
{
    struct counts *counts = owner;

    counts->left++;
    free(context);
}

static int take(void *owner, void *context)
{
    struct counts *counts = owner;

    (void)context;
    counts->taken++;
    return 0;
}

static int refuse(void *context, const struct trace_samples *samples)
{
    (void)context;
    return samples->chunk->cpu == 2 ? -EDOM : 0;
}

static struct counts run(const char *path, unsigned int jobs, int wanted,
                         int (*visit)(void *, const struct trace_samples *))
{
    struct counts counts = {0};
    const struct trace_team team = {.owner = &counts,
                                    .visitor = {.samples = visit},
                                    .join = join,
                                    .take = take,
                                    .leave = leave};
    struct trace_scan scan;

    assert_int_equal(trace_scan_open(&scan, path), 0);
    assert_int_equal(trace_parallel_run(&scan, &team, jobs), wanted);
    trace_scan_close(&scan);
    return counts;
}

static void everybody_leaves(void **state)
{
    struct counts counts;

    (void)state;
    make(&c, 7, HR_MODE_TIMER);
    counts = run(c.f.path, 4, 0, NULL);
    assert_int_equal(counts.joined, 4);
    assert_int_equal(counts.taken, 4);
    assert_int_equal(counts.left, 4);
    counts = run(c.f.path, 4, -EDOM, refuse);
    assert_int_equal(counts.joined, 4);
    assert_int_equal(counts.taken, 0);
    assert_int_equal(counts.left, 4);
    fixture_free(&c.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_one_worker),
        cmocka_unit_test(as_one_worker_of_a_part),
        cmocka_unit_test(as_one_worker_of_damage),
        cmocka_unit_test(everybody_leaves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
