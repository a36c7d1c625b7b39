/* Notes what processes do.  As long as there is one and it runs one program, there are no such
 * notes: its load map is made of HR_META_MAP, and its end is the END chunk's.
 */
#include "guest/trace/trace_process.h"

#include <stdbool.h>

#include "guest/base/context.h"
#include "guest/cpu/clock.h"
#include "guest/sample/python.h"
#include "guest/thread/process.h"
#include "guest/thread/thread.h"

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

void trace_thread_stack(uint32_t tid, uint64_t start, uint64_t end)
{
    struct trace_note *note = trace_notes_new("a thread's stack");
    uint64_t time = clock_now(cpu_this());

    cross_assert_held();
    if (note == NULL)
        return;
    note->type = HR_META_THREAD_STACK;
    note->time = time;
    note->body_bytes = sizeof note->body.thread_stack;
    note->body.thread_stack =
        (struct hr_meta_thread_stack){.time = time, .start = start, .end = end, .tid = tid};
    trace_notes_add();
}

void trace_process_map(const struct process *process, const struct trace_maps_map *map)
{
    trace_maps_note(noted ? process->pid : 0, map);
}

static void offer_map(uint32_t pid, const struct hr_meta_map *map, const struct trace_note *note)
{
    python_mapped(pid, map->start - map->file_offset, trace_notes_path(note), note->path_bytes);
}

static void offer(const struct trace_note *note)
{
    switch (note->type) {
    case HR_META_MAP:
        offer_map(HR_FIRST_PID, &note->body.map, note);
        return;
    case HR_REC_PROCESS_MAP:
        offer_map(note->body.process_map.pid, &note->body.process_map.map, note);
        return;
    case HR_REC_PROCESS:
        if (note->body.process.kind == HR_PROCESS_START)
            python_forked(note->body.process.pid, note->body.process.parent_pid);
        else
            python_gone(note->body.process.pid);
        return;
    default:
        return;
    }
}

/* Apart, so that a sample without news saves no registers for it. */
static __attribute__((noinline)) void offer_new(uint32_t *next)
{
    static bool busy;
    const struct trace_note *note;

    if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE))
        return;
    while ((note = trace_notes_look(next)) != NULL)
        offer(note);
    __atomic_store_n(&busy, false, __ATOMIC_RELEASE);
}

uint32_t trace_process_offer(void)
{
    static uint32_t next;
    const struct thread *thread;

    if (trace_notes_new_since(next))
        offer_new(&next);
    thread = cpu_this()->thread;
    return thread != NULL ? thread->process->pid : 0;
}
