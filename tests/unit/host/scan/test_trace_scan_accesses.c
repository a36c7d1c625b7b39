/* The walk hands accesses to its visitors, whatever the selection, and refuses what belongs to no
 * run. */
#include "host/scan/access_source.h"
#include "host/scan/trace_scan.h"
#include "lib/trace/trace_code.h"
#include "tests/unit/host/fixture.h"

#define SAMPLES 3000u
#define CPU 1u /* the fixture's own writer has CPU 0 */

static struct fixture f;
static struct trace_writer w;
static struct trace_accesses memory;
static uint8_t chunk[TRACE_STACKS_CHUNK_BYTES_MIN];

static const struct hr_meta_accesses meta = {.periods = {100, 0}, .sources = HR_SOURCES_INTEL};

static union {
    struct trace_slot slot;
    uint8_t bytes[256];
} place;

static uint64_t sample_time(uint32_t i)
{
    return FIXTURE_START + 100ull * i;
}

static struct hr_access sample_access(uint32_t i)
{
    return (struct hr_access){.address = 0x1000 + 24ull * (i * i % 977),
                              .source = i % 3,
                              .latency = i % 250,
                              .events = 1 + i % 2};
}

static void put_samples(void)
{
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const struct hr_access access = sample_access(i);

        place.slot = (struct trace_slot){.time = sample_time(i),
                                         .ip = 0x401000 + i % 50 * (i % 40 == 0 ? 1ull << 40 : 1),
                                         .tid = 1};
        memcpy(&place.slot.counters[2], &access, offsetof(struct hr_access, registers));
        if (trace_writer_sample(&w, &place.slot) == 0)
            continue;
        fixture_chunk(&f, &w);
        trace_writer_begin(&w, HR_CHUNK_DATA);
        assert_int_equal(trace_writer_sample(&w, &place.slot), 0);
    }
    fixture_chunk(&f, &w);
}

static void begin(void)
{
    fixture_init(&f);
    fixture_add(&f.meta, HR_META_ACCESSES, &meta, sizeof meta, NULL);
    fixture_begin_data(&f);
    trace_writer_init(&w, chunk, sizeof chunk, CPU, 2);
    trace_writer_accesses(&w, &memory, false);
    trace_writer_begin(&w, HR_CHUNK_DATA);
}

struct seen {
    uint32_t samples;
    uint32_t without;
};

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct seen *seen = context;

    for (uint32_t n = 0; n < samples->count; n++) {
        uint32_t i = (uint32_t)((samples->slots[n].time - FIXTURE_START) / 100);
        const struct hr_access expected = sample_access(i);

        seen->samples++;
        if (samples->accesses == NULL)
            seen->without++;
        else
            assert_memory_equal(&samples->accesses[n], &expected,
                                offsetof(struct hr_access, registers));
    }
    return 0;
}

static struct seen scan_it(bool accesses, uint64_t from_ns, size_t undecodable)
{
    struct seen seen = {0};
    const struct trace_visitor visitor = {
        .context = &seen, .accesses = accesses, .samples = take_samples};
    struct trace_scan scan;

    assert_int_equal(trace_scan_open(&scan, fixture_file(&f)), 0);
    scan.selection.from_ns = from_ns;
    assert_int_equal(trace_scan_run(&scan, &visitor), 0);
    assert_int_equal(scan.audit.damage_count, undecodable);
    assert_true(scan.info.has_accesses);
    trace_scan_close(&scan);
    return seen;
}

static void each_sample_has_its_own(void **state)
{
    struct seen seen;

    (void)state;
    begin();
    put_samples();
    fixture_end(&f);
    seen = scan_it(true, 0, 0);
    assert_int_equal(seen.samples, SAMPLES);
    assert_int_equal(seen.without, 0);
    seen = scan_it(false, 0, 0);
    assert_int_equal(seen.samples, SAMPLES);
    assert_int_equal(seen.without, SAMPLES);
    seen = scan_it(true, 100 * 1001, 0);
    assert_int_equal(seen.samples, SAMPLES - 1001);
    assert_int_equal(seen.without, 0);
    fixture_free(&f);
}

/* A run without accesses, and accesses without a run. */
static void both_belong_together(void **state)
{
    const uint8_t none[] = {2}; /* event 0, no address */
    struct seen seen;

    (void)state;
    begin();
    w.accesses = NULL;
    put_samples();
    fixture_end(&f);
    seen = scan_it(true, 0, w.sequence);
    assert_int_equal(seen.samples, 0);
    fixture_free(&f);
    begin();
    fixture_add(&w, HR_REC_ACCESSES, none, sizeof none, NULL);
    fixture_chunk(&f, &w);
    fixture_end(&f);
    (void)scan_it(true, 0, 1);
    (void)scan_it(false, 0, 0);
    fixture_free(&f);
}

static void expect_text(const struct trace_info *info, struct hr_access access, const char *text)
{
    char room[ACCESS_SOURCE_BYTES];

    assert_string_equal(access_source_text(info, &access, room), text);
}

static void sources_have_names(void **state)
{
    static struct trace_info info = {.event_count = 3, .accesses = {.sources = HR_SOURCES_INTEL}};

    (void)state;
    info.events[0].meta.encoding = 0x1cd; /* loads by latency */
    info.events[1].meta.encoding = 0x82d0; /* stores */
    info.events[2].meta.encoding = 0xc0;
    expect_text(&info, (struct hr_access){8, 0x01, 4, 1, {0}}, "L1");
    expect_text(&info, (struct hr_access){8, 0x04, 14, 1, {0}}, "LLC");
    expect_text(&info, (struct hr_access){8, 0x0a, 214, 1, {0}}, "memory");
    expect_text(&info, (struct hr_access){8, 0x2a, 214, 1, {0}}, "memory locked");
    expect_text(&info, (struct hr_access){8, 0x17, 80, 1, {0}}, "LLC modified TLB-miss");
    expect_text(&info, (struct hr_access){8, 0x00, 300, 1, {0}}, "unknown");
    expect_text(&info, (struct hr_access){8, 0x01, 0, 2, {0}}, "store L1");
    expect_text(&info, (struct hr_access){8, 0x20, 0, 2, {0}}, "store beyond-L1 locked");
    expect_text(&info, (struct hr_access){8, 0x01, 4, 3, {0}}, "L1"); /* made by a load, too */
    expect_text(&info, (struct hr_access){8, 0x01, 4, 6, {0}}, "store L1");
    expect_text(&info, (struct hr_access){0, 0, 0, 4, {0}}, "");
    info.accesses.sources = HR_SOURCES_NONE;
    expect_text(&info, (struct hr_access){8, 0x01, 4, 1, {0}}, "");
}

/* What AMD's registers say: bits of IbsOpData3 and IbsOpData2, or of IbsFetchCtl. */
static struct hr_access amd(uint64_t data3, uint64_t data2)
{
    return (struct hr_access){8, data3 << 8 | data2, 0, 1, {0}};
}

#define MISSED (1u << 20 | 1u << 7)

static void sources_of_amd_have_names(void **state)
{
    static struct trace_info info = {.event_count = 1, .accesses = {.sources = HR_SOURCES_AMD}};

    (void)state;
    expect_text(&info, amd(1, 0), "L1");
    expect_text(&info, amd(1u << 15 | 1u << 3 | 3, 0), "store L1 TLB-miss locked");
    expect_text(&info, amd(1u << 7 | 1, 0), "L2");
    expect_text(&info, amd(MISSED | 1, 0x22), "LLC");
    expect_text(&info, amd(MISSED | 1, 2), "LLC modified");
    expect_text(&info, amd(MISSED | 1, 3), "memory");
    expect_text(&info, amd(MISSED | 1, 0x13), "remote-memory");
    expect_text(&info, amd(MISSED | 1, 0x24), "remote-cache");
    expect_text(&info, amd(MISSED | 1, 7), "device");
    expect_text(&info, amd(1u << 14 | 1, 0), "device");
    expect_text(&info, amd(1u << 16 | MISSED | 1, 0), "fill-buffer");
    expect_text(&info, amd(MISSED | 1, 0), "unknown");
    expect_text(&info, amd(1u << 7 | 2, 3), "store L2");
    expect_text(&info, amd(MISSED | 2, 3), "store beyond-L1"); /* the code is not the store's */
    expect_text(&info, (struct hr_access){8, 1ull << 34 | 7, 0, 1, {0}}, "L1");
    expect_text(&info, (struct hr_access){8, 1ull << 34 | 0x10f, 0, 1, {0}}, "L2 TLB-miss");
    expect_text(&info, (struct hr_access){8, 1ull << 34 | 0x40f, 0, 1, {0}}, "beyond-L1");
    expect_text(&info, (struct hr_access){0, 1ull << 8, 0, 1, {0}}, "");
    info.accesses.sources = HR_SOURCES_AMD_FINE;
    expect_text(&info, amd(MISSED | 1, 0x21), "LLC");
    expect_text(&info, amd(MISSED | 1, 0x05), "remote-cache modified");
    expect_text(&info, amd(MISSED | 1, 0x50), "remote-memory"); /* 8: extended memory */
    expect_text(&info, amd(MISSED | 1, 0x44), "device"); /* 12 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_has_its_own),
        cmocka_unit_test(both_belong_together),
        cmocka_unit_test(sources_have_names),
        cmocka_unit_test(sources_of_amd_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
