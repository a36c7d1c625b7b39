/* /proc: the machine that the program runs on. */
#include <string.h>

#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/base/text.h"
#include "guest/cpu/clock.h"
#include "guest/memory/phys.h"
#include "guest/proc/proc.h"
#include "guest/thread/clocks.h"
#include "guest/thread/threads.h"
#include "lib/array.h"

#define TICK_NS 10000000u /* USER_HZ is 100 */
#define NS_PER_SECOND 1000000000u

static void meminfo(const struct thread *thread, const struct inode *, struct text *text)
{
    uint64_t total = phys_total_bytes() >> 10, available = phys_free_bytes() >> 10;
    uint64_t used = thread->process->space->resident_bytes >> 10;
    static const struct {
        const char *name;
        char what; /* t: total, f: free, u: used by the program, 0: none */
    } lines[] = {
        {"MemTotal", 't'},     {"MemFree", 'f'},      {"MemAvailable", 'f'}, {"Buffers", 0},
        {"Cached", 0},         {"SwapCached", 0},     {"Active", 'u'},       {"Inactive", 0},
        {"Active(anon)", 'u'}, {"Inactive(anon)", 0}, {"Active(file)", 0},   {"Inactive(file)", 0},
        {"Unevictable", 0},    {"Mlocked", 0},        {"SwapTotal", 0},      {"SwapFree", 0},
        {"Dirty", 0},          {"Writeback", 0},      {"AnonPages", 'u'},    {"Mapped", 0},
        {"Shmem", 0},          {"KReclaimable", 0},   {"Slab", 0},           {"SReclaimable", 0},
        {"SUnreclaim", 0},     {"KernelStack", 0},    {"PageTables", 0},     {"CommitLimit", 't'},
        {"Committed_AS", 'u'}, {"AnonHugePages", 0},  {"ShmemHugePages", 0}, {"ShmemPmdMapped", 0},
        {"FileHugePages", 0},
    };

    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        uint64_t value = lines[i].what == 't'   ? total
                         : lines[i].what == 'f' ? available
                         : lines[i].what == 'u' ? used
                                                : 0;

        text_add(text, "%s:%*s%8lu kB\n", lines[i].name, 15 - (int)strlen(lines[i].name), "",
                 value);
    }
    text_add(text, "HugePages_Total:       0\nHugePages_Free:        0\nHugePages_Rsvd:        0\n"
                   "HugePages_Surp:        0\nHugepagesize:       2048 kB\n");
}

/* Returns the processor time of all processes, those that have ended included. */
static uint64_t used_by_all(void)
{
    uint64_t ns = 0;

    for (struct process *p = process_after(NULL); p != NULL; p = process_after(p))
        ns += clocks_process_ns(p) + run_ticks_to_ns(p->children_use.used_ticks);
    return ns;
}

/* Adds one line of /proc/stat; the program's time is divided evenly among its CPUs. */
static void add_cpu_time(struct text *text, uint32_t count)
{
    uint64_t used = used_by_all() / TICK_NS * count / run.workload_cpus;
    uint64_t all = clock_monotonic_ns() / TICK_NS * count;

    text_add(text, " %lu 0 0 %lu 0 0 0 0 0 0\n", used, all > used ? all - used : 0);
}

static void stat(const struct thread *, const struct inode *, struct text *text)
{
    text_add(text, "cpu ");
    add_cpu_time(text, run.workload_cpus);
    for (uint32_t cpu = 0; cpu < run.workload_cpus; cpu++) {
        text_add(text, "cpu%u", cpu);
        add_cpu_time(text, 1);
    }
    text_add(text, "intr 0\nctxt 0\nbtime %lu\nprocesses %u\nprocs_running 1\nprocs_blocked 0\n",
             run.start_unix_ns / NS_PER_SECOND, threads_count());
    text_add(text, "softirq 0 0 0 0 0 0 0 0 0 0 0\n");
}

static void uptime(const struct thread *, const struct inode *, struct text *text)
{
    uint64_t up = clock_monotonic_ns() / TICK_NS;
    uint64_t used = used_by_all() / TICK_NS, all = up * run.workload_cpus;
    uint64_t idle = all > used ? all - used : 0;

    text_add(text, "%lu.%02lu %lu.%02lu\n", up / 100, up % 100, idle / 100, idle % 100);
}

static void loadavg(const struct thread *, const struct inode *, struct text *text)
{
    text_add(text, "0.00 0.00 0.00 1/%u %u\n", threads_count(), threads_last_tid());
}

static void version(const struct thread *, const struct inode *, struct text *text)
{
    text_add(text, "Linux version %s (microtome) (gcc) %s\n", SYSCALL_RELEASE, SYSCALL_VERSION);
}

static void vmstat(const struct thread *thread, const struct inode *, struct text *text)
{
    text_add(text,
             "nr_free_pages %lu\nnr_anon_pages %lu\npgpgin 0\npgpgout 0\npswpin 0\npswpout 0\n",
             phys_free_bytes() / PAGE_BYTES, thread->process->space->resident_bytes / PAGE_BYTES);
}

static const struct proc_file files[] = {
    {.name = "/proc/meminfo", .generate = meminfo},
    {.name = "/proc/stat", .generate = stat},
    {.name = "/proc/uptime", .generate = uptime},
    {.name = "/proc/loadavg", .generate = loadavg},
    {.name = "/proc/version", .generate = version},
    {.name = "/proc/vmstat", .generate = vmstat},
    {.name = "/proc/filesystems",
     .text = "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tdevtmpfs\nnodev\trootfs\n"},
    {.name = "/proc/devices",
     .text = "Character devices:\n  1 mem\n  5 /dev/tty\n\nBlock devices:\n"},
    {.name = "/proc/swaps", .text = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"},
    {.name = "/proc/cmdline", .text = "microtome\n"},
    {.name = "/proc/modules", .text = ""},
    {.name = "/proc/diskstats", .text = ""},
};

const struct proc_files proc_machine_files = {files, ARRAY_COUNT(files)};
