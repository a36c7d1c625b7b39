/* Tests of host/timeline/timeline_traffic.c: which events make which flow, and their formulas. */
#include "host/timeline/timeline_traffic.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#define USR_EN 0x410000ull

static struct trace_info info;
static struct timeline_flow flows[TIMELINE_FLOWS_MAX];
static struct trace_text vendor = {(char *)"machine.vendor", NULL};

static void add(uint64_t select, uint64_t companion)
{
    struct trace_event *event = &info.events[info.event_count];

    event->meta = (struct hr_meta_event){
        .encoding = select | USR_EN, .encoding_ext = companion, .source = HR_SOURCE_PMU};
    event->name[0] = (char)('a' + info.event_count++);
    event->name[1] = 0;
}

static void begin(const char *name)
{
    memset(&info, 0, sizeof info);
    vendor.value = (char *)name;
    info.texts = &vendor;
    info.text_count = 1;
}

/* The flows as text: "read=a+b; demand=b;". */
static const char *find(void)
{
    static char out[1024];
    char text[TIMELINE_FLOW_TEXT_BYTES];
    uint32_t count = timeline_traffic_find(&info, flows);

    out[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        strcat(out, flows[i].name);
        strcat(out, "=");
        strcat(out, timeline_traffic_text(&info, &flows[i], text));
        strcat(out, ";");
    }
    return out;
}

static void intel(void **state)
{
    (void)state;
    begin("GenuineIntel");
    add(0xc0, 0);
    assert_string_equal(find(), "");
    add(0x412e, 0);
    assert_string_equal(find(), "read=b;");
    add(0x20d1, 0);
    assert_string_equal(find(), "read=b;demand=c;written_at_most=b - c;");
    assert_int_equal(flows[0].peak, TIMELINE_PEAK_READ);
    assert_int_equal(flows[1].peak, TIMELINE_PEAK_NONE);
    assert_int_equal(flows[2].peak, TIMELINE_PEAK_WRITE);
    add(0x40f0, 0); /* L2_TRANS.L2_WB */
    assert_string_equal(find(), "read=b;demand=c;written=d;");
    add(0x412e, 0); /* an alternative */
    assert_string_equal(find(), "read=b;demand=c;written=d;");
}

static void offcore(void **state)
{
    (void)state;
    begin("GenuineIntel");
    add(0x1b7, 0x3fffc00001); /* OCR.DEMAND_DATA_RD_L3_MISS, Ice Lake */
    add(0x1bb, 0x3f84000002); /* RFO that missed L3, Skylake */
    assert_string_equal(find(), "demand=a;written=b;");
    begin("GenuineIntel");
    add(0x12a, 0x73c000477); /* READS_TO_CORE_DRAM */
    add(0x12b, 0xfbff80822); /* WRITE_ESTIMATE_MEMORY */
    assert_string_equal(find(), "read=a;written=b;");
    begin("GenuineIntel");
    add(0x1b7, 0x10001); /* any response */
    add(0x1b7, 0x3f3ffc0002); /* the same of Ice Lake's servers */
    add(0x1b7, 0x3f803c0001); /* L3 hits */
    add(0x1b7, 0x3f84008000); /* other requests */
    assert_string_equal(find(), "");
}

static void amd(void **state)
{
    (void)state;
    begin("AuthenticAMD");
    add(0x4843, 0);
    assert_string_equal(find(), "read=a;demand=a;");
    add(0x485a, 0);
    add(0x1f72, 0);
    assert_string_equal(find(), "read=a + b + c;demand=a;prefetch=b + c;");
    add(0x4844, 0); /* family 19H: contains a and b */
    assert_string_equal(find(), "read=c + d;demand=a;prefetch=c + d - a;");
    begin("AuthenticAMD");
    add(0x0143, 0); /* from L2 */
    add(0x4943, 0); /* from L2 and memory */
    add(0xe072, 0); /* L1's prefetches */
    add(0x964, 0);
    add(0x100004843, 0); /* another event: 143H */
    assert_string_equal(find(), "");
}

static void only_counters_count(void **state)
{
    (void)state;
    begin("GenuineIntel");
    add(0x412e, 0);
    info.events[0].meta.source = HR_SOURCE_STUB;
    add(0x100412e, 0); /* cycles with one */
    assert_string_equal(find(), "");
    add(0x412e, 0);
    add(0x20d1, 0);
    info.events[3].meta.flags = 1; /* in other rings */
    assert_string_equal(find(), "read=c;");
    vendor.value = (char *)"CentaurHauls";
    assert_string_equal(find(), "");
}

static void the_memory_controller_counts_for_the_machine(void **state)
{
    (void)state;
    begin("GenuineIntel");
    add(0, 0);
    add(0, 0);
    strcpy(info.events[0].name, "imc-writes");
    strcpy(info.events[1].name, "imc-reads");
    assert_string_equal(find(), ""); /* some counter's events of these names */
    info.events[0].meta.source = info.events[1].meta.source = HR_SOURCE_MSR;
    add(0x412e, 0);
    assert_string_equal(find(), "machine_read=imc-reads;machine_written=imc-writes;read=c;");
}

static void lines_are_never_negative(void **state)
{
    const struct timeline_flow flow = {"x", "x", 3, 4, TIMELINE_PEAK_NONE};
    uint64_t counts[HR_EVENTS_MAX] = {10, 5, 7};

    (void)state;
    assert_int_equal(timeline_traffic_lines(&flow, counts), 8);
    counts[2] = 16;
    assert_int_equal(timeline_traffic_lines(&flow, counts), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intel),
        cmocka_unit_test(offcore),
        cmocka_unit_test(amd),
        cmocka_unit_test(only_counters_count),
        cmocka_unit_test(the_memory_controller_counts_for_the_machine),
        cmocka_unit_test(lines_are_never_negative),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
