/* /proc/PID and /proc/PID/task/TID: what a program asks about itself. */
#include <linux/resource.h>
#include <string.h>

#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/base/text.h"
#include "guest/memory/phys.h"
#include "guest/proc/proc.h"
#include "guest/thread/clocks.h"
#include "guest/thread/limits.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/vm/vm_access.h"
#include "lib/array.h"

#define TICK_NS 10000000u /* USER_HZ is 100 */

/* Writes a part of the process's memory: what is no longer there is left out. */
static void add_memory(const struct thread *thread, uint64_t from, uint64_t to, struct text *text)
{
    struct vm_space *space = thread->process->space;
    uint64_t room;
    void *at;

    while (from < to && vm_access(space, from, VM_ACCESS_READ, &at, &room) == 0) {
        if (room > to - from)
            room = to - from;
        if (text->used + room < text->room)
            memcpy(text->out + text->used, at, room);
        text->used += room;
        from += room;
    }
}

static void cmdline(const struct thread *thread, const struct inode *, struct text *text)
{
    const struct process_given *given = &thread->process->given;

    add_memory(thread, given->arguments, given->environment, text);
}

static void environment(const struct thread *thread, const struct inode *, struct text *text)
{
    const struct process_given *given = &thread->process->given;

    add_memory(thread, given->environment, given->end, text);
}

static void auxiliary(const struct thread *thread, const struct inode *, struct text *text)
{
    const struct process_given *given = &thread->process->given;

    add_memory(thread, given->auxv, given->auxv + given->auxv_bytes, text);
}

static void comm(const struct thread *thread, const struct inode *inode, struct text *text)
{
    const struct thread *subject = proc_subject(thread, inode, text);
    char name[16];

    if (subject == NULL)
        return;
    threads_name(subject, name);
    text_add(text, "%s\n", name);
}

static uint64_t used_ns(const struct thread *subject, const struct inode *inode)
{
    return inode != NULL && inode->context ? run_ticks_to_ns(schedule_thread_ticks(subject))
                                           : clocks_process_ns(subject->process);
}

static void stat(const struct thread *thread, const struct inode *inode, struct text *text)
{
    const struct thread *subject = proc_subject(thread, inode, text);
    const struct vm_space *space = thread->process->space;
    uint32_t pid = thread->process->pid;
    char name[16];

    if (subject == NULL)
        return;
    threads_name(subject, name);
    text_add(text, "%u (%s) %c 1 %u %u 0 -1 4194304 0 0 0 0 %lu 0 0 0 20 0 %u 0 0 %lu %lu ",
             inode->context ? subject->tid : pid, name, subject == thread ? 'R' : 'S', pid, pid,
             used_ns(subject, inode) / TICK_NS, threads_count(), space->mapped_bytes,
             space->resident_bytes / PAGE_BYTES);
    /* rsslim; code, stack and registers as 0; signals; ...; exit signal, processor */
    text_add(text, "%lu 1 1 0 0 0 %lu %lu 0 0 0 0 0 17 %u 0 0 0 0 0 0 0 %lu 0 0 0 0 0\n",
             UINT64_MAX, subject->signals.queue.pending & 0x7fffffff,
             subject->signals.mask & 0x7fffffff,
             subject->schedule.cpu != NULL ? run_program_cpu(subject->schedule.cpu->index) : 0,
             space->brk_start);
}

static void statm(const struct thread *thread, const struct inode *, struct text *text)
{
    const struct vm_space *space = thread->process->space;
    uint64_t text_bytes = 0, data_bytes = 0;

    for (const struct vm_area *area = space->areas; area != NULL; area = area->next) {
        if (area->protection & VM_EXEC)
            text_bytes += area->end - area->start;
        else if (area->protection & VM_WRITE)
            data_bytes += area->end - area->start;
    }
    text_add(text, "%lu %lu 0 %lu 0 %lu 0\n", space->mapped_bytes / PAGE_BYTES,
             space->resident_bytes / PAGE_BYTES, text_bytes / PAGE_BYTES, data_bytes / PAGE_BYTES);
}

static void add_status_memory(struct text *text, const struct vm_space *space)
{
    uint64_t data = 0, stack = 0, code = 0;

    text_add(text, "VmPeak:\t%8lu kB\nVmSize:\t%8lu kB\nVmLck:\t       0 kB\nVmPin:\t       0 kB\n",
             space->mapped_bytes >> 10, space->mapped_bytes >> 10);
    text_add(text, "VmHWM:\t%8lu kB\nVmRSS:\t%8lu kB\nRssAnon:\t%8lu kB\n", phys_peak_bytes() >> 10,
             space->resident_bytes >> 10, space->resident_bytes >> 10);
    for (const struct vm_area *area = space->areas; area != NULL; area = area->next) {
        uint64_t *kind = area->flags & VM_AREA_STACK  ? &stack
                         : area->protection & VM_EXEC ? &code
                                                      : &data;

        *kind += area->end - area->start;
    }
    text_add(text, "VmData:\t%8lu kB\nVmStk:\t%8lu kB\nVmExe:\t%8lu kB\nVmLib:\t       0 kB\n",
             data >> 10, stack >> 10, code >> 10);
    text_add(text, "VmPTE:\t       0 kB\nRssFile:\t       0 kB\nRssShmem:\t       0 kB\nVmSwap:\t  "
                   "     0 kB\n");
}

static void add_status_signals(struct text *text, const struct thread *subject)
{
    const struct process *process = subject->process;
    uint64_t ignored = 0, caught = 0;

    for (uint32_t i = 1; i <= SIGNALS; i++) {
        if (process->actions[i].handler == 1)
            ignored |= 1ull << (i - 1);
        else if (process->actions[i].handler)
            caught |= 1ull << (i - 1);
    }
    text_add(text, "SigQ:\t0/1024\nSigPnd:\t%016lx\nShdPnd:\t%016lx\nSigBlk:\t%016lx\n",
             subject->signals.queue.pending, process->signals.pending, subject->signals.mask);
    text_add(text, "SigIgn:\t%016lx\nSigCgt:\t%016lx\n", ignored, caught);
}

static void status(const struct thread *thread, const struct inode *inode, struct text *text)
{
    const struct thread *subject = proc_subject(thread, inode, text);
    const struct process *process = thread->process;
    char name[16];

    if (subject == NULL)
        return;
    threads_name(subject, name);
    text_add(text, "Name:\t%s\nUmask:\t%04o\n", name, process->umask);
    text_add(text, "State:\t%s\nTgid:\t%u\nNgid:\t0\nPid:\t%u\nPPid:\t1\nTracerPid:\t0\n",
             subject == thread ? "R (running)" : "S (sleeping)", process->pid,
             inode->context ? subject->tid : process->pid);
    text_add(text, "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n", PROCESS_USER_ID, PROCESS_USER_ID,
             PROCESS_USER_ID, PROCESS_USER_ID, PROCESS_USER_ID, PROCESS_USER_ID, PROCESS_USER_ID,
             PROCESS_USER_ID);
    text_add(text, "FDSize:\t64\nGroups:\t \n");
    add_status_memory(text, process->space);
    text_add(text, "CoreDumping:\t0\nTHP_enabled:\t1\nThreads:\t%u\n", threads_count());
    add_status_signals(text, subject);
    for (size_t i = 0; i < 5; i++)
        text_add(text, "Cap%s:\t%016lx\n", (const char *[]){"Inh", "Prm", "Eff", "Bnd", "Amb"}[i],
                 0ul);
    text_add(text, "NoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\nCpus_allowed:\t");
    proc_add_cpu_mask(text, proc_cpu_mask());
    text_add(text, "Cpus_allowed_list:\t");
    proc_add_cpu_list(text);
    text_add(text, "Mems_allowed:\t1\nMems_allowed_list:\t0\n");
}

static const struct {
    uint32_t resource;
    const char *name, *unit;
} limits[] = {
    {RLIMIT_CPU, "Max cpu time", "seconds"},
    {RLIMIT_FSIZE, "Max file size", "bytes"},
    {RLIMIT_DATA, "Max data size", "bytes"},
    {RLIMIT_STACK, "Max stack size", "bytes"},
    {RLIMIT_CORE, "Max core file size", "bytes"},
    {RLIMIT_RSS, "Max resident set", "bytes"},
    {RLIMIT_NPROC, "Max processes", "processes"},
    {RLIMIT_NOFILE, "Max open files", "files"},
    {RLIMIT_MEMLOCK, "Max locked memory", "bytes"},
    {RLIMIT_AS, "Max address space", "bytes"},
    {RLIMIT_LOCKS, "Max file locks", "locks"},
    {RLIMIT_SIGPENDING, "Max pending signals", "signals"},
    {RLIMIT_MSGQUEUE, "Max msgqueue size", "bytes"},
    {RLIMIT_NICE, "Max nice priority", ""},
    {RLIMIT_RTPRIO, "Max realtime priority", ""},
    {RLIMIT_RTTIME, "Max realtime timeout", "us"},
};

static void limit_table(const struct thread *thread, const struct inode *, struct text *text)
{
    text_add(text, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++) {
        const struct limit *now = &thread->process->limits[limits[i].resource];
        uint64_t limit[2] = {now->soft, now->hard};

        text_add(text, "%-25s ", limits[i].name);
        for (int j = 0; j < 2; j++) {
            if (limit[j] == UINT64_MAX)
                text_add(text, "%-20s ", "unlimited");
            else
                text_add(text, "%-20lu ", limit[j]);
        }
        text_add(text, "%-10s\n", limits[i].unit);
    }
}

/* File systems and what they are mounted on: in mounts and in mountinfo. */
static const struct {
    const char *type, *where;
    uint32_t minor;
} mounts[] = {
    {"rootfs", "/", 1},      {"proc", "/proc", 2}, {"sysfs", "/sys", 3},
    {"devtmpfs", "/dev", 4}, {"tmpfs", "/tmp", 5},
};

static void mount_table(const struct thread *, const struct inode *, struct text *text)
{
    for (size_t i = 0; i < ARRAY_COUNT(mounts); i++)
        text_add(text, "%s %s %s rw,relatime 0 0\n", mounts[i].type, mounts[i].where,
                 mounts[i].type);
}

static void mount_info(const struct thread *, const struct inode *, struct text *text)
{
    for (uint32_t i = 0; i < ARRAY_COUNT(mounts); i++)
        text_add(text, "%u %u 0:%u / %s rw,relatime - %s %s rw\n", 20 + i, i ? 20 : 1,
                 mounts[i].minor, mounts[i].where, mounts[i].type, mounts[i].type);
}

static void schedstat(const struct thread *thread, const struct inode *inode, struct text *text)
{
    const struct thread *subject = proc_subject(thread, inode, text);
    if (subject == NULL)
        return;
    text_add(text, "%lu 0 1\n", used_ns(subject, inode));
}

#define ID_MAP "         0          0 4294967295\n"

static const struct proc_file files[] = {
    {.name = "cmdline", .generate = cmdline},
    {.name = "environ", .generate = environment, .mode = 0400},
    {.name = "auxv", .generate = auxiliary, .mode = 0400},
    {.name = "comm", .generate = comm, .mode = 0644},
    {.name = "stat", .generate = stat},
    {.name = "statm", .generate = statm},
    {.name = "status", .generate = status},
    {.name = "limits", .generate = limit_table},
    {.name = "mounts", .generate = mount_table},
    {.name = "mountinfo", .generate = mount_info},
    {.name = "schedstat", .generate = schedstat},
    {.name = "cgroup", .text = "0::/\n"},
    {.name = "wchan", .text = "0\n"},
    {.name = "oom_score", .text = "0\n"},
    {.name = "oom_score_adj", .text = "0\n", .mode = 0644},
    {.name = "oom_adj", .text = "0\n", .mode = 0644},
    {.name = "sessionid", .text = "4294967295\n"},
    {.name = "loginuid", .text = "4294967295\n", .mode = 0644},
    {.name = "personality", .text = "00000000\n", .mode = 0400},
    {.name = "coredump_filter", .text = "00000033\n", .mode = 0644},
    {.name = "timerslack_ns", .text = "50000\n"},
    {.name = "uid_map", .text = ID_MAP, .mode = 0644},
    {.name = "gid_map", .text = ID_MAP, .mode = 0644},
};

const struct proc_files proc_process_files = {files, ARRAY_COUNT(files)};
