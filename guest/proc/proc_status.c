/* /proc/PID/status. */
#include <string.h>

#include "guest/memory/phys.h"
#include "guest/proc/proc.h"
#include "lib/array.h"

static void add_memory(struct text *text, const struct vm_space *space)
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

static void add_signals(struct text *text, const struct proc_subject *subject)
{
    const struct process *process = subject->process;
    const struct thread *thread = subject->thread;
    uint64_t ignored = 0, caught = 0;

    for (uint32_t i = 1; i <= SIGNALS; i++) {
        if (process->actions[i].handler == 1)
            ignored |= 1ull << (i - 1);
        else if (process->actions[i].handler)
            caught |= 1ull << (i - 1);
    }
    text_add(text, "SigQ:\t0/1024\nSigPnd:\t%016lx\nShdPnd:\t%016lx\nSigBlk:\t%016lx\n",
             thread != NULL ? thread->signals.queue.pending : 0, process->signals.pending,
             thread != NULL ? thread->signals.mask : 0);
    text_add(text, "SigIgn:\t%016lx\nSigCgt:\t%016lx\n", ignored, caught);
}

static void add_ids(struct text *text, const struct proc_subject *subject)
{
    const struct process *process = subject->process;
    char name[16];

    proc_subject_name(subject, name);
    text_add(text, "Name:\t%s\n", name);
    if (process->place != NULL)
        text_add(text, "Umask:\t%04o\n", process->place->umask);
    text_add(text, "State:\t%s\nTgid:\t%u\nNgid:\t0\nPid:\t%u\nPPid:\t%u\nTracerPid:\t0\n",
             proc_subject_state(subject), process->pid,
             subject->task ? subject->thread->tid : process->pid, process_parent_pid(process));
    text_add(text, "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n", PROCESS_USER_ID, PROCESS_USER_ID,
             PROCESS_USER_ID, PROCESS_USER_ID, PROCESS_USER_ID, PROCESS_USER_ID, PROCESS_USER_ID,
             PROCESS_USER_ID);
    text_add(text, "FDSize:\t64\nGroups:\t \nNStgid:\t%u\nNSpid:\t%u\nNSpgid:\t%u\nNSsid:\t%u\n",
             process->pid, subject->task ? subject->thread->tid : process->pid, process->group,
             process->session);
}

static void status(const struct thread *, const struct inode *inode, struct text *text)
{
    struct proc_subject subject;

    if (!proc_subject(inode, text, &subject))
        return;
    add_ids(text, &subject);
    if (subject.process->space != NULL)
        add_memory(text, subject.process->space);
    text_add(text, "CoreDumping:\t0\nTHP_enabled:\t1\nThreads:\t%u\n",
             subject.process->thread_count);
    add_signals(text, &subject);
    for (size_t i = 0; i < 5; i++)
        text_add(text, "Cap%s:\t%016lx\n", (const char *[]){"Inh", "Prm", "Eff", "Bnd", "Amb"}[i],
                 0ul);
    text_add(text, "NoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\nCpus_allowed:\t");
    proc_add_cpu_mask(text, proc_cpu_mask());
    text_add(text, "Cpus_allowed_list:\t");
    proc_add_cpu_list(text);
    text_add(text, "Mems_allowed:\t1\nMems_allowed_list:\t0\n");
}

static const struct proc_file files[] = {{.name = "status", .generate = status}};

const struct proc_files proc_status_files = {files, ARRAY_COUNT(files)};
