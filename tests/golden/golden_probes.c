/* Builds the golden traces of probes and of calls: what versions 1.9 to 1.12 added. */
#include "tests/golden/golden_probes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/trace/trace_pages.h"
#include "tests/golden/golden_file.h"

#define PER_SAMPLE (GOLDEN_PROBES_HITS / GOLDEN_PROBES_SAMPLES)

struct trace_slot golden_probes_sample(uint32_t i)
{
    return (struct trace_slot){
        .time = GOLDEN_START_TIME + 1000 * i,
        .ip = 0x401000 + i,
        .tid = 1 + i / 10,
        .cost_ticks = 30,
        .counters = {1000 * i, 300 * i},
    };
}

/* `outer` is entered, calls `inner`, which returns, and so on; at last a place is reached. */
struct trace_hit golden_probes_hit(uint32_t i)
{
    static const struct {
        uint32_t point, what, depth;
    } steps[4] = {{0, HR_PROBE_ENTERED, 1},
                  {2, HR_PROBE_ENTERED, 2},
                  {3, HR_PROBE_RETURNED, 2},
                  {1, HR_PROBE_RETURNED, 1}};
    struct trace_hit hit = {
        .time = GOLDEN_START_TIME + 1000 * (i / PER_SAMPLE) + 100 + 250 * (i % PER_SAMPLE) + i % 7,
        .sp = 0x7fffffffe000 - 64 * steps[i % 4].depth,
        .tid = 1 + i / PER_SAMPLE / 10,
        .point = steps[i % 4].point,
        .what = steps[i % 4].what,
        .arguments = {i % 4 < 2 ? i : 0x7ffff7000000 + i, i % 3},
    };

    if (i + 1 == GOLDEN_PROBES_HITS) {
        hit.point = 4;
        hit.what = HR_PROBE_REACHED;
    }
    hit.counters[0] = hit.time - GOLDEN_START_TIME;
    hit.counters[1] = hit.counters[0] / 3;
    return hit;
}

static void put_functions(struct golden_file *f)
{
    static const struct {
        struct hr_meta_probe_function meta;
        const char *names; /* of function and file */
    } functions[] = {
        {{0x401000, 0x80, 0, HR_PROBE_FUNCTION, 5, 15, 0}, "outer/usr/bin/golden"},
        {{0x401100, 0x20, 1, HR_PROBE_FUNCTION, 5, 15, 0}, "inner/usr/bin/golden"},
        {{0x401234, 0, 2, HR_PROBE_PLACE, 8, 15, 0}, "golden:7/usr/bin/golden"},
    };
    static const struct hr_probe_point points[] = {
        {0x401000, 0, 0}, {0x40107f, 0, 0}, {0x401100, 1, 0}, {0x40111f, 1, 0}, {0x401234, 2, 0}};
    const struct hr_meta_probes probes = {3, 5, GOLDEN_PROBES_ARGUMENTS, 0};
    const struct hr_meta_probe_points head = {0, 5};
    static const char interval[] = "pages.interval_ns\0"
                                   "1000";

    trace_writer_begin(&f->meta, HR_CHUNK_META);
    golden_file_put(&f->meta, HR_META_PROBES, TRACE_NO_TIME, &probes, sizeof probes, NULL);
    for (uint32_t i = 0; i < 3; i++)
        golden_file_put(&f->meta, HR_META_PROBE_FUNCTION, TRACE_NO_TIME, &functions[i].meta,
                        sizeof functions[i].meta, functions[i].names);
    if (trace_writer_record(&f->meta, HR_META_PROBE_POINTS, TRACE_NO_TIME, &head, sizeof head,
                            points, sizeof points) != 0)
        abort();
    golden_file_put(&f->meta, HR_META_INFO, TRACE_NO_TIME, interval, sizeof interval, NULL);
    golden_file_seal(f, &f->meta);
}

/* A look: a page that was read, five that were written, and a large one. */
static void put_pages(struct golden_file *f, uint64_t time)
{
    static const struct trace_pages_run runs[] = {
        {0x401000, 1, 0},
        {0x404000, 5, TRACE_PAGES_WRITTEN},
        {0x7ffff7200000, 512, TRACE_PAGES_LARGE | TRACE_PAGES_WRITTEN},
    };
    const struct hr_rec_pages pages = {.time = time, .address = runs[0].address, .pid = 1};
    uint8_t coded[3 * TRACE_PAGES_RUN_MAX];
    uint32_t bytes = 0;

    for (uint32_t i = 0; i < 3; i++) {
        uint64_t end = i != 0 ? runs[i - 1].address + runs[i - 1].pages * TRACE_PAGE_BYTES : 0;

        bytes += trace_pages_put(coded + bytes, end, &runs[i], i == 0);
    }
    if (trace_writer_record(&f->data, HR_REC_PAGES, time, &pages, sizeof pages, coded, bytes) != 0)
        abort();
}

static void put_hit(struct golden_file *f, uint32_t i)
{
    const struct trace_hit hit = golden_probes_hit(i);
    struct trace_slot slot = {
        .time = hit.time, .ip = hit.sp, .tid = hit.tid, .kind = HR_REC_PROBES};

    trace_slot_set_point(&slot, hit.point, hit.what);
    memcpy(slot.counters, hit.counters, 8 * GOLDEN_PROBES_EVENTS);
    memcpy(slot.counters + GOLDEN_PROBES_EVENTS, hit.arguments, 8 * GOLDEN_PROBES_ARGUMENTS);
    if (trace_writer_probe(&f->data, &slot) != 0)
        abort();
}

/* Ten samples come before every thirty hits: runs are long enough to become narrow. */
static void put_hits(struct golden_file *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        if (i % (10 * PER_SAMPLE) == 0)
            for (uint32_t n = i / PER_SAMPLE; n < i / PER_SAMPLE + 10; n++) {
                const struct trace_slot sample = golden_probes_sample(n);

                if (trace_writer_sample(&f->data, &sample) != 0)
                    abort();
            }
        put_hit(f, i);
    }
}

size_t golden_probes_build(uint8_t *out)
{
    const struct hr_rec_request requests[] = {
        {GOLDEN_START_TIME + 100, 77, 1, HR_REQUEST_BEGIN},
        {GOLDEN_START_TIME + 9900, 77, 2, HR_REQUEST_END},
    };
    const struct hr_rec_wait wait = {GOLDEN_START_TIME + 5000, 0x7ffff7001000, 1, 202, 0, 2};
    const struct hr_rec_wake wake = {GOLDEN_START_TIME + 5900, GOLDEN_START_TIME + 5600, 1, 0};
    const struct hr_rec_page_fault fault = {wake.time, 0x601040, 0x401020, 1, 4096, 1, 0};
    struct golden_file *f = golden_file_new(out, GOLDEN_PROBES_EVENTS);

    golden_file_meta(f, HR_MODE_TIMER);
    put_functions(f);
    trace_writer_probes(&f->data, GOLDEN_PROBES_ARGUMENTS);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    golden_file_put(&f->data, HR_REC_REQUEST, requests[0].time, &requests[0], sizeof requests[0],
                    NULL);
    put_hits(f, 0, 45);
    golden_file_put(&f->data, HR_REC_WAIT, wait.time, &wait, sizeof wait, NULL);
    golden_file_put(&f->data, HR_REC_WAKE, wake.time, &wake, sizeof wake, NULL);
    put_pages(f, wake.time);
    golden_file_put(&f->data, HR_REC_PAGE_FAULT, fault.time, &fault, sizeof fault, NULL);
    golden_file_seal(f, &f->data);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_hits(f, 45, GOLDEN_PROBES_HITS);
    golden_file_put(&f->data, HR_REC_REQUEST, requests[1].time, &requests[1], sizeof requests[1],
                    NULL);
    golden_file_seal(f, &f->data);
    golden_file_end(f);
    return golden_file_close(f);
}

/* Functions get their numbers as the program runs, and an observer recorded. */
static void put_called(struct golden_file *f, const struct hr_meta_called *called,
                       const struct hr_meta_probe_points *head, const struct hr_probe_point *points)
{
    trace_writer_begin(&f->meta, HR_CHUNK_META);
    golden_file_put(&f->meta, HR_META_CALLED, TRACE_NO_TIME, called, sizeof *called, NULL);
    if (trace_writer_record(&f->meta, HR_META_PROBE_POINTS, TRACE_NO_TIME, head, sizeof *head,
                            points, (uint32_t)sizeof *points * head->count) != 0)
        abort();
    golden_file_seal(f, &f->meta);
}

static void put_calls(struct golden_file *f, uint32_t point, uint64_t time)
{
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    for (uint32_t i = 0; i < 4; i++) {
        struct trace_slot slot = {.time = time + 500 * i,
                                  .ip = 0x7ffff7100000 - 32 * (i == 1 || i == 2),
                                  .tid = 1,
                                  .kind = HR_REC_PROBES};

        trace_slot_set_point(&slot, i == 1 || i == 2 ? point : 0,
                             i < 2 ? HR_PROBE_ENTERED : HR_PROBE_RETURNED);
        if (trace_writer_probe(&f->data, &slot) != 0)
            abort();
    }
    golden_file_seal(f, &f->data);
}

size_t golden_probes_build_calls(uint8_t *out)
{
    static const struct hr_meta_called called[] = {{0x401000, GOLDEN_START_TIME + 100, 0, 1},
                                                   {0x401100, GOLDEN_START_TIME + 5100, 1, 1}};
    static const struct hr_probe_point points[] = {
        {0x402000, 0, 0}, {0x401020, 0, 0}, {0x401050, 1, 0}};
    const struct hr_meta_probes probes = {16, 32, 0, HR_PROBES_CALLED};
    const struct hr_meta_probe_points heads[] = {{0, 2}, {2, 1}};
    const struct hr_rec_calls calls = {7, 6000, 2000, 3, 4, 5, 6, 8};
    struct golden_file *f = golden_file_new(out, 0);

    golden_file_meta(f, HR_MODE_LATENCY);
    trace_writer_begin(&f->meta, HR_CHUNK_META);
    golden_file_put(&f->meta, HR_META_PROBES, TRACE_NO_TIME, &probes, sizeof probes, NULL);
    golden_file_seal(f, &f->meta);
    trace_writer_probes(&f->data, 0);
    put_called(f, &called[0], &heads[0], &points[0]);
    put_calls(f, 1, called[0].time);
    put_called(f, &called[1], &heads[1], &points[2]);
    put_calls(f, 2, called[1].time);
    golden_file_end_records(f);
    golden_file_put(&f->meta, HR_REC_CALLS, TRACE_NO_TIME, &calls, sizeof calls, NULL);
    golden_file_seal(f, &f->meta);
    return golden_file_close(f);
}
