/* Which generated files there are, and text that grows. */
#include "guest/proc.h"

#include <errno.h>
#include <string.h>

#include "guest/files.h"
#include "guest/log.h"
#include "guest/run.h"
#include "guest/threads.h"

void proc_add(struct proc_text *text, const char *format, ...)
{
    uint64_t room = text->used < text->room ? text->room - text->used : 0;
    va_list arguments;

    va_start(arguments, format);
    text->used +=
        (uint64_t)format_text_v(room ? text->out + text->used : NULL, room, format, arguments);
    va_end(arguments);
}

int64_t proc_end(const struct proc_text *text)
{
    return text->used < text->room ? (int64_t)text->used : -ENOBUFS;
}

const struct thread *proc_subject(const struct thread *thread, const struct inode *inode)
{
    return inode && inode->context ? threads_find((uint32_t)inode->context) : thread;
}

uint64_t proc_cpu_mask(void)
{
    return run.workload_cpus < 64 ? (1ull << run.workload_cpus) - 1 : ~0ull;
}

void proc_add_cpu_list(struct proc_text *text)
{
    if (run.workload_cpus > 1)
        proc_add(text, "0-%u\n", run.workload_cpus - 1);
    else
        proc_add(text, "0\n");
}

void proc_add_cpu_mask(struct proc_text *text, uint64_t mask)
{
    if (run.workload_cpus > 32)
        proc_add(text, "%0*x,%08x\n", (int)(run.workload_cpus - 29) / 4, (uint32_t)(mask >> 32),
                 (uint32_t)mask);
    else
        proc_add(text, "%0*x\n", (int)(run.workload_cpus + 3) / 4, (uint32_t)mask);
}

/* A path for each CPU. */
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
                                                   &proc_setting_files};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (size_t j = 0; j < all[i]->count; j++) {
            const struct proc_file *file = &all[i]->files[j];

            if (strchr(file->name, '*'))
                visit_cpus(file, visit, argument);
            else
                visit(file->name, file, file->detail, argument);
        }
    }
}

void proc_each_of_process(proc_visit *visit, void *argument)
{
    static const struct proc_files *const all[] = {&proc_process_files, &proc_memory_files};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (size_t j = 0; j < all[i]->count; j++)
            visit(all[i]->files[j].name, &all[i]->files[j], 0, argument);
}

/* ---- by path ---- */

struct search {
    const char *name;
    const struct proc_file *file;
    uint64_t context;
};

static void compare(const char *name, const struct proc_file *file, uint64_t context,
                    void *argument)
{
    struct search *search = argument;

    if (!search->file && strcmp(name, search->name) == 0) {
        search->file = file;
        search->context = context;
    }
}

/* What follows the number at `path`, NULL if there is none. */
static const char *after_number(const char *path, uint64_t *number)
{
    const char *p = path;

    for (*number = 0; *p >= '0' && *p <= '9' && *number < 1u << 24; p++)
        *number = *number * 10 + (uint64_t)(*p - '0');
    return p == path ? NULL : p;
}

/* The name within a process's directory, and whose that is; NULL: no such directory. */
static const char *in_process(const struct thread *thread, const char *path, uint64_t *tid)
{
    const char *rest;
    uint64_t pid;

    *tid = 0;
    if (strncmp(path, "/proc/thread-self/", 18) == 0) {
        *tid = thread->tid;
        return path + 18;
    }
    if (strncmp(path, "/proc/self/", 11) == 0)
        rest = path + 10;
    else if (strncmp(path, "/proc/", 6) != 0 || !(rest = after_number(path + 6, &pid)) ||
             pid != thread->process->pid || *rest != '/')
        return NULL;
    if (strncmp(rest, "/task/", 6) != 0)
        return rest + 1;
    rest = after_number(rest + 6, tid);
    return rest && *rest == '/' ? rest + 1 : NULL;
}

int64_t file_proc_generate(const struct thread *thread, const char *path, char *out, uint64_t room)
{
    struct search search = {.name = path};
    uint64_t tid;
    const char *name = in_process(thread, path, &tid);

    if (name) {
        search.name = name;
        proc_each_of_process(compare, &search);
        search.context = tid;
    } else {
        proc_each(compare, &search);
    }
    if (!search.file)
        return -ENOENT;
    const struct inode inode = {.context = search.context};

    return search.file->generate(thread, &inode, out, room);
}
