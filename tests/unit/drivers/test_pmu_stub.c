/* drivers/pmu: the choice of a driver, and the stub's values and sources. */
#include "tests/unit/test.h"

#include <errno.h>
#include <string.h>

#include "drivers/pmu/stub.c"

static struct pmu_session session;

/* Assigns the session's only or last event. */
static int assign_one(const struct pmu_caps *caps, struct pmu_event *event)
{
    struct pmu_refusal failed = {.event = 99, .other = 99};
    int status = pmu_stub.assign(caps, &session, &failed);

    if (status)
        assert_int_equal(failed.event, event - session.events);
    return status;
}

static struct pmu_event *add(const char *name)
{
    struct pmu_event *event = &session.events[session.event_count++];

    strncpy(event->name, name, sizeof event->name - 1);
    return event;
}

static int setup(void **state)
{
    (void)state;
    memset(&session, 0, sizeof session);
    return 0;
}

static void stub_serves_every_machine(void **state)
{
    struct pmu_caps caps = {0};

    (void)state;
    assert_true(pmu_stub.probe(&caps));
    assert_int_equal(caps.general_counters, HR_EVENTS_MAX);
    assert_false(caps.needs_encodings);
}

static void instructions_are_exact_only_in_virtual_time(void **state)
{
    const struct pmu_caps exact = {.exact_instructions = true}, inexact = {0};
    struct pmu_event *event = add("instructions:u");

    (void)state;
    assert_int_equal(assign_one(&exact, event), 0);
    assert_int_equal(event->source, HR_SOURCE_ICOUNT);
    assert_int_equal(event->flags, HR_EVENT_USER);
    assert_int_equal(assign_one(&inexact, event), 0);
    assert_int_equal(event->source, HR_SOURCE_STUB);
}

static void everything_else_is_a_stub(void **state)
{
    const struct pmu_caps caps = {.exact_instructions = true};

    (void)state;
    for (const struct event_info *info = events_table; info->name; info++) {
        session.event_count = 0;
        struct pmu_event *event = add(info->name);
        assert_int_equal(assign_one(&caps, event), 0);
        if (strcmp(info->name, "instructions") != 0)
            assert_int_equal(event->source, HR_SOURCE_STUB);
        assert_true(info->stub_numerator <= 8 * info->stub_denominator);
    }
}

static void refuses_what_it_cannot_count(void **state)
{
    const struct pmu_caps caps = {0};

    (void)state;
    assert_int_equal(assign_one(&caps, add("no-such-event")), -ENOENT);
    setup(NULL);
    assert_int_equal(assign_one(&caps, add("cycles:k")), -EINVAL);
    setup(NULL);
    assert_int_equal(assign_one(&caps, add("cycles:")), -EINVAL);
}

static void values_are_rounded_ratios(void **state)
{
    const struct pmu_caps caps = {.exact_instructions = true};
    uint64_t values[HR_EVENTS_MAX];
    static const uint64_t counts[] = {0, 1, 7, 1000, 999999999, 1ull << 59};

    (void)state;
    assert_int_equal(assign_one(&caps, add("instructions")), 0);
    assert_int_equal(assign_one(&caps, add("cycles")), 0);
    assert_int_equal(assign_one(&caps, add("cache-misses")), 0);
    pmu_stub.start(&session);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        memset(values, 0xff, sizeof values);
        pmu_stub.read(&session, counts[i], values);
        assert_int_equal(values[0], counts[i]);
        for (uint32_t e = 1; e < 3; e++) {
            const char *name = session.events[e].name;
            const struct event_info *info = events_find(name, strlen(name));
            unsigned __int128 expected =
                (unsigned __int128)counts[i] * info->stub_numerator / info->stub_denominator;
            assert_int_equal(values[e], (uint64_t)expected);
        }
        assert_int_equal(values[3], UINT64_MAX); /* no store beyond the events */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stub_serves_every_machine),
        cmocka_unit_test_setup(instructions_are_exact_only_in_virtual_time, setup),
        cmocka_unit_test_setup(everything_else_is_a_stub, setup),
        cmocka_unit_test_setup(refuses_what_it_cannot_count, setup),
        cmocka_unit_test_setup(values_are_rounded_ratios, setup),
    };
    return cmocka_run_group_tests_name("pmu_stub", tests, NULL, NULL);
}
