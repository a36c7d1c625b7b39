/* execve and execveat: another program for the process. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/resource.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/calls/calls.h"
#include "guest/cpu/fpu.h"
#include "guest/exec/exec.h"
#include "guest/exec/exec_file.h"
#include "guest/exec/exec_program.h"
#include "guest/file/files.h"
#include "guest/memory/heap.h"
#include "guest/signal/program_timer.h"
#include "guest/signal/signal.h"
#include "guest/syscall/file/syscall_path.h"
#include "guest/syscall/futex/futex.h"
#include "guest/syscall/process/ending.h"
#include "guest/thread/limits.h"
#include "guest/thread/pages.h"
#include "guest/thread/threads.h"
#include "guest/thread/threads_end.h"
#include "guest/trace/called.h"
#include "guest/trace/regions.h"
#include "guest/trace/trace.h"
#include "guest/trace/trace_process.h"
#include "lib/x86.h"

#define NAME_BYTES_MAX (FS_PATH_MAX + 24ul) /* "/dev/fd/N/" and a path */

struct exec_call { /* less than a page */
    struct exec_plan plan;
    struct exec_file file;
};

/* Returns a call for what was found, which is released; NULL without memory. */
static struct exec_call *take_call(struct fs_found *found, const char *name)
{
    struct exec_call *call = heap_alloc(sizeof *call);

    if (call != NULL) {
        call->file.name = name;
        call->file.entry = found->entry;
        found->entry = NULL;
    }
    fs_found_release(found);
    return call;
}

/* Counts the strings.  As on Linux the program gets an empty argument if it would get none. */
static int survey_strings(const struct thread *thread, struct exec_plan *plan, uint64_t arguments,
                          uint64_t environment)
{
    uint64_t room = exec_strings_room(thread->process->limits[RLIMIT_STACK].soft);
    uint64_t name_bytes = strlen(plan->file_name) + 1;
    int error = 0;

    plan->arguments = (struct exec_strings){.space = thread->process->space, .list = arguments};
    plan->environment = (struct exec_strings){.space = thread->process->space, .list = environment};
    room -= name_bytes < room ? name_bytes : room;
    error = exec_strings_survey(&plan->arguments, &room);
    if (!error)
        error = exec_strings_survey(&plan->environment, &room);
    if (error || plan->arguments.count)
        return error;
    plan->arguments.first[0] = "";
    plan->arguments.first_count = 1;
    plan->arguments.list = 0;
    return exec_strings_survey(&plan->arguments, &room);
}

/* Returns an empty address space with the limits of the old one, or NULL without memory. */
static struct vm_space *new_space(const struct vm_space *old)
{
    struct vm_space *space = vm_space_new();

    if (space == NULL)
        return NULL;
    space->stack_limit = old->stack_limit;
    space->address_limit = old->address_limit;
    space->data_limit = old->data_limit;
    space->prefault = old->prefault;
    return space;
}

/* Does everything that can fail. */
static int prepare(struct thread *thread, struct exec_call *call, uint64_t arguments,
                   uint64_t environment)
{
    struct exec_plan *plan = &call->plan;
    uint64_t room = UINT64_MAX;
    int error = call->file.entry != NULL ? exec_file_check(call->file.entry->inode) : -EACCES;

    plan->file_name = call->file.name;
    if (!error)
        error = survey_strings(thread, plan, arguments, environment);
    if (!error)
        error = exec_file_open(thread, &call->file, plan);
    if (!error && plan->arguments.first_count) /* those of scripts */
        error = exec_strings_survey(&plan->arguments, &room);
    if (!error)
        plan->record = exec_program_new(plan->program.entry, NULL);
    if (error || plan->record == NULL)
        return error ? error : -ENOMEM;
    plan->space = new_space(thread->process->space);
    if (plan->space == NULL)
        return -ENOMEM;
    error = exec_make(plan);
    if (!error)
        error = files_unshare(thread->process);
    return error ? error : process_actions_unshare(thread->process);
}

/* Resets what a thread has from its old program. */
static void reset_thread(struct thread *thread, const char *file_name)
{
    thread->clear_child_tid = thread->robust_list = thread->robust_list_bytes = 0;
    thread->fault_vector = thread->fault_error = thread->fault_address = 0;
    threads_set_name(thread, file_name);
    x86_wrmsr(X86_MSR_FS_BASE, 0);
    x86_wrmsr(X86_MSR_KERNEL_GS_BASE, 0);
    fpu_reset(thread->fpu_area);
    thread->after_call.return_by_iret = true;
}

/* Leaves the old memory. */
static void switch_space(struct process *process, struct vm_space *space)
{
    struct vm_space *old = process->space;

    pages_leave(process);
    if (old->references == 1) {
        regions_space_ends(old);
        called_space_ends(old);
    }
    process->space = space;
    vm_space_use(space);
    vm_space_release(old);
}

/* Makes the process the new program.  Returns 0, or -EINTR if the thread is to end instead. */
static int64_t become(struct thread *thread, struct exec_call *call, struct trap_frame *frame)
{
    struct process *process = thread->process;
    struct exec_plan *plan = &call->plan;

    if (!threads_end_others(thread))
        return -EINTR;
    futex_thread_ends(thread); /* in the old memory */
    calls_thread_ends(thread);
    threads_lead(thread);
    switch_space(process, plan->space);
    plan->space = NULL; /* the process has it */
    ending_vfork(process);
    process->executed = true;
    process->exit_signal = SIGCHLD;
    process->barriers = 0;
    exec_program_release(process->program);
    process->program = plan->record;
    process->given = plan->given;
    files_exec(process);
    signal_exec(thread);
    program_timer_exec(thread);
    reset_thread(thread, plan->file_name);
    *frame = (struct trap_frame){.vector = frame->vector,
                                 .error = frame->error,
                                 .rip = plan->entry,
                                 .cs = SELECTOR_USER_CODE,
                                 .rflags = 2 | 1u << 9, /* IF */
                                 .rsp = plan->stack,
                                 .ss = SELECTOR_USER_DATA};
    trace_map_forget();
    exec_announce(plan);
    trace_process_exec(process, plan->file_name);
    run_state.after_call.mapped = true;
    plan->record = NULL; /* the process has it */
    return 0;
}

/* Ends the process by SIGSEGV, as Linux does if a file turns out to be cut when it is mapped. */
static int64_t doom(struct thread *thread)
{
    thread->process->actions[SIGSEGV].handler = 0; /* SIG_DFL */
    signal_set_mask(thread, thread->signals.mask & ~SIGNAL_BIT(SIGSEGV));
    signal_send(thread, SIGSEGV, SI_KERNEL);
    return -EFAULT;
}

/* Executes what was found, by the name that a script gets. */
static int64_t execute(struct thread *thread, struct trap_frame *frame, struct exec_call *call,
                       uint64_t arguments, uint64_t environment)
{
    int64_t result = prepare(thread, call, arguments, environment);

    if (!result)
        result = become(thread, call, frame);
    else if (call->plan.opened && result != -ENOMEM)
        result = doom(thread);
    exec_free(&call->plan);
    exec_file_close(&call->file);
    return result;
}

int64_t syscall_execve(struct thread *thread, struct trap_frame *frame)
{
    struct exec_call *call;
    struct fs_found found;
    int64_t result;
    int error;
    char *path = syscall_path_read(frame->rdi, &error);

    if (path == NULL)
        return error;
    result = syscall_walk_path(thread, AT_FDCWD, path, FS_FOLLOW, &found);
    call = result ? NULL : take_call(&found, path);
    if (call != NULL)
        result = execute(thread, frame, call, frame->rsi, frame->rdx);
    else if (!result)
        result = -ENOMEM;
    heap_free(call, sizeof *call);
    syscall_path_free(path);
    return result;
}

/* Returns the name of what a descriptor, or a path from a descriptor, leads to; on the heap. */
static char *name_by_descriptor(int32_t descriptor, const char *path)
{
    char *name = heap_alloc(NAME_BYTES_MAX);

    if (name != NULL)
        format_text(name, NAME_BYTES_MAX, "/dev/fd/%d%s%s", descriptor, *path ? "/" : "", path);
    return name;
}

static int64_t execute_at(struct thread *thread, struct trap_frame *frame, struct fs_found *found,
                          const char *path)
{
    int32_t descriptor = (int32_t)frame->rdi;
    bool by_path = descriptor == AT_FDCWD || *path == '/';
    char *name = by_path ? NULL : name_by_descriptor(descriptor, path);
    struct exec_call *call = take_call(found, by_path ? path : name);
    int64_t result = -ENOMEM;

    if (call != NULL && (by_path || name != NULL)) {
        call->file.unreachable = !by_path && files_close_on_exec(thread->process, descriptor);
        result = execute(thread, frame, call, frame->rdx, frame->r10);
    } else if (call != NULL) {
        fs_entry_release(call->file.entry);
    }
    heap_free(call, sizeof *call);
    heap_free(name, NAME_BYTES_MAX);
    return result;
}

int64_t syscall_execveat(struct thread *thread, struct trap_frame *frame)
{
    uint32_t flags = (uint32_t)frame->r8;
    struct fs_found found;
    int64_t result;
    int error;
    char *path;

    if (flags & ~(uint32_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    path = syscall_path_read(frame->rsi, &error);
    if (path == NULL)
        return error;
    result = syscall_walk_at_path(thread, (int64_t)frame->rdi, path, flags, &found);
    if (!result && found.entry != NULL && S_ISLNK(found.entry->inode->mode)) {
        fs_found_release(&found);
        result = -ELOOP;
    }
    if (!result)
        result = execute_at(thread, frame, &found, path);
    syscall_path_free(path);
    return result;
}
