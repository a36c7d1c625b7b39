/* Tests of host/scan/trace_ahead.c: what was decoded ahead is read again only where it has to be.
 */
#include "host/scan/trace_ahead.h"

#include <errno.h>

#include "tests/unit/host/fixture.h"

#define JOBS 3u
#define BEFORE 8u /* chunks of samples, then metadata */
#define AFTER 45u

struct seen {
    struct trace_scan scan;
    uint32_t chunks, again;
    uint64_t samples;
};

static int take_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct seen *seen = context;

    (void)chunk;
    assert_true(continues);
    seen->chunks++;
    seen->again += seen->scan.ahead == NULL;
    usleep(200); /* the others have taken theirs */
    return 0;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct seen *seen = context;

    seen->samples += samples->count;
    return 0;
}

static void add_chunks(struct fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fixture_samples(f, 10);
        if (i + 1 < count)
            fixture_split(f);
    }
}

static void once_after_metadata(void **state)
{
    struct seen seen = {0};
    const struct trace_visitor visitor = {
        .context = &seen, .chunk = take_chunk, .samples = take_samples};
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_begin_data(&f);
    add_chunks(&f, BEFORE);
    fixture_chunk(&f, &f.data);
    trace_writer_begin(&f.meta, HR_CHUNK_META);
    fixture_add(&f.meta, HR_META_INFO, "a.key\0value", 12, NULL);
    fixture_begin_data(&f);
    add_chunks(&f, AFTER);
    fixture_end(&f);
    assert_int_equal(trace_scan_open(&seen.scan, fixture_file(&f)), 0);
    seen.scan.jobs = JOBS;
    assert_int_equal(trace_scan_run(&seen.scan, &visitor), 0);
    assert_int_equal(seen.chunks, BEFORE + AFTER);
    assert_int_equal(seen.samples, 10 * (BEFORE + AFTER));
    assert_in_range(seen.again, 0, JOBS - 1); /* those that the other threads held */
    assert_true(trace_audit_complete(&seen.scan.audit));
    trace_scan_close(&seen.scan);
    fixture_free(&f);
}

struct digest {
    uint64_t samples;
    bool visited; /* its chunk has an odd number: take refuses it */
};

static void *join(void *context, struct trace_scan *scan)
{
    assert_ptr_not_equal(scan, &((struct seen *)context)->scan);
    return test_calloc(1, sizeof(struct digest));
}

static int begin_digest(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct digest *digest = context;

    (void)continues;
    *digest = (struct digest){.visited = chunk->header.sequence % 2 != 0};
    return chunk->header.sequence % 5 == 0 ? 1 : 0; /* makes none */
}

static int digest_samples(void *context, const struct trace_samples *samples)
{
    ((struct digest *)context)->samples += samples->count;
    return 0;
}

static int take_digest(void *context, void *digest)
{
    struct seen *seen = context;
    const struct digest *d = digest;

    if (d->visited)
        return -EAGAIN;
    assert_int_equal(d->samples, 10);
    seen->samples += d->samples;
    return 0;
}

static void leave(void *digest)
{
    test_free(digest);
}

static void digests_of_chunks(void **state)
{
    static const struct trace_digest digest = {
        .visitor = {.chunk = begin_digest, .samples = digest_samples},
        .join = join,
        .take = take_digest,
        .leave = leave};
    struct seen seen = {0};
    const struct trace_visitor visitor = {
        .context = &seen, .chunk = take_chunk, .samples = take_samples, .digest = &digest};
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_begin_data(&f);
    add_chunks(&f, AFTER);
    fixture_end(&f);
    assert_int_equal(trace_scan_open(&seen.scan, fixture_file(&f)), 0);
    seen.scan.jobs = JOBS;
    assert_int_equal(trace_scan_run(&seen.scan, &visitor), 0);
    assert_int_equal(seen.samples, 10 * AFTER);
    /* Of 45 chunks 22 have odd numbers, and 5 of the others are multiples of 5. */
    assert_in_range(seen.chunks, 22, 22 + 5 + JOBS);
    assert_true(trace_audit_complete(&seen.scan.audit));
    trace_scan_close(&seen.scan);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once_after_metadata),
        cmocka_unit_test(digests_of_chunks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
