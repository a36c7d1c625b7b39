/* The program's share: how long it lasts, what is left out, and that it follows a slower machine.
 */
#include <string.h>

#include "guest/sample/share.c"

#include "tests/unit/test.h"

struct run_config run;
struct sampling sampling;
struct cpu cpus[CPUS_MAX];

static uint64_t workload_clock;

/* Half of the time is the program's, of samples of which half is seen. */
static struct cpu *prepare(void)
{
    struct cpu *cpu = &cpus[1];

    memset(&run, 0, sizeof run);
    sampling.interval_ticks = 10;
    workload_clock = 0;
    share_set(100, 200, 50);
    cpu->clock.offset = &workload_clock;
    cpu->clock.stop_mask = 0;
    return cpu;
}

static void leaves_what_was_asked_for(void **state)
{
    (void)state;
    struct cpu *cpu = prepare();
    /* 400 from one sample to the next, of which this one's 100 are over */
    assert_int_equal(share_rest(cpu), 300);
    assert_int_equal(sampling.spacing_ticks, 400);
    share_set(100, 200, 10);
    assert_int_equal(share_rest(cpu), 1900);
    share_set(100, 200, 90);
    assert_in_range(share_rest(cpu), 121, 123);
    share_set(100, 50, 90); /* less in all than what is seen: disturbed */
    assert_in_range(share_rest(cpu), 10, 12);
}

static void counts_what_it_leaves_out(void **state)
{
    (void)state;
    struct cpu *cpu = prepare();
    cpu->trigger.next_due = 1000;
    cpu->share.not_before = 1000;
    share_next_due(cpu);
    assert_int_equal(cpu->trigger.next_due, 1000);
    assert_int_equal(cpu->share.skipped, 0);
    cpu->share.not_before = 1001;
    share_next_due(cpu);
    assert_int_equal(cpu->trigger.next_due, 1010);
    assert_int_equal(cpu->share.skipped, 1);
    assert_int_equal(cpu->share.skipped_last, 1000);
    cpu->share.not_before = 1110;
    share_next_due(cpu);
    assert_int_equal(cpu->trigger.next_due, 1110);
    assert_int_equal(cpu->share.skipped, 11);
    assert_int_equal(cpu->share.skipped_last, 1100);
    assert_int_equal(cpu->share.due, 1110);
    cpu->trigger.next_due = CPU_NEVER; /* the trigger rests */
    cpu->share.not_before = CPU_NEVER + 5;
    share_next_due(cpu);
    assert_int_equal(cpu->trigger.next_due, CPU_NEVER);
}

/* What samples cost is followed: a machine on which each takes ten times as long ends up with ten
 * times the rest, and one that was disturbed once hardly changes it. */
static void follows_the_machine(void **state)
{
    (void)state;
    struct cpu *cpu = prepare();
    share_note(&cpu->share, 100000);
    assert_in_range(cpu->share.seen_ticks, 100, 105);
    for (int i = 0; i < 200; i++)
        share_note(&cpu->share, 1000);
    assert_in_range(cpu->share.seen_ticks, 950, 1050);
    for (int i = 0; i < 1000; i++)
        share_note(&cpu->share, 100);
    assert_in_range(cpu->share.seen_ticks, 90, 140);
}

/* The timer expired before the handler had returned: steps would be too slow. */
static void doubles_where_the_program_starves(void **state)
{
    (void)state;
    struct cpu *cpu = prepare();
    uint64_t now = x86_rdtsc();

    cpu->share.seen_ticks = 1u << 30;
    cpu->share.returned = now - 1000;
    cpu->clock.exit_ticks = now - 500;
    assert_true(share_starved(cpu, now - 600));
    assert_false(share_starved(cpu, now - 400)); /* it ran */
    cpu->share.returned = now - (1ull << 40); /* it was the kernel that took so long */
    assert_false(share_starved(cpu, now - 600));
}

static void takes_several_periods_at_once(void **state)
{
    (void)state;
    struct cpu *cpu = prepare();
    assert_int_equal(share_periods(cpu, 300, 1), 1);
    assert_int_equal(share_periods(cpu, 100000, 1), 1);
    assert_int_equal(share_periods(cpu, 150, 1), 2);
    assert_int_equal(share_periods(cpu, 2, 1), 100);
    assert_int_equal(share_periods(cpu, 300, 100), 100); /* it stays */
    assert_int_equal(share_periods(cpu, 3000, 100), 10); /* or comes back */
    assert_int_equal(share_periods(cpu, 1000000, 100), 1);
    assert_in_range(share_periods(cpu, 0, PERIODS_MAX), 1, PERIODS_MAX);
}

static void the_observer_waits(void **state)
{
    (void)state;
    struct cpu *cpu = prepare();
    cpu->share.not_before = 500;
    assert_false(share_may_ask(cpu, 490));
    assert_true(share_may_ask(cpu, 500));
    assert_int_equal(cpu->share.skipped, 1);
    assert_int_equal(cpu->share.skipped_last, 490);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_what_was_asked_for),
        cmocka_unit_test(counts_what_it_leaves_out),
        cmocka_unit_test(follows_the_machine),
        cmocka_unit_test(doubles_where_the_program_starves),
        cmocka_unit_test(takes_several_periods_at_once),
        cmocka_unit_test(the_observer_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
