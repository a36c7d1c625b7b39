/* Which accelerator --accel auto takes, and how many CPUs a guest has. */
#include "tests/unit/test.h"

#include <string.h>

#include "host/launch/launch.h"

static const struct launch_vpmu has = {.present = true, .why = "KVM has a vPMU: such and such"};
static const struct launch_vpmu has_not = {.present = false, .why = "KVM has no vPMU: it is off"};

static struct launch_machine choose(const struct options *o, const struct launch_vpmu *vpmu)
{
    struct launch_machine machine = {.kvm = false};

    launch_choose_accelerator(o, "/dev/kvm is fast", vpmu, &machine);
    return machine;
}

static void takes_kvm_with_a_vpmu(void **state)
{
    const struct options o = {.memory_bytes = 1};
    struct launch_machine machine = choose(&o, &has);

    (void)state;
    assert_true(machine.kvm);
    assert_string_equal(machine.why, "/dev/kvm is fast, and KVM has a vPMU: such and such");
    assert_int_equal(machine.notes.count, 0);
}

static void emulates_without_a_vpmu_and_tells_everybody(void **state)
{
    const struct options o = {.memory_bytes = 1};
    struct launch_machine machine = choose(&o, &has_not);

    (void)state;
    assert_false(machine.kvm);
    assert_string_equal(machine.why, "KVM has no vPMU: it is off");
    assert_int_equal(machine.notes.count, 1);
    assert_true(machine.notes.lines[0].warning);
    assert_non_null(strstr(machine.notes.lines[0].text, "KVM has no vPMU: it is off; --accel kvm"));
}

static void warns_nobody_who_gains_nothing(void **state)
{
    const struct options packing = {.packing = true};
    const struct options modelled = {.cpu = "Icelake-Server,pmu=on"};

    (void)state;
    assert_int_equal(choose(&packing, &has_not).notes.count, 0);
    assert_int_equal(choose(&modelled, &has_not).notes.count, 0);
    assert_false(choose(&modelled, &has_not).kvm);
}

static void counts_the_cpu_that_interrupts(void **state)
{
    const struct launch_machine shared = {.cpus = 0};
    const struct launch_machine three = {.cpus = 3};

    (void)state;
    assert_int_equal(launch_cpu_count(&shared, HR_MODE_TIMER), 1);
    assert_int_equal(launch_cpu_count(&three, HR_MODE_OVERFLOW), 4);
    assert_int_equal(launch_cpu_count(&three, HR_MODE_IPI), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_kvm_with_a_vpmu),
        cmocka_unit_test(emulates_without_a_vpmu_and_tells_everybody),
        cmocka_unit_test(warns_nobody_who_gains_nothing),
        cmocka_unit_test(counts_the_cpu_that_interrupts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
