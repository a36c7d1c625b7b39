/* Finds the NUMA node of pinned CPUs, and whether the guest's memory fits there. */
#include "host/launch/launch_numa.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/base/cpu_list.h"

#define NODES "/sys/devices/system/node/"
#define LIST_BYTES 64

/* Returns false if a pinned CPU does not belong to the node. */
static bool has_all(const cpu_set_t *cpus, const struct launch_pin *pin)
{
    for (int i = 0; i < pin->count; i++)
        if (!CPU_ISSET(pin->cpus[i], cpus))
            return false;
    return true;
}

/* Returns the node that has all pinned CPUs, or -1.  *nodes: how many nodes have some of them. */
static int find_node(const char *root, const cpu_set_t *online, const struct launch_pin *pin,
                     cpu_set_t *nodes)
{
    CPU_ZERO(nodes);
    for (int node = 0; node < CPU_SETSIZE; node++) {
        char path[PATH_MAX];
        cpu_set_t cpus;

        if (!CPU_ISSET(node, online))
            continue;
        snprintf(path, sizeof path, "%s" NODES "node%d/cpulist", root, node);
        if (cpu_list_read(path, &cpus) != 0)
            continue;
        if (has_all(&cpus, pin))
            return node;
        for (int i = 0; i < pin->count; i++)
            if (CPU_ISSET(pin->cpus[i], &cpus))
                CPU_SET(node, nodes);
    }
    return -1;
}

static uint64_t free_huge_bytes(const char *root, int node)
{
    char of[64];

    snprintf(of, sizeof of, NODES "node%d", node);
    return launch_memory_huge_pages(root, of, "free_hugepages") * LAUNCH_MEMORY_HUGE_PAGE_BYTES;
}

/* Adds up free memory and pages of files that can be read again: a node has no MemAvailable. */
static uint64_t available_bytes(const char *root, int node)
{
    static const char *const counted[] = {"MemFree", "Active(file)", "Inactive(file)"};
    char path[PATH_MAX];
    char line[256], name[64];
    uint64_t bytes = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s" NODES "node%d/meminfo", root, node);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long long kilobytes;

        if (sscanf(line, "Node %*u %63[^:]: %llu kB", name, &kilobytes) != 2)
            continue;
        for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
            if (strcmp(name, counted[i]) == 0)
                bytes += (uint64_t)kilobytes << 10;
    }
    fclose(file);
    return bytes;
}

static bool has_room(const char *root, int node, uint64_t bytes, const struct launch_memory *memory)
{
    if (memory->huge_pages)
        return free_huge_bytes(root, node) >= bytes;
    return available_bytes(root, node) > bytes + bytes / 4;
}

void launch_numa_choose(const char *root, const struct launch_pin *pin, uint64_t bytes,
                        struct launch_memory *memory, struct launch_notes *notes)
{
    char path[PATH_MAX], list[LIST_BYTES];
    cpu_set_t online, nodes;
    int node;

    snprintf(path, sizeof path, "%s" NODES "online", root);
    if (pin->count == 0 || cpu_list_read(path, &online) != 0 || CPU_COUNT(&online) < 2)
        return;
    node = find_node(root, &online, pin, &nodes);
    if (node < 0) {
        launch_warn(notes,
                    "memory: not bound to a NUMA node, the pinned CPUs are of nodes %s; choose "
                    "CPUs of one node",
                    cpu_list_format(&nodes, list, sizeof list));
    } else if (!has_room(root, node, bytes, memory)) {
        launch_warn(notes,
                    "memory: not bound to NUMA node %d of the pinned CPUs, %lu MiB%s are not free "
                    "there; choose CPUs of another node, or less --mem",
                    node, bytes >> 20, memory->huge_pages ? " of huge pages" : "");
    } else {
        memory->bound = true;
        memory->node = node;
        launch_note(notes, "memory: bound to NUMA node %d of the pinned CPUs", node);
    }
}
