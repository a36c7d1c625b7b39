/* Makes threads, finds them, and keeps the memory of those that ended for the next ones. */
#include "guest/thread/threads.h"
#include "guest/base/context.h"
#include "guest/service/service.h"

#include "guest/base/signal_layout.h"
#include "guest/memory/vm_kernel.h"
#include <signal.h>

#include <string.h>

#include "guest/base/log.h"
#include "guest/cpu/entry.h"
#include "guest/cpu/fpu.h"
#include "guest/memory/phys.h"
#include "guest/sample/exact.h"
#include "guest/vm/vm.h"
#include "lib/x86.h"

#define HASH_SLOTS 1024u
#define SCARCE_SHARE 32 /* this share of memory is kept from new threads */
#define TID_LIMIT (1u << 22) /* PID_MAX_LIMIT of Linux */
#define FPU_ALIGNMENT 64u /* of an XSAVE area */

_Static_assert(KERNEL_STACK_BYTES == PAGE_BYTES << 2, "STACK_ORDER");
#define STACK_ORDER 2

static struct thread *hash[HASH_SLOTS];
static struct thread *spare; /* list by ->next */
static uint32_t count;
static uint32_t stacks; /* how many were ever made */
static uint32_t next_tid;
static bool wrapped; /* next_tid has begun again */

/* ---- memory ---- */

static uint64_t new_stack(void)
{
    uint64_t block = phys_alloc(STACK_ORDER), at;

    if (!block)
        return 0;
    at = vm_map_stack(stacks, block);
    if (!at) {
        phys_free(block, STACK_ORDER);
        return 0;
    }
    stacks++;
    return at + KERNEL_STACK_BYTES;
}

/* Makes a thread and its XSAVE area, which is empty except for what XRSTOR loads even so. */
static struct thread *new_memory(void)
{
    const uint64_t fpu_at = (sizeof(struct thread) + FPU_ALIGNMENT - 1) & ~(FPU_ALIGNMENT - 1ull);
    unsigned order = phys_order(fpu_at + fpu_area_bytes());
    uint64_t block = phys_alloc(order);
    struct thread *thread;

    if (!block)
        return NULL;
    thread = phys_pointer(block);
    memset(thread, 0, (size_t)PAGE_BYTES << order);
    thread->stack_top = new_stack();
    if (!thread->stack_top) {
        phys_free(block, order);
        return NULL;
    }
    thread->fpu_area = (uint8_t *)thread + fpu_at;
    return thread;
}

static struct thread *take_memory(void)
{
    struct thread *thread = spare;
    uint64_t stack_top;
    uint8_t *fpu_area;

    if (thread == NULL)
        return new_memory();
    spare = thread->next;
    stack_top = thread->stack_top;
    fpu_area = thread->fpu_area;
    memset(thread, 0, sizeof *thread);
    thread->stack_top = stack_top;
    thread->fpu_area = fpu_area;
    return thread;
}

/* ---- the table ---- */

static struct thread **hash_slot(uint32_t tid)
{
    return &hash[tid % HASH_SLOTS];
}

uint32_t threads_new_tid(void)
{
    uint32_t tid;

    do {
        tid = next_tid++;
        if (next_tid == TID_LIMIT) {
            next_tid = PROCESS_ID + 1;
            wrapped = true;
        }
    } while (threads_find(tid) != NULL || process_find(tid) != NULL ||
             (wrapped && process_uses_id(tid)));
    return tid;
}

uint32_t threads_last_tid(void)
{
    return next_tid - 1;
}

static void add_to_hash(struct thread *thread)
{
    struct thread **slot = hash_slot(thread->tid);

    thread->hash_next = *slot;
    *slot = thread;
}

static void remove_from_hash(struct thread *thread)
{
    struct thread **slot = hash_slot(thread->tid);

    while (*slot != thread)
        slot = &(*slot)->hash_next;
    *slot = thread->hash_next;
}

static void threads_add(struct thread *thread)
{
    struct process *process = thread->process;

    add_to_hash(thread);
    thread->previous = process->youngest;
    if (process->youngest != NULL)
        process->youngest->next = thread;
    else
        process->oldest = thread;
    process->youngest = thread;
    process->thread_count++;
    count++;
}

void threads_remove(struct thread *thread)
{
    struct process *process = thread->process;

    cross_assert_held();
    remove_from_hash(thread);
    if (thread->next != NULL)
        thread->next->previous = thread->previous;
    else
        process->youngest = thread->previous;
    if (thread->previous != NULL)
        thread->previous->next = thread->next;
    else
        process->oldest = thread->next;
    process->thread_count--;
    process->unburied++;
    count--;
}

void threads_free(struct thread *thread)
{
    process_thread_freed(thread->process);
    thread->next = spare;
    spare = thread;
}

void threads_lead(struct thread *thread)
{
    cross_assert_held();
    if (thread->tid == thread->process->pid)
        return;
    remove_from_hash(thread);
    thread->tid = thread->process->pid;
    add_to_hash(thread);
    thread->schedule.cpu->tid = thread->tid;
    exact_note(EXACT_NOTE_THREAD, thread->tid);
}

struct thread *threads_find(uint32_t tid)
{
    struct thread *thread = *hash_slot(tid);

    cross_assert_held();
    while (thread != NULL && thread->tid != tid)
        thread = thread->hash_next;
    return thread;
}

struct thread *threads_any(void)
{
    return process_first.oldest;
}

uint32_t threads_count(void)
{
    return count;
}

void threads_each(const struct process *process,
                  void (*visit)(struct thread *thread, void *context), void *context)
{
    struct thread *next;

    for (struct thread *thread = process->oldest; thread != NULL; thread = next) {
        next = thread->next;
        visit(thread, context);
    }
}

/* ---- new threads ---- */

/* Lays out its kernel stack as if it had called switch_stacks from entry_thread. */
static void prepare_stack(struct thread *thread)
{
    uint64_t *stack = (uint64_t *)threads_frame(thread);

    *--stack = (uint64_t)entry_thread;
    for (int i = 0; i < 6; i++) /* the registers that switch_stacks pops */
        *--stack = 0;
    thread->schedule.kernel_rsp = (uint64_t)stack;
}

struct thread *threads_first(struct process *process)
{
    static const uint32_t mxcsr = FPU_MXCSR_DEFAULT;
    struct thread *thread = take_memory();

    if (thread == NULL)
        panic("no memory for the first thread; give more with --mem");
    memcpy(thread->fpu_area + SIGNAL_FPU_MXCSR, &mxcsr, sizeof mxcsr);
    thread->process = process;
    thread->tid = process->pid;
    thread->schedule.allowed_cpus = ~0ull;
    next_tid = process->pid + 1;
    threads_add(thread);
    prepare_stack(thread);
    return thread;
}

struct thread *threads_clone(const struct thread *parent, struct process *process, uint32_t tid,
                             const struct trap_frame *frame)
{
    bool scarce = phys_free_bytes() < phys_total_bytes() / SCARCE_SHARE;
    struct thread *thread = count < THREADS_MAX && !scarce ? take_memory() : NULL;

    cross_assert_held();
    if (thread == NULL)
        return NULL;
    thread->process = process;
    thread->tid = tid;
    thread->signals.mask = parent->signals.mask;
    thread->schedule.cpu = parent->schedule.cpu;
    thread->schedule.allowed_cpus = parent->schedule.allowed_cpus;
    thread->schedule.fs_base = x86_rdmsr(X86_MSR_FS_BASE);
    thread->schedule.gs_base = x86_rdmsr(X86_MSR_KERNEL_GS_BASE);
    memcpy(thread->name, parent->name, sizeof thread->name);
    __asm__ volatile("xsave64 (%0)" ::"r"(thread->fpu_area), "a"(~0u), "d"(~0u) : "memory");
    *threads_frame(thread) = *frame;
    threads_frame(thread)->rax = 0;
    threads_add(thread);
    prepare_stack(thread);
    return thread;
}

void threads_deadlock(const char *what)
{
    log_notice("the program waits forever: %s, and nothing can wake %s", what,
               threads_count() > 1 ? "any of its threads" : "its only thread");
    service_exit(HR_EXIT_SIGNAL, SIGKILL);
}

void threads_name(const struct thread *thread, char name[16])
{
    const struct process_program *program = thread->process->program;
    const char *path = program != NULL ? program->path : "";
    const char *slash = strrchr(path, '/');

    if (thread->name[0])
        memcpy(name, thread->name, sizeof thread->name);
    else
        format_text(name, sizeof thread->name, "%s", slash != NULL ? slash + 1 : path);
}

void threads_set_name(struct thread *thread, const char *path)
{
    const char *slash = strrchr(path, '/');

    memset(thread->name, 0, sizeof thread->name);
    format_text(thread->name, sizeof thread->name, "%s", slash != NULL ? slash + 1 : path);
}
