/* Tests of host/timeline/timeline_rates.c: the CPU's frequency of two registers. */
#include "host/timeline/timeline_rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

static struct trace_info info;
static struct timeline timeline;
static struct timeline_rates rates;

/* Events 0 and 1 by these names, counted by registers of a CPU whose TSC has 2 GHz. */
static void begin(const char *first, const char *second)
{
    memset(&timeline, 0, sizeof timeline);
    trace_info_init(&info);
    info.clock.ticks_per_second = 2000000000;
    info.event_count = 2;
    strcpy(info.events[0].name, first);
    strcpy(info.events[1].name, second);
    info.events[0].meta.source = info.events[1].meta.source = HR_SOURCE_MSR;
    timeline.info = &info;
    timeline.event_count = 2;
}

static const struct timeline_rate *find(void)
{
    timeline_rates_init(&rates, &timeline, ~0u, 64);
    for (uint32_t i = 0; i < rates.count; i++)
        if (rates.all[i].metric == TIMELINE_FREQUENCY)
            return &rates.all[i];
    return NULL;
}

static void frequency_is_a_ratio_of_registers(void **state)
{
    uint64_t words[TIMELINE_EVENTS + HR_EVENTS_MAX] = {0};
    double value = 0;
    char label[32], name[TIMELINE_NAME_BYTES];

    (void)state;
    begin("mperf", "aperf");
    const struct timeline_rate *rate = find();
    assert_non_null(rate);
    words[TIMELINE_EVENTS] = 1000;
    words[TIMELINE_EVENTS + 1] = 1500;
    assert_true(timeline_rate(&rates, rate, words, 100, &value));
    assert_true(value > 2.999 && value < 3.001);
    words[TIMELINE_EVENTS] = 0;
    assert_false(timeline_rate(&rates, rate, words, 100, &value)); /* it halted all the time */
    assert_string_equal(timeline_rate_name(&rates, rate, name), "frequency_ghz");
    timeline_rate_label(&rates, rate, label, sizeof label);
    assert_string_equal(label, "GHz");
}

static void there_is_none_without_both(void **state)
{
    (void)state;
    begin("aperf", "cycles");
    assert_null(find());
    begin("aperf", "mperf");
    info.events[1].meta.source = HR_SOURCE_PMU; /* some counter's event of that name */
    assert_null(find());
}

static void flows_are_lines_times_their_size(void **state)
{
    static struct trace_text vendor = {(char *)"machine.vendor", (char *)"GenuineIntel"};
    uint64_t words[TIMELINE_EVENTS + HR_EVENTS_MAX] = {0};
    char label[32], name[TIMELINE_NAME_BYTES];
    double value;

    (void)state;
    setenv("XDG_CACHE_HOME", "/nonexistent", 1); /* no peak */
    begin("LLC-misses", "LLC-load-misses");
    assert_int_equal(timeline_rates_init_traffic(&rates, &timeline, 64), -ENOENT);
    info.texts = &vendor;
    info.text_count = 1;
    info.events[0].meta = (struct hr_meta_event){.encoding = 0x41412e, .source = HR_SOURCE_PMU};
    info.events[1].meta = (struct hr_meta_event){.encoding = 0x4120d1, .source = HR_SOURCE_PMU};
    assert_int_equal(timeline_rates_init_traffic(&rates, &timeline, 64), 0);
    assert_int_equal(rates.count, 1 + 3 * 2); /* usage; read, loads, what is written at most */
    words[TIMELINE_EVENTS] = 1000;
    words[TIMELINE_EVENTS + 1] = 400;
    assert_string_equal(timeline_rate_name(&rates, &rates.all[6], name), "written_at_most_bytes");
    assert_true(timeline_rate(&rates, &rates.all[6], words, 2000, &value) && value == 38400);
    timeline_rate_label(&rates, &rates.all[5], label, sizeof label);
    assert_string_equal(label, "written <= MB/s");
    assert_true(timeline_rate(&rates, &rates.all[5], words, 2000, &value) && value == 38400);
}

static void rates_tell_their_share_of_a_peak(void **state)
{
    const struct timeline_flow read = {"read", "read", 1, 0, TIMELINE_PEAK_READ},
                               written = {"written", "written", 2, 0, TIMELINE_PEAK_WRITE};
    const struct timeline_rate of_read = {TIMELINE_FLOW_SHARE, HR_EVENTS_MAX, &read, 0},
                               of_written = {TIMELINE_FLOW_SHARE, HR_EVENTS_MAX, &written, 0};
    uint64_t words[TIMELINE_EVENTS + HR_EVENTS_MAX] = {0};
    double value;

    (void)state;
    begin("LLC-misses", "LLC-load-misses");
    timeline_rates_init_traffic(&rates, &timeline, 64);
    rates.peak = (struct machine_peak){.read_per_us = 640, .write_per_us = 320};
    words[TIMELINE_EVENTS] = words[TIMELINE_EVENTS + 1] = 5;
    assert_true(timeline_rate(&rates, &of_read, words, 2000, &value) && value == 0.5);
    assert_true(timeline_rate(&rates, &of_written, words, 2000, &value) && value == 1);
}

static void all_rates_have_room(void **state)
{
    static const char *const names[] = {"instructions", "cycles", "aperf", "mperf"};

    (void)state;
    begin("aperf", "mperf");
    timeline.event_count = info.event_count = HR_EVENTS_MAX;
    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++) {
        strcpy(info.events[i].name, i < 4 ? names[i] : "LLC-load-misses");
        info.events[i].meta.source = i == 2 || i == 3 ? HR_SOURCE_MSR : HR_SOURCE_PMU;
    }
    assert_non_null(find());
    assert_true(rates.count <= sizeof rates.all / sizeof rates.all[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequency_is_a_ratio_of_registers),
        cmocka_unit_test(there_is_none_without_both),
        cmocka_unit_test(flows_are_lines_times_their_size),
        cmocka_unit_test(rates_tell_their_share_of_a_peak),
        cmocka_unit_test(all_rates_have_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
