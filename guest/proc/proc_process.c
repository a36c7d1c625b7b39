/* /proc/PID and /proc/PID/task/TID: what a program asks about itself and other processes. */
#include <linux/resource.h>
#include <string.h>

#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/base/text.h"
#include "guest/file/terminal.h"
#include "guest/proc/proc.h"
#include "guest/thread/clocks.h"
#include "guest/thread/limits.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/vm/vm_access.h"
#include "lib/array.h"

#define TICK_NS 10000000u /* USER_HZ is 100 */

/* Writes a part of a process's memory: what is no longer there is left out. */
static void add_memory(const struct process *process, uint64_t from, uint64_t to, struct text *text)
{
    struct vm_space *space = process->space;
    uint64_t room;
    void *at;

    while (from < to && space != NULL && vm_access(space, from, VM_ACCESS_READ, &at, &room) == 0) {
        if (room > to - from)
            room = to - from;
        if (text->used + room < text->room)
            memcpy(text->out + text->used, at, room);
        text->used += room;
        from += room;
    }
}

static void cmdline(const struct thread *, const struct inode *inode, struct text *text)
{
    struct proc_subject subject;

    if (proc_subject(inode, text, &subject))
        add_memory(subject.process, subject.process->given.arguments,
                   subject.process->given.environment, text);
}

static void environment(const struct thread *, const struct inode *inode, struct text *text)
{
    struct proc_subject subject;

    if (proc_subject(inode, text, &subject))
        add_memory(subject.process, subject.process->given.environment, subject.process->given.end,
                   text);
}

static void auxiliary(const struct thread *, const struct inode *inode, struct text *text)
{
    struct proc_subject subject;
    const struct process_given *given;

    if (!proc_subject(inode, text, &subject))
        return;
    given = &subject.process->given;
    add_memory(subject.process, given->auxv, given->auxv + given->auxv_bytes, text);
}

void proc_subject_name(const struct proc_subject *subject, char name[16])
{
    if (subject->thread != NULL)
        threads_name(subject->thread, name);
    else
        memcpy(name, subject->process->name, sizeof subject->process->name);
}

static void comm(const struct thread *, const struct inode *inode, struct text *text)
{
    struct proc_subject subject;
    char name[16];

    if (!proc_subject(inode, text, &subject))
        return;
    proc_subject_name(&subject, name);
    text_add(text, "%s\n", name);
}

static bool runs(const struct thread *thread)
{
    return thread->schedule.state != THREAD_WAITING;
}

const char *proc_subject_state(const struct proc_subject *subject)
{
    const struct process *process = subject->process;
    const struct thread *thread = subject->task ? subject->thread : process->oldest;

    if (thread == NULL)
        return "Z (zombie)";
    while (!subject->task && thread->next != NULL && !runs(thread))
        thread = thread->next;
    if (runs(thread))
        return "R (running)";
    return process->stop.signal && process->stop.threads == process->thread_count ? "T (stopped)"
                                                                                  : "S (sleeping)";
}

static uint64_t used_ns(const struct proc_subject *subject)
{
    return subject->task ? run_ticks_to_ns(schedule_thread_ticks(subject->thread))
                         : clocks_process_ns(subject->process);
}

static uint64_t user_ns(const struct proc_subject *subject)
{
    return run_ticks_to_ns(subject->task ? schedule_thread_user_ticks(subject->thread)
                                         : schedule_process_user_ticks(subject->process));
}

/* User and system time, in the unit of times(). */
static void add_times(struct text *text, uint64_t all_ns, uint64_t user)
{
    text_add(text, "%lu %lu ", user / TICK_NS, (all_ns > user ? all_ns - user : 0) / TICK_NS);
}

static void add_stat_head(struct text *text, const struct proc_subject *subject)
{
    const struct process *process = subject->process;
    uint32_t foreground, terminal = terminal_device(process, &foreground);
    char name[16];

    proc_subject_name(subject, name);
    text_add(text, "%u (%s) %c %u %u %u %u %d 4194304 %lu 0 0 0 ",
             subject->task ? subject->thread->tid : process->pid, name,
             *proc_subject_state(subject), process_parent_pid(process), process->group,
             process->session, terminal, terminal ? (int)foreground : -1, process->use.page_faults);
}

static void stat(const struct thread *, const struct inode *inode, struct text *text)
{
    static const struct vm_space none;
    struct proc_subject subject;
    const struct process *process;
    const struct thread *thread;
    const struct vm_space *space;

    if (!proc_subject(inode, text, &subject))
        return;
    process = subject.process;
    thread = subject.thread;
    space = process->space != NULL ? process->space : &none;
    add_stat_head(text, &subject);
    add_times(text, used_ns(&subject), user_ns(&subject));
    add_times(text, run_ticks_to_ns(process->children_use.used_ticks),
              run_ticks_to_ns(process->children_use.use.user_ticks));
    text_add(text, "%d %d %u 0 %lu %lu %lu ", 20 + process->nice, process->nice,
             process->thread_count, process->start_ns / TICK_NS, space->mapped_bytes,
             space->resident_bytes / PAGE_BYTES);
    /* rsslim; code, stack and registers as 0; signals; ...; exit signal, processor */
    text_add(text, "%lu 1 1 0 0 0 %lu %lu 0 0 0 0 0 %u %u 0 0 0 0 0 0 0 %lu 0 0 0 0 %u\n",
             UINT64_MAX, thread != NULL ? thread->signals.queue.pending & 0x7fffffff : 0,
             thread != NULL ? thread->signals.mask & 0x7fffffff : 0, process->exit_signal,
             thread != NULL && thread->schedule.cpu != NULL
                 ? run_program_cpu(thread->schedule.cpu->index)
                 : 0,
             space->brk_start, process->state == PROCESS_RUNS ? 0 : process->status);
}

static void statm(const struct thread *, const struct inode *inode, struct text *text)
{
    uint64_t text_bytes = 0, data_bytes = 0;
    const struct vm_space *space;
    struct proc_subject subject;

    if (!proc_subject(inode, text, &subject))
        return;
    space = subject.process->space;
    if (space == NULL) {
        text_add(text, "0 0 0 0 0 0 0\n");
        return;
    }
    for (const struct vm_area *area = space->areas; area != NULL; area = area->next) {
        if (area->protection & VM_EXEC)
            text_bytes += area->end - area->start;
        else if (area->protection & VM_WRITE)
            data_bytes += area->end - area->start;
    }
    text_add(text, "%lu %lu 0 %lu 0 %lu 0\n", space->mapped_bytes / PAGE_BYTES,
             space->resident_bytes / PAGE_BYTES, text_bytes / PAGE_BYTES, data_bytes / PAGE_BYTES);
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

static void limit_table(const struct thread *, const struct inode *inode, struct text *text)
{
    struct proc_subject subject;

    if (!proc_subject(inode, text, &subject))
        return;
    text_add(text, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++) {
        const struct limit *now = &subject.process->limits[limits[i].resource];
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

static void schedstat(const struct thread *, const struct inode *inode, struct text *text)
{
    struct proc_subject subject;

    if (proc_subject(inode, text, &subject))
        text_add(text, "%lu 0 1\n", used_ns(&subject));
}

#define ID_MAP "         0          0 4294967295\n"

static const struct proc_file files[] = {
    {.name = "cmdline", .generate = cmdline},
    {.name = "environ", .generate = environment, .mode = 0400},
    {.name = "auxv", .generate = auxiliary, .mode = 0400},
    {.name = "comm", .generate = comm, .mode = 0644},
    {.name = "stat", .generate = stat},
    {.name = "statm", .generate = statm},
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
