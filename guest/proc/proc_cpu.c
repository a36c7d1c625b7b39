/* /proc/cpuinfo, /sys/devices/system/cpu and node.  Each CPU of the program is a core. */
#include <string.h>

#include "drivers/processor/caches.h"
#include "drivers/processor/processor.h"
#include "guest/base/run.h"
#include "guest/base/text.h"
#include "guest/cpu/proc_flags.h"
#include "guest/memory/phys.h"
#include "guest/proc/proc.h"
#include "lib/array.h"
#include "lib/x86.h"

#define CPU "/sys/devices/system/cpu/"
#define NODE "/sys/devices/system/node/"
#define CACHES \
    4u /* levels asked for; the detail of a cache's files is index * CACHE_FILES + file */

static uint32_t cpu_of(const struct inode *inode)
{
    return (uint32_t)(inode->context >> 8);
}

/* ---- caches ---- */

static bool is_shared(const struct cache *cache)
{
    return cache->level > 2;
}

enum cache_file {
    CACHE_LEVEL,
    CACHE_TYPE,
    CACHE_SIZE,
    CACHE_LINE,
    CACHE_WAYS,
    CACHE_SETS,
    CACHE_PARTITION,
    CACHE_SHARED_LIST,
    CACHE_SHARED_MAP,
    CACHE_FILES
};

static void cache_file(const struct thread *, const struct inode *inode, struct text *text)
{
    uint32_t detail = inode->context & 255, cpu = cpu_of(inode);
    struct cache cache = caches_get(detail / CACHE_FILES);
    const uint32_t numbers[CACHE_FILES] = {[CACHE_LEVEL] = cache.level,
                                           [CACHE_LINE] = cache.line,
                                           [CACHE_WAYS] = cache.ways,
                                           [CACHE_SETS] = cache.sets,
                                           [CACHE_PARTITION] = cache.partitions};

    switch ((enum cache_file)(detail % CACHE_FILES)) {
    case CACHE_TYPE:
        text_add(text, "%s\n",
                 cache.type == CACHE_DATA           ? "Data"
                 : cache.type == CACHE_INSTRUCTIONS ? "Instruction"
                                                    : "Unified");
        break;
    case CACHE_SIZE:
        text_add(text, "%uK\n", caches_kib(&cache));
        break;
    case CACHE_SHARED_LIST:
        if (is_shared(&cache))
            proc_add_cpu_list(text);
        else
            text_add(text, "%u\n", cpu);
        break;
    case CACHE_SHARED_MAP:
        proc_add_cpu_mask(text, is_shared(&cache) ? proc_cpu_mask() : 1ull << cpu % 64);
        break;
    default:
        text_add(text, "%u\n", numbers[detail % CACHE_FILES]);
        break;
    }
}

/* Each cache is looked at once for all of its files: CPUID leaves a virtual machine. */
bool proc_cpu_has(const struct proc_file *file)
{
    static enum { UNKNOWN, ABSENT, PRESENT } caches[CACHES];
    uint32_t i = file->detail / CACHE_FILES;

    if (file->generate != cache_file)
        return true;
    if (caches[i] == UNKNOWN)
        caches[i] = caches_get(i).type ? PRESENT : ABSENT;
    return caches[i] == PRESENT;
}

/* ---- topology ---- */

static void cpu_list(const struct thread *, const struct inode *, struct text *text)
{
    proc_add_cpu_list(text);
}

static void all_cpus(const struct thread *, const struct inode *, struct text *text)
{
    proc_add_cpu_mask(text, proc_cpu_mask());
}

static void this_cpu_list(const struct thread *, const struct inode *inode, struct text *text)
{
    text_add(text, "%u\n", cpu_of(inode));
}

static void this_cpu(const struct thread *, const struct inode *inode, struct text *text)
{
    proc_add_cpu_mask(text, 1ull << cpu_of(inode) % 64);
}

static void node_meminfo(const struct thread *, const struct inode *, struct text *text)
{
    uint64_t total = phys_total_bytes() >> 10, available = phys_free_bytes() >> 10;

    text_add(text, "Node 0 MemTotal:       %8lu kB\nNode 0 MemFree:        %8lu kB\n", total,
             available);
    text_add(text, "Node 0 MemUsed:        %8lu kB\n", total - available);
}

static void node_statistics(const struct thread *, const struct inode *, struct text *text)
{
    text_add(text, "numa_hit 0\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 0\n"
                   "other_node 0\n");
}

/* ---- /proc/cpuinfo ---- */

static void add_names(struct text *text, uint32_t cpu)
{
    struct cpuid_result r = x86_cpuid(0, 0);
    char vendor[13] = {0}, brand[49] = {0};

    memcpy(vendor, &r.ebx, 4);
    memcpy(vendor + 4, &r.edx, 4);
    memcpy(vendor + 8, &r.ecx, 4);
    for (uint32_t leaf = 0; leaf < 3; leaf++) {
        r = x86_cpuid(0x80000002u + leaf, 0);
        memcpy(brand + leaf * 16ul, &r, 16);
    }
    r = x86_cpuid(1, 0);
    text_add(text, "processor\t: %u\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n", cpu,
             vendor, (r.eax >> 8 & 15) + (r.eax >> 20 & 255),
             (r.eax >> 4 & 15) | (r.eax >> 12 & 0xf0));
    text_add(text, "model name\t: %s\nstepping\t: %u\nmicrocode\t: 0x1\n", brand, r.eax & 15);
}

static uint32_t largest_cache_kib(void)
{
    uint32_t kib = 0;

    for (uint32_t i = 0; i < CACHES; i++) {
        struct cache cache = caches_get(i);

        if (cache.type && caches_kib(&cache) > kib)
            kib = caches_kib(&cache);
    }
    return kib;
}

static void cpuinfo(const struct thread *, const struct inode *, struct text *text)
{
    uint64_t khz = run.clock.hz / 1000;
    uint32_t sizes = x86_cpuid(0x80000008, 0).eax, line = (x86_cpuid(1, 0).ebx >> 8 & 255) * 8;

    for (uint32_t cpu = 0; cpu < run.workload_cpus; cpu++) {
        add_names(text, cpu);
        text_add(text, "cpu MHz\t\t: %lu.%03lu\ncache size\t: %u KB\nphysical id\t: 0\n",
                 khz / 1000, khz % 1000, largest_cache_kib());
        text_add(text, "siblings\t: %u\ncore id\t\t: %u\ncpu cores\t: %u\napicid\t\t: %u\n",
                 run.workload_cpus, cpu, run.workload_cpus, cpu);
        text_add(text, "initial apicid\t: %u\nfpu\t\t: yes\nfpu_exception\t: yes\n", cpu);
        text_add(text, "cpuid level\t: %u\nwp\t\t: yes\nflags\t\t:", x86_cpuid(0, 0).eax);
        proc_add_cpu_flags(text);
        text_add(text, "\nbugs\t\t:\nbogomips\t: %lu.%02lu\nclflush size\t: %u\n", khz / 500,
                 khz / 5 % 100, line);
        text_add(text,
                 "cache_alignment\t: %u\naddress sizes\t: %u bits physical, %u bits virtual\n",
                 line, sizes & 255, sizes >> 8 & 255);
        text_add(text, "power management:\n\n");
    }
}

#define CACHE_INDEX(index)                                                                 \
    CACHE(index, "level", CACHE_LEVEL), CACHE(index, "type", CACHE_TYPE),                  \
        CACHE(index, "size", CACHE_SIZE), CACHE(index, "coherency_line_size", CACHE_LINE), \
        CACHE(index, "ways_of_associativity", CACHE_WAYS),                                 \
        CACHE(index, "number_of_sets", CACHE_SETS),                                        \
        CACHE(index, "physical_line_partition", CACHE_PARTITION),                          \
        CACHE(index, "shared_cpu_list", CACHE_SHARED_LIST),                                \
        CACHE(index, "shared_cpu_map", CACHE_SHARED_MAP)
#define CACHE(index, file, number)                                              \
    {                                                                           \
        .name = CPU "cpu*/cache/index" #index "/" file, .generate = cache_file, \
        .detail = (index)*CACHE_FILES + (number)                                \
    }
#define TOPOLOGY(file, generator)                                \
    {                                                            \
        .name = CPU "cpu*/topology/" file, .generate = generator \
    }

static const struct proc_file files[] = {
    {.name = "/proc/cpuinfo", .generate = cpuinfo},
    {.name = CPU "online", .generate = cpu_list},
    {.name = CPU "possible", .generate = cpu_list},
    {.name = CPU "present", .generate = cpu_list},
    {.name = CPU "offline", .text = "\n"},
    {.name = CPU "isolated", .text = "\n"},
    {.name = CPU "kernel_max", .text = "63\n"},
    {.name = CPU "smt/active", .text = "0\n"},
    {.name = CPU "cpu*/online", .text = "1\n"},
    TOPOLOGY("core_id", this_cpu_list),
    {.name = CPU "cpu*/topology/"
                 "physical_package_id",
     .text = "0\n"},
    {.name = CPU "cpu*/topology/"
                 "die_id",
     .text = "0\n"},
    {.name = CPU "cpu*/topology/"
                 "cluster_id",
     .text = "0\n"},
    TOPOLOGY("thread_siblings", this_cpu),
    TOPOLOGY("thread_siblings_list", this_cpu_list),
    TOPOLOGY("core_cpus", this_cpu),
    TOPOLOGY("core_cpus_list", this_cpu_list),
    TOPOLOGY("core_siblings", all_cpus),
    TOPOLOGY("core_siblings_list", cpu_list),
    TOPOLOGY("package_cpus", all_cpus),
    TOPOLOGY("package_cpus_list", cpu_list),
    TOPOLOGY("die_cpus", all_cpus),
    TOPOLOGY("die_cpus_list", cpu_list),
    CACHE_INDEX(0),
    CACHE_INDEX(1),
    CACHE_INDEX(2),
    CACHE_INDEX(3),
    {.name = NODE "node0/cpulist", .generate = cpu_list},
    {.name = NODE "node0/cpumap", .generate = all_cpus},
    {.name = NODE "node0/meminfo", .generate = node_meminfo},
    {.name = NODE "node0/numastat", .generate = node_statistics},
};

const struct proc_files proc_cpu_files = {files, ARRAY_COUNT(files)};
