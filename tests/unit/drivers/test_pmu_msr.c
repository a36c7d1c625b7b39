/* drivers/pmu/pmu_msr.c: registers beside the counters of any driver. */
#include "tests/unit/drivers/fake_x86.h"

#include "tests/unit/drivers/fake_msr.h"

#include "drivers/pmu/pmu_msr.c"

static struct pmu_caps caps;
static struct pmu_session session;
static uint32_t there; /* what the CPU has */
static unsigned asked; /* times that it was */

uint32_t monitor_probe(void)
{
    asked++;
    return there;
}

/* ---- the cache monitor ---- */

static uint32_t monitor_events; /* that it has, a bit each */
static unsigned monitor_starts;
static int monitor_status;
struct pmu_refusal pmu_start_refusal;

uint32_t pmu_rdt_probe(void)
{
    return monitor_events;
}

int pmu_rdt_start(void)
{
    monitor_starts++;
    return monitor_status;
}

uint64_t pmu_rdt_read(uint8_t event)
{
    return 7000u + event;
}

/* ---- the memory controller ---- */

static bool has_imc;
static unsigned imc_starts;

bool pmu_imc_probe(void)
{
    return has_imc;
}

void pmu_imc_start(void)
{
    imc_starts++;
}

uint64_t pmu_imc_read(bool writes)
{
    return writes ? 902 : 901;
}

uint8_t pmu_imc_bits(void)
{
    return 32;
}

static bool tells;

bool pmu_imc_claim(void)
{
    return tells;
}

bool pmu_imc_tells(void)
{
    return tells;
}

/* ---- the data fabric ---- */

static bool has_fabric;
static uint32_t fabric_channels[8]; /* by counter, plus 1 */

bool pmu_umc_fabric_probe(void)
{
    return has_fabric;
}

uint32_t pmu_umc_fabric_msr(uint32_t counter)
{
    return 0xc0010241 + 2 * counter;
}

void pmu_umc_fabric_start(uint32_t msr, uint32_t channel)
{
    fabric_channels[(msr - 0xc0010241) / 2] = channel + 1;
}

/* ---- the driver below, which notes what it is asked ---- */

static struct {
    char calls[64];
    uint32_t events;
    uint64_t period;
} under;

static void note(const char *call, const struct pmu_session *s)
{
    strcat(under.calls, call);
    under.events = s->event_count;
    under.period = s->period;
}

static int under_assign(const struct pmu_caps *c, struct pmu_session *s,
                        struct pmu_refusal *refusal)
{
    (void)c;
    note("a", s);
    for (uint32_t i = 0; i < s->event_count; i++) {
        if (strcmp(s->events[i].name, "bad") == 0) {
            refusal->event = i;
            return -ENOENT;
        }
        s->events[i].counter = 100 + i;
        s->events[i].source = HR_SOURCE_PMU;
    }
    return 0;
}

static int start_status;

static int under_start(const struct pmu_session *s)
{
    note("s", s);
    return start_status;
}

static void under_stop(const struct pmu_session *s)
{
    note("S", s);
}

static void under_pause(const struct pmu_session *s)
{
    note("p", s);
}

static void under_resume(const struct pmu_session *s)
{
    note("r", s);
}

static void under_read(const struct pmu_session *s, uint64_t user_instructions, uint64_t *values)
{
    note("d", s);
    assert_int_equal(user_instructions, 5);
    assert_int_equal(fake.write_count, 0); /* counters first: they are the program's */
    for (uint32_t i = 0; i < s->event_count; i++)
        values[i] = 1000 + i;
}

static const struct pmu_driver beneath_it = {
    .name = "under",
    .assign = under_assign,
    .start = under_start,
    .stop = under_stop,
    .pause = under_pause,
    .resume = under_resume,
    .read = under_read,
};

static void add_event(const char *name)
{
    strcpy(session.events[session.event_count++].name, name);
}

static void begin(void)
{
    memset(&session, 0, sizeof session);
    memset(&fake, 0, sizeof fake);
    memset(&under, 0, sizeof under);
    there = HR_MACHINE_APERF | HR_MACHINE_SMI;
    asked = 0;
}

static void plain_sessions_have_no_layer(void **state)
{
    (void)state;
    begin();
    assert_ptr_equal(pmu_msr_layer(&beneath_it, &session), &beneath_it);
    add_event("cycles");
    add_event("aperf:u"); /* not that name */
    assert_ptr_equal(pmu_msr_layer(&beneath_it, &session), &beneath_it);
    assert_int_equal(asked, 0);
}

static void registers_come_after_counters(void **state)
{
    struct pmu_refusal refusal;
    static const char *const wanted[] = {"cycles", "branches", "aperf", "smi", "mperf"};
    static const uint32_t msrs[] = {0, 0, 0xe8, 0x34, 0xe7};

    (void)state;
    begin();
    add_event("aperf");
    add_event("cycles");
    add_event("smi");
    add_event("branches");
    add_event("mperf");
    const struct pmu_driver *driver = pmu_msr_layer(&beneath_it, &session);
    assert_string_equal(driver->name, "under");
    for (int round = 0; round < 2; round++) { /* the same when it is asked again */
        assert_int_equal(driver->assign(&caps, &session, &refusal), 0);
        assert_int_equal(under.events, 2);
        for (int i = 0; i < 5; i++) {
            assert_string_equal(session.events[i].name, wanted[i]);
            assert_int_equal(session.events[i].source, i < 2 ? HR_SOURCE_PMU : HR_SOURCE_MSR);
            assert_int_equal(session.events[i].encoding, msrs[i]);
        }
    }
    assert_int_equal(session.events[1].counter, 101);
    assert_int_equal(session.events[2].width_bits, 64);
    assert_int_equal(session.events[3].width_bits, 32);
    assert_int_equal(session.events[4].flags, HR_EVENT_USER | HR_EVENT_KERNEL);
}

static void everything_goes_to_the_driver(void **state)
{
    struct pmu_refusal refusal;

    (void)state;
    begin();
    add_event("mperf");
    add_event("cycles");
    const struct pmu_driver *driver = pmu_msr_layer(&beneath_it, &session);
    assert_int_equal(driver->assign(&caps, &session, &refusal), 0);
    session.period = 55;
    assert_int_equal(driver->start(&session), 0);
    start_status = -EIO;
    assert_int_equal(driver->start(&session), -EIO);
    start_status = 0;
    assert_int_equal(under.period, 55);
    driver->pause(&session);
    driver->resume(&session);
    driver->stop(&session);
    assert_string_equal(under.calls, "assprS");
    assert_int_equal(under.events, 1);
    assert_int_equal(fake.write_count, 0); /* registers are never written */
}

static void a_reading_is_counters_then_registers(void **state)
{
    struct pmu_refusal refusal;
    uint64_t values[HR_EVENTS_MAX] = {[5] = 42};

    (void)state;
    begin();
    add_event("smi");
    add_event("cycles");
    add_event("mperf");
    add_event("aperf");
    add_event("branches");
    const struct pmu_driver *driver = pmu_msr_layer(&beneath_it, &session);
    assert_int_equal(driver->assign(&caps, &session, &refusal), 0);
    fake_add(0x34, 3, 0);
    fake_add(0xe7, 0xfffffffffffffff0, 0);
    fake_add(0xe8, 7, 0);
    driver->read(&session, 5, values);
    fake_expect_writes((const uint64_t[][2]){{FAKE_READ | 0x34, 3},
                                             {FAKE_READ | 0xe7, 0xfffffffffffffff0},
                                             {FAKE_READ | 0xe8, 7},
                                             {0, 0}});
    const uint64_t wanted[] = {1000, 1001, 3, 0xfffffffffffffff0, 7, 42};
    assert_memory_equal(values, wanted, sizeof wanted);
}

static void registers_that_are_not_there_are_refused(void **state)
{
    struct pmu_refusal refusal;

    (void)state;
    begin();
    there = HR_MACHINE_APERF;
    add_event("aperf");
    add_event("smi");
    add_event("cycles");
    const struct pmu_driver *driver = pmu_msr_layer(&beneath_it, &session);
    assert_int_equal(driver->assign(&caps, &session, &refusal), -ENODEV);
    assert_string_equal(session.events[refusal.event].name, "smi");
    add_event("bad");
    assert_int_equal(driver->assign(&caps, &session, &refusal), -ENOENT);
    assert_string_equal(session.events[refusal.event].name, "bad");
}

static void registers_alone_need_no_counter(void **state)
{
    struct pmu_refusal refusal;
    uint64_t value = 0;

    (void)state;
    begin();
    add_event("aperf");
    const struct pmu_driver *driver = pmu_msr_layer(&beneath_it, &session);
    assert_int_equal(driver->assign(&caps, &session, &refusal), 0);
    assert_int_equal(under.events, 0);
    fake_add(0xe8, 9, 0);
    driver->read(&session, 5, &value);
    assert_int_equal(value, 9);
}

static void the_cache_monitor_is_started_and_asked(void **state)
{
    struct pmu_refusal refusal;
    uint64_t values[4] = {0};

    (void)state;
    begin();
    monitor_events = 1u << 1 | 1u << 2;
    add_event("mbm-total");
    add_event("aperf");
    add_event("llc-occupancy");
    const struct pmu_driver *driver = pmu_msr_layer(&beneath_it, &session);
    assert_int_equal(driver->assign(&caps, &session, &refusal), 0);
    assert_int_equal(session.events[0].encoding, 0xc8e);
    assert_int_equal(session.events[0].encoding_ext, 2);
    assert_int_equal(session.events[0].width_bits, 64);
    assert_int_equal(driver->start(&session), 0);
    assert_int_equal(monitor_starts, 1);
    fake_add(0xe8, 7, 0);
    driver->read(&session, 5, values);
    assert_int_equal(values[0], 7002);
    assert_int_equal(values[1], 7);
    assert_int_equal(values[2], 7001);
    monitor_status = -ENOSPC;
    strcpy(under.calls, "");
    assert_int_equal(driver->start(&session), -EIO);
    assert_int_equal(pmu_start_refusal.msr, 0xc8f);
    assert_string_equal(under.calls, ""); /* nothing counts then */
    add_event("mbm-local");
    assert_int_equal(driver->assign(&caps, &session, &refusal), -ENODEV);
    assert_string_equal(session.events[refusal.event].name, "mbm-local");
    begin();
    add_event("aperf");
    assert_int_equal(pmu_msr_layer(&beneath_it, &session)->assign(&caps, &session, &refusal), 0);
    assert_int_equal(driver->start(&session), 0);
    assert_int_equal(monitor_starts, 2); /* not without its events */
}

static void the_memory_controller_is_read(void **state)
{
    struct pmu_refusal refusal;
    uint64_t values[3] = {0};

    (void)state;
    begin();
    add_event("imc-writes");
    add_event("cycles");
    add_event("imc-reads");
    const struct pmu_driver *driver = pmu_msr_layer(&beneath_it, &session);
    assert_int_equal(driver->assign(&caps, &session, &refusal), -ENODEV);
    has_imc = true;
    assert_int_equal(driver->assign(&caps, &session, &refusal), 0);
    assert_int_equal(session.events[1].width_bits, 32);
    assert_int_equal(asked, 0); /* nothing else was looked for */
    assert_int_equal(driver->start(&session), 0);
    assert_int_equal(imc_starts, 1);
    driver->read(&session, 5, values);
    assert_int_equal(values[1], 902);
    assert_int_equal(values[2], 901);
}

static void channels_take_counters_of_the_fabric(void **state)
{
    struct pmu_refusal refusal;
    uint64_t values[3] = {0};

    (void)state;
    begin();
    add_event("df-channel5");
    add_event("cycles");
    add_event("df-channel0");
    const struct pmu_driver *driver = pmu_msr_layer(&beneath_it, &session);
    assert_int_equal(driver->assign(&caps, &session, &refusal), -ENODEV);
    assert_int_equal(refusal.event, 1);
    has_fabric = true;
    assert_int_equal(driver->assign(&caps, &session, &refusal), 0);
    assert_int_equal(session.events[2].encoding, 0xc0010243);
    assert_int_equal(session.events[2].width_bits, 48);
    tells = false;
    assert_int_equal(driver->start(&session), 0);
    assert_int_equal(fabric_channels[0], 0); /* another CPU does */
    tells = true;
    assert_int_equal(driver->start(&session), 0);
    assert_int_equal(fabric_channels[0], 6);
    assert_int_equal(fabric_channels[1], 1);
    fake_add(0xc0010241, 55, 0);
    fake_add(0xc0010243, 66, 0);
    driver->read(&session, 5, values);
    assert_int_equal(values[1], 55);
    assert_int_equal(values[2], 66);
    fake_expect_writes(
        (const uint64_t[][2]){{FAKE_READ | 0xc0010241, 55}, {FAKE_READ | 0xc0010243, 66}, {0, 0}});
    tells = false;
    driver->read(&session, 5, values);
    assert_int_equal(values[2], 0);
    add_event("df-channel1");
    add_event("df-channel2");
    assert_int_equal(driver->assign(&caps, &session, &refusal), 0);
    add_event("df-channel3");
    assert_int_equal(driver->assign(&caps, &session, &refusal), -ENOSPC);
    assert_int_equal(refusal.event, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_sessions_have_no_layer),
        cmocka_unit_test(registers_come_after_counters),
        cmocka_unit_test(everything_goes_to_the_driver),
        cmocka_unit_test(a_reading_is_counters_then_registers),
        cmocka_unit_test(registers_that_are_not_there_are_refused),
        cmocka_unit_test(registers_alone_need_no_counter),
        cmocka_unit_test(the_cache_monitor_is_started_and_asked),
        cmocka_unit_test(the_memory_controller_is_read),
        cmocka_unit_test(channels_take_counters_of_the_fabric),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
