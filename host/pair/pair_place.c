/* Reads which CPUs share cores, caches and sockets. */
#include "host/pair/pair_place.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "host/base/cpu_list.h"

#define CACHES_MAX 10 /* entries of a CPU */

const char *const pair_kind_names[PAIR_KINDS] = {"smt", "l2", "l3", "socket"};
const char *const pair_kind_words[PAIR_KINDS] = {"one core", "one L2", "one L3", "two sockets"};

struct sharing { /* with whom a CPU shares what, itself included */
    cpu_set_t core, l2, l3, socket;
};

static void read_set(const char *root, int cpu, const char *name, cpu_set_t *set)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/%s", root, cpu, name);
    if (cpu_list_read(path, set) != 0)
        CPU_ZERO(set);
    CPU_SET((size_t)cpu, set);
}

static int read_number(const char *root, int cpu, const char *name)
{
    char path[PATH_MAX];
    FILE *file;
    int value = -1;

    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/%s", root, cpu, name);
    file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%d", &value) != 1)
        value = -1;
    if (file != NULL)
        fclose(file);
    return value;
}

static void read_sharing(const char *root, int cpu, struct sharing *s)
{
    char name[64];

    read_set(root, cpu, "topology/thread_siblings_list", &s->core);
    read_set(root, cpu, "topology/core_siblings_list", &s->socket);
    s->l2 = s->l3 = s->core; /* where nothing is known */
    for (int i = 0; i < CACHES_MAX; i++) {
        int level;

        snprintf(name, sizeof name, "cache/index%d/level", i);
        level = read_number(root, cpu, name);
        snprintf(name, sizeof name, "cache/index%d/shared_cpu_list", i);
        if (level == 2)
            read_set(root, cpu, name, &s->l2);
        if (level == 3)
            read_set(root, cpu, name, &s->l3);
    }
}

static bool is_kind(const struct sharing *s, int other, enum pair_kind kind)
{
    size_t cpu = (size_t)other;
    enum pair_kind nearest = CPU_ISSET(cpu, &s->core)     ? PAIR_SMT
                             : CPU_ISSET(cpu, &s->l2)     ? PAIR_L2
                             : CPU_ISSET(cpu, &s->l3)     ? PAIR_L3
                             : CPU_ISSET(cpu, &s->socket) ? PAIR_KINDS
                                                          : PAIR_SOCKET;

    return nearest == kind;
}

/* Leaves out those that share a core with the two, then those that share an L2, as long as some
 * remain. */
static void find_others(const cpu_set_t *usable, const struct sharing *a, const struct sharing *b,
                        struct pair_place *place)
{
    const cpu_set_t *const near[] = {&a->core, &b->core, &a->l2, &b->l2};
    cpu_set_t left, without;

    left = *usable;
    CPU_CLR((size_t)place->cpus[0], &left);
    CPU_CLR((size_t)place->cpus[1], &left);
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        CPU_AND(&without, &left, near[i]);
        CPU_XOR(&without, &left, &without);
        if (CPU_COUNT(&without) != 0)
            left = without;
    }
    place->others = left;
}

int pair_place_find(const char *root, const cpu_set_t *usable, enum pair_kind kind,
                    struct pair_place *place)
{
    for (int first = 1; first >= 0; first--)
        for (int a = first; a < CPU_SETSIZE; a++) {
            struct sharing shared, other;

            if (!CPU_ISSET((size_t)a, usable))
                continue;
            read_sharing(root, a, &shared);
            for (int b = a + 1; b < CPU_SETSIZE; b++) {
                if (!CPU_ISSET((size_t)b, usable) || !is_kind(&shared, b, kind))
                    continue;
                read_sharing(root, b, &other);
                place->cpus[0] = a;
                place->cpus[1] = b;
                find_others(usable, &shared, &other, place);
                return 0;
            }
        }
    return -ENOENT;
}
