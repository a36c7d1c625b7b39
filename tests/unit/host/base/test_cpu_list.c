/* Lists of CPUs. */
#include "tests/unit/host/tree.h"

#include <errno.h>

#include "host/base/cpu_list.h"

static struct cpu_list list;

static void parses_lists_in_their_order(void **state)
{
    static const int wanted[] = {8, 2, 3, 4, 5};

    (void)state;
    assert_int_equal(cpu_list_parse("8,2-5\n", &list), 0);
    assert_int_equal(list.count, 5);
    assert_memory_equal(list.cpus, wanted, sizeof wanted);
    assert_int_equal(cpu_list_parse("1023", &list), 0);
    assert_int_equal(list.count, 1);
    assert_int_equal(cpu_list_parse("\n", &list), 0);
    assert_int_equal(list.count, 0);
}

static void refuses_what_is_no_list(void **state)
{
    static const char *const bad[] = {"x",    "1,",  ",1",    "1-", "-1",  "3-2", "1 2",
                                      "1,,2", "0x1", "1-2-3", "+1", "1;2", "1.5"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cpu_list_parse(bad[i], &list), -EINVAL);
    assert_int_equal(cpu_list_parse("0-1024", &list), -ERANGE);
    assert_int_equal(cpu_list_parse("99999999999999999999", &list), -ERANGE);
    assert_int_equal(cpu_list_parse("1-4,3", &list), -EEXIST);
}

static void formats_sets(void **state)
{
    char text[64];
    cpu_set_t set;

    (void)state;
    CPU_ZERO(&set);
    assert_string_equal(cpu_list_format(&set, text, sizeof text), "");
    for (int cpu = 2; cpu <= 5; cpu++)
        CPU_SET(cpu, &set);
    CPU_SET(8, &set);
    CPU_SET(1023, &set);
    assert_string_equal(cpu_list_format(&set, text, sizeof text), "2-5,8,1023");
    assert_string_equal(cpu_list_format(&set, text, 12), "2-5,8,...");
    assert_string_equal(cpu_list_format(&set, text, 9), "2-5,...");
}

static void reads_files(void **state)
{
    struct tree t;
    char path[128];
    cpu_set_t set;

    (void)state;
    tree_init(&t);
    tree_put(&t, "online", "0-1,3\n");
    tree_put(&t, "isolated", "\n");
    snprintf(path, sizeof path, "%s/online", t.root);
    assert_int_equal(cpu_list_read(path, &set), 0);
    assert_int_equal(CPU_COUNT(&set), 3);
    assert_true(CPU_ISSET(3, &set));
    snprintf(path, sizeof path, "%s/isolated", t.root);
    assert_int_equal(cpu_list_read(path, &set), 0);
    assert_int_equal(CPU_COUNT(&set), 0);
    snprintf(path, sizeof path, "%s/nothing", t.root);
    assert_int_equal(cpu_list_read(path, &set), -ENOENT);
    tree_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_lists_in_their_order),
        cmocka_unit_test(refuses_what_is_no_list),
        cmocka_unit_test(formats_sets),
        cmocka_unit_test(reads_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
