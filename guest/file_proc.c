/* Contents of the /proc and /sys files that programs read. */
#include <errno.h>
#include <string.h>

#include "guest/files.h"
#include "guest/log.h"
#include "guest/phys.h"
#include "guest/run.h"
#include "guest/service.h"
#include "guest/syscall_handlers.h"
#include "guest/threads.h"
#include "lib/x86.h"

struct text {
    char *out;
    uint64_t room;
    uint64_t used;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = format_text_v(t->out + t->used, t->room - t->used, format, arguments);
    va_end(arguments);
    t->used += (uint64_t)length;
    if (t->used >= t->room)
        t->used = t->room - 1;
}

static void write_cmdline(const struct thread *thread, struct text *t)
{
    size_t position = 0;
    const char *argument;

    while ((argument = manifest_next(&thread->process->manifest, "arg", &position)))
        add(t, "%s%c", argument, '\0');
}

static const char *area_name(const struct process *process, const struct vm_area *area)
{
    if (area->flags & VM_AREA_STACK)
        return "[stack]";
    if (area->flags & VM_AREA_VDSO)
        return "[vdso]";
    if (area->flags & VM_AREA_BRK)
        return "[heap]";
    return area->flags & VM_AREA_IMAGE ? process->program_path : "";
}

static void write_maps(const struct thread *thread, struct text *t)
{
    const struct process *process = thread->process;

    for (const struct vm_area *area = process->space.areas; area; area = area->next)
        add(t, "%08lx-%08lx %c%c%c%c 00000000 00:00 0 %26s\n", area->start, area->end,
            area->protection & VM_READ ? 'r' : '-', area->protection & VM_WRITE ? 'w' : '-',
            area->protection & VM_EXEC ? 'x' : '-', area->flags & VM_AREA_SHARED ? 's' : 'p',
            area_name(process, area));
}

static void write_stat(const struct thread *thread, struct text *t)
{
    const struct process *process = thread->process;
    uint64_t hundredths = service_cpu_ns() / 10000000;
    char name[16];

    syscall_thread_name(thread, name);
    add(t, "%u (%s) R 1 %u %u 0 -1 0 0 0 0 0 %lu 0 0 0 20 0 %u 0 0 %lu %lu", process->pid, name,
        process->pid, process->pid, hundredths, threads_count(), process->space.mapped_bytes,
        process->space.resident_bytes / PAGE_BYTES);
    for (int i = 25; i <= 52; i++)
        add(t, " 0");
    add(t, "\n");
}

static void write_statm(const struct thread *thread, struct text *t)
{
    const struct vm_space *space = &thread->process->space;

    add(t, "%lu %lu 0 0 0 0 0\n", space->mapped_bytes / PAGE_BYTES,
        space->resident_bytes / PAGE_BYTES);
}

static void write_status(const struct thread *thread, struct text *t)
{
    const struct process *process = thread->process;
    char name[16];

    syscall_thread_name(thread, name);
    add(t, "Name:\t%s\nState:\tR (running)\nTgid:\t%u\nPid:\t%u\nPPid:\t1\n", name, process->pid,
        process->pid);
    add(t, "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\n");
    add(t, "VmSize:\t%8lu kB\nVmRSS:\t%8lu kB\nThreads:\t%u\n", process->space.mapped_bytes >> 10,
        process->space.resident_bytes >> 10, threads_count());
}

static void write_meminfo(const struct thread *thread, struct text *t)
{
    (void)thread;
    add(t, "MemTotal:       %8lu kB\nMemFree:        %8lu kB\nMemAvailable:   %8lu kB\n",
        phys_total_bytes() >> 10, phys_free_bytes() >> 10, phys_free_bytes() >> 10);
    add(t, "Buffers:               0 kB\nCached:                0 kB\n");
    add(t, "SwapTotal:             0 kB\nSwapFree:              0 kB\n");
}

static void write_cpuinfo(const struct thread *thread, struct text *t)
{
    struct cpuid_result r = x86_cpuid(0, 0);
    char vendor[13] = {0}, brand[49] = {0};

    (void)thread;
    memcpy(vendor, &r.ebx, 4);
    memcpy(vendor + 4, &r.edx, 4);
    memcpy(vendor + 8, &r.ecx, 4);
    for (uint32_t leaf = 0; leaf < 3; leaf++) {
        r = x86_cpuid(0x80000002u + leaf, 0);
        memcpy(brand + leaf * 16ul, &r, 16);
    }
    r = x86_cpuid(1, 0);
    for (uint32_t cpu = 0; cpu < run.workload_cpus; cpu++) {
        add(t, "processor\t: %u\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n", cpu, vendor,
            (r.eax >> 8 & 15) + (r.eax >> 20 & 255), (r.eax >> 4 & 15) | (r.eax >> 12 & 0xf0));
        add(t, "model name\t: %s\nstepping\t: %u\ncpu cores\t: %u\n\n", brand, r.eax & 15,
            run.workload_cpus);
    }
}

static void write_cpus(const struct thread *thread, struct text *t)
{
    (void)thread;
    if (run.workload_cpus > 1)
        add(t, "0-%u\n", run.workload_cpus - 1);
    else
        add(t, "0\n");
}

static void write_uptime(const struct thread *thread, struct text *t)
{
    uint64_t hundredths = service_monotonic_ns() / 10000000;

    (void)thread;
    add(t, "%lu.%02lu 0.00\n", hundredths / 100, hundredths % 100);
}

static void write_comm(const struct thread *thread, struct text *t)
{
    char name[16];

    syscall_thread_name(thread, name);
    add(t, "%s\n", name);
}

static const struct generated {
    const char *path;
    void (*write)(const struct thread *thread, struct text *t);
} generated[] = {
    {"/proc/self/cmdline", write_cmdline},
    {"/proc/self/maps", write_maps},
    {"/proc/self/stat", write_stat},
    {"/proc/self/statm", write_statm},
    {"/proc/self/status", write_status},
    {"/proc/self/comm", write_comm},
    {"/proc/meminfo", write_meminfo},
    {"/proc/cpuinfo", write_cpuinfo},
    {"/proc/uptime", write_uptime},
    {"/sys/devices/system/cpu/online", write_cpus},
    {"/sys/devices/system/cpu/possible", write_cpus},
    {"/sys/devices/system/cpu/present", write_cpus},
};

int64_t file_proc_generate(const struct thread *thread, const char *path, char *out, uint64_t room)
{
    struct text text = {.out = out, .room = room};

    for (size_t i = 0; i < sizeof generated / sizeof generated[0]; i++) {
        if (strcmp(path, generated[i].path) == 0) {
            generated[i].write(thread, &text);
            return (int64_t)text.used;
        }
    }
    return -ENOENT;
}
