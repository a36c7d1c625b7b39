/* Two CPUs that share a core, a cache, or nothing, of machines that /sys describes. */
#include <errno.h>

#include "host/base/cpu_list.h"
#include "host/pair/pair_place.h"
#include "tests/unit/host/tree.h"

static struct tree tree;

static void put_cpu(int cpu, const char *core, const char *l2, const char *l3, const char *socket)
{
    const struct {
        const char *name, *text;
    } files[] = {
        {"topology/thread_siblings_list", core},
        {"topology/core_siblings_list", socket},
        {"cache/index0/level", "1"},
        {"cache/index0/shared_cpu_list", core},
        {"cache/index2/level", "2"},
        {"cache/index2/shared_cpu_list", l2},
        {"cache/index3/level", "3"},
        {"cache/index3/shared_cpu_list", l3},
    };
    char path[128];

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/%s", cpu, files[i].name);
        tree_put(&tree, path, files[i].text);
    }
}

static int set_up(void **state)
{
    (void)state;
    tree_init(&tree);
    put_cpu(0, "0-1\n", "0-1\n", "0-3\n", "0-5\n");
    put_cpu(1, "0-1\n", "0-1\n", "0-3\n", "0-5\n");
    put_cpu(2, "2\n", "2-3\n", "0-3\n", "0-5\n"); /* small cores share an L2 */
    put_cpu(3, "3\n", "2-3\n", "0-3\n", "0-5\n");
    put_cpu(4, "4-5\n", "4-5\n", "4-5\n", "0-5\n"); /* another L3 of the socket */
    put_cpu(5, "4-5\n", "4-5\n", "4-5\n", "0-5\n");
    put_cpu(6, "6\n", "6\n", "6\n", "6\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tree_free(&tree);
    return 0;
}

/* Finds a pair among the CPUs of a list: "A B others", or "none". */
static const char *find(const char *usable, enum pair_kind kind)
{
    static char text[128];
    struct cpu_list list;
    struct pair_place place;
    cpu_set_t set;
    char others[64];

    assert_int_equal(cpu_list_parse(usable, &list), 0);
    CPU_ZERO(&set);
    for (size_t i = 0; i < list.count; i++)
        CPU_SET((size_t)list.cpus[i], &set);
    if (pair_place_find(tree.root, &set, kind, &place) == -ENOENT)
        return "none";
    snprintf(text, sizeof text, "%d %d %s", place.cpus[0], place.cpus[1],
             cpu_list_format(&place.others, others, sizeof others));
    return text;
}

static void each_kind(void **state)
{
    (void)state;
    assert_string_equal(find("0-6", PAIR_SMT), "4 5 0-3,6");
    assert_string_equal(find("0-6", PAIR_L2), "2 3 0-1,4-6");
    assert_string_equal(find("0-6", PAIR_L3), "1 2 4-6");
    assert_string_equal(find("0-6", PAIR_SOCKET), "1 6 2-5");
}

static void few_cpus(void **state)
{
    (void)state;
    assert_string_equal(find("0-1", PAIR_SMT), "0 1 ");
    assert_string_equal(find("0-2", PAIR_L3), "1 2 0"); /* a sibling is better than nothing */
    assert_string_equal(find("1,4", PAIR_L3), "none"); /* one socket, two L3 */
    assert_string_equal(find("1,4", PAIR_SOCKET), "none");
    assert_string_equal(find("6", PAIR_SMT), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind),
        cmocka_unit_test(few_cpus),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
