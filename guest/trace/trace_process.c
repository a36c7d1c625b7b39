/* Notes what processes do.  As long as there is one and it runs one program, there are no such
 * notes: its load map is made of HR_META_MAP, and its end is the END chunk's.
 */
#include "guest/trace/trace_process.h"

#include <stdbool.h>

#include "guest/base/context.h"
#include "guest/cpu/clock.h"
#include "guest/thread/process.h"

_Static_assert(PROCESS_ID == HR_FIRST_PID, "the trace does not name the first process");

static bool noted; /* there is a record of a process */

static void note_process(enum hr_process_kind kind, const struct process *process, const char *path,
                         const struct hr_rec_process *about)
{
    struct trace_note *note = trace_notes_new("a process");
    uint64_t time = clock_now(cpu_this());

    cross_assert_held();
    if (note == NULL)
        return;
    noted = true;
    note->type = HR_REC_PROCESS;
    note->time = time;
    note->body_bytes = sizeof note->body.process;
    note->body.process = *about;
    note->body.process.time = time;
    note->body.process.kind = kind;
    note->body.process.pid = process->pid;
    if (path != NULL)
        trace_notes_set_path(note, path);
    trace_notes_add();
}

void trace_process_start(const struct process *child, uint32_t parent_pid, uint32_t parent_tid)
{
    const struct hr_rec_process about = {.parent_pid = parent_pid, .parent_tid = parent_tid};

    note_process(HR_PROCESS_START, child, child->program != NULL ? child->program->path : NULL,
                 &about);
}

void trace_process_exec(const struct process *process, const char *path)
{
    const struct hr_rec_process about = {0};

    note_process(HR_PROCESS_EXEC, process, path, &about);
    trace_maps_loaded(process->pid);
}

void trace_process_exit(const struct process *process, uint32_t wait_status)
{
    const struct hr_rec_process about = {.status = wait_status};

    if (noted)
        note_process(HR_PROCESS_EXIT, process, NULL, &about);
}

void trace_thread_start(uint32_t tid, uint32_t pid)
{
    struct trace_note *note = trace_notes_new("a thread");
    uint64_t time = clock_now(cpu_this());

    cross_assert_held();
    if (note == NULL)
        return;
    note->type = HR_REC_THREAD;
    note->time = time;
    note->body_bytes = sizeof note->body.thread;
    note->body.thread = (struct hr_rec_thread){.time = time, .tid = tid, .pid = pid};
    trace_notes_add();
}

void trace_process_map(const struct process *process, const struct trace_maps_map *map)
{
    trace_maps_note(noted ? process->pid : 0, map);
}
