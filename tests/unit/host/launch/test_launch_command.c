/* The emulator's command line: what each kind of machine is started with. */
#include "tests/unit/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/launch/launch.h"

#define MEMORY_BYTES (64u << 20)

/* The whole command line as one text, until the next call. */
static const char *words(const struct options *o, const struct launch_machine *machine)
{
    static struct launch_command command;
    static char *text;
    struct options complete = *o;
    struct run_failure failure = {0};
    size_t bytes;
    FILE *out;

    free(text);
    text = NULL;
    complete.qemu = "/bin/true";
    complete.kernel = "/proc/self/exe";
    complete.memory_bytes = MEMORY_BYTES;
    assert_int_equal(launch_prepare(&complete, machine, &command, &failure), 0);
    out = open_memstream(&text, &bytes);
    launch_print(&command, out);
    assert_int_equal(fclose(out), 0);
    for (int i = 0; i < command.argc; i++)
        free(command.argv[i]);
    return text;
}

static size_t count(const char *text, const char *part)
{
    size_t found = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        found++;
    return found;
}

static struct launch_machine kvm(bool locked, int pinned)
{
    struct launch_machine machine = {.kvm = true, .cpus = 1, .guest_cpus = 2};

    machine.memory.locked = locked;
    machine.pin.count = pinned;
    return machine;
}

static void has_one_overcommit(void **state)
{
    const struct options ipi = {.mode = HR_MODE_IPI};
    const struct launch_machine both = kvm(true, 3);
    const struct launch_machine only_pinned = kvm(false, 3);
    const char *text = words(&ipi, &both);

    (void)state;
    assert_int_equal(count(text, "-overcommit"), 1);
    assert_non_null(strstr(text, " -overcommit mem-lock=on,cpu-pm=on "));
    assert_non_null(strstr(words(&ipi, &only_pinned), " -overcommit cpu-pm=on "));
}

static void keeps_the_fast_timer_of_kvm(void **state)
{
    static const enum hr_mode modes[] = {HR_MODE_TIMER, HR_MODE_OVERFLOW, HR_MODE_INSTRUCTED,
                                         HR_MODE_OFF};
    const struct launch_machine pinned = kvm(true, 2);
    const struct launch_machine plain = kvm(false, 0);
    const struct options ipi = {.mode = HR_MODE_IPI};

    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        const struct options o = {.mode = modes[i]};

        assert_null(strstr(words(&o, &pinned), "cpu-pm"));
        assert_non_null(strstr(words(&o, &pinned), " -overcommit mem-lock=on "));
    }
    assert_null(strstr(words(&ipi, &plain), "-overcommit"));
}

static void fills_memory_and_binds_it(void **state)
{
    const struct options o = {.mode = HR_MODE_TIMER};
    struct launch_machine machine = kvm(false, 2);

    (void)state;
    assert_non_null(strstr(words(&o, &machine), " -object memory-backend-ram,id=memory,size=64M "));
    machine.memory.filled = true;
    assert_non_null(strstr(words(&o, &machine), "-ram,id=memory,size=64M,prealloc=on "));
    assert_non_null(strstr(words(&o, &machine), ",mem-merge=off,memory-backend=memory "));
    machine.memory.bound = true;
    machine.memory.node = 3;
    assert_non_null(strstr(words(&o, &machine), ",size=64M,prealloc=on,host-nodes=3,policy=bind "));
    machine.memory.huge_pages = true;
    assert_non_null(strstr(words(&o, &machine),
                           " memory-backend-memfd,id=memory,size=64M,hugetlb=on,hugetlbsize=2M,"
                           "prealloc=on,host-nodes=3,policy=bind "));
}

static void emulates_without_any_of_it(void **state)
{
    const struct options ipi = {.mode = HR_MODE_IPI};
    struct launch_machine machine = kvm(true, 3);

    (void)state;
    machine.kvm = false;
    machine.memory = (struct launch_memory){.huge_pages = true, .filled = true, .bound = true};
    assert_null(strstr(words(&ipi, &machine), "-overcommit"));
    assert_null(strstr(words(&ipi, &machine), "memory-backend"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_one_overcommit),
        cmocka_unit_test(keeps_the_fast_timer_of_kvm),
        cmocka_unit_test(fills_memory_and_binds_it),
        cmocka_unit_test(emulates_without_any_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
