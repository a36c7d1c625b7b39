/* Which generated files there are, and text that grows. */
#include "guest/proc/proc.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/thread/threads.h"
#include "lib/array.h"

struct process *proc_process(const struct inode *inode)
{
    return process_find((uint32_t)(inode->context >> 32));
}

bool proc_subject(const struct inode *inode, struct text *text, struct proc_subject *subject)
{
    uint32_t tid = (uint32_t)inode->context;

    *subject = (struct proc_subject){.process = proc_process(inode), .task = tid};
    if (subject->process != NULL)
        subject->thread = tid ? threads_find(tid) : subject->process->oldest;
    if (subject->process != NULL && (subject->thread != NULL || !tid))
        return true;
    text->error = -ESRCH;
    return false;
}

uint64_t proc_cpu_mask(void)
{
    return run.workload_cpus < 64 ? (1ull << run.workload_cpus) - 1 : ~0ull;
}

void proc_add_cpu_list(struct text *text)
{
    if (run.workload_cpus > 1)
        text_add(text, "0-%u\n", run.workload_cpus - 1);
    else
        text_add(text, "0\n");
}

void proc_add_cpu_mask(struct text *text, uint64_t mask)
{
    if (run.workload_cpus > 32)
        text_add(text, "%0*x,%08x\n", (int)(run.workload_cpus - 29) / 4, (uint32_t)(mask >> 32),
                 (uint32_t)mask);
    else
        text_add(text, "%0*x\n", (int)(run.workload_cpus + 3) / 4, (uint32_t)mask);
}

static void say(const struct thread *, const struct inode *inode, struct text *text)
{
    text_add(text, "%s", (const char *)inode->context);
}

struct inode *proc_new_file(const struct proc_file *file, uint64_t context)
{
    struct inode *inode = inode_new(S_IFREG | (file->mode ? file->mode : 0444));

    if (inode != NULL) {
        inode->generate = file->text != NULL ? say : file->generate;
        inode->context = file->text != NULL ? (uint64_t)file->text : context;
    }
    return inode;
}

/* Visits a path with `*` once for each CPU. */
static void visit_cpus(const struct proc_file *file, proc_visit *visit, void *argument)
{
    const char *star = strchr(file->name, '*');
    char name[128];

    if (!proc_cpu_has(file))
        return;
    for (uint32_t cpu = 0; cpu < run.workload_cpus; cpu++) {
        size_t before = (size_t)(star - file->name);

        memcpy(name, file->name, before);
        format_text(name + before, sizeof name - before, "%u%s", cpu, star + 1);
        visit(name, file, (uint64_t)cpu << 8 | file->detail, argument);
    }
}

void proc_each(proc_visit *visit, void *argument)
{
    static const struct proc_files *const all[] = {&proc_machine_files, &proc_cpu_files,
                                                   &proc_setting_files, &proc_ipc_files,
                                                   &proc_net_files};

    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        for (size_t j = 0; j < all[i]->count; j++) {
            const struct proc_file *file = &all[i]->files[j];

            if (strchr(file->name, '*') != NULL)
                visit_cpus(file, visit, argument);
            else
                visit(file->name, file, file->detail, argument);
        }
    }
}

void proc_each_of_process(proc_visit *visit, void *argument)
{
    static const struct proc_files *const all[] = {&proc_process_files, &proc_status_files,
                                                   &proc_memory_files};

    for (size_t i = 0; i < ARRAY_COUNT(all); i++)
        for (size_t j = 0; j < all[i]->count; j++)
            visit(all[i]->files[j].name, &all[i]->files[j], 0, argument);
}
