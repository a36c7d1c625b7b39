/* Sends signals, keeps them pending, and takes them. */
#include "guest/signal/signal.h"

#include <signal.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/base/log.h"
#include "guest/service/service.h"
#include "guest/signal/program_timer.h"
#include "guest/signal/signal_frame.h"
#include "guest/thread/threads.h"
#include "guest/thread/threads_end.h"
#include "guest/thread/wait.h"
#include "include/hr_format.h"

void (*signal_listener)(uint32_t signal);

#define STATUS_CORE 0x80u /* in a wait status */

static const uint64_t ignored_by_default =
    SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGWINCH) | SIGNAL_BIT(SIGCONT);
static const uint64_t stops_by_default =
    SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU);
static const uint64_t dumps_core = SIGNAL_BIT(SIGQUIT) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGTRAP) |
                                   SIGNAL_BIT(SIGABRT) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGFPE) |
                                   SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGXCPU) | SIGNAL_BIT(SIGXFSZ) |
                                   SIGNAL_BIT(SIGSYS);
static const uint64_t faults = SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) |
                               SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGSYS);

uint64_t signal_mask_of(uint64_t mask)
{
    return mask & ~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP));
}

bool signal_default_ignores(uint32_t signal)
{
    return ignored_by_default & SIGNAL_BIT(signal);
}

bool signal_default_stops(uint32_t signal)
{
    return stops_by_default & SIGNAL_BIT(signal);
}

/* Returns true if the signal's action ignores it, blocked or not. */
static bool signal_action_ignores(const struct process *process, uint32_t signal)
{
    uint64_t handler = process->actions[signal].handler;

    return handler == HANDLER_IGNORE ||
           (handler == HANDLER_DEFAULT && signal_default_ignores(signal));
}

static bool takes(const struct thread *thread, uint32_t signal)
{
    return (~thread->signals.mask | thread->signals.wanted) & SIGNAL_BIT(signal);
}

bool signal_ignored(const struct thread *thread, uint32_t signal)
{
    uint64_t wanted = thread->signals.mask | thread->signals.wanted;

    return !(wanted & SIGNAL_BIT(signal)) && signal_action_ignores(thread->process, signal);
}

int signal_send_note(struct thread *thread, const struct signal_note *note)
{
    int error;

    signal_stop_or_continue(thread->process, note->signal);
    if (signal_ignored(thread, note->signal))
        return 0;
    error = signal_queue_add(&thread->signals.queue, note, note->code == SI_USER);
    if (!error)
        wait_interrupt(thread);
    signal_listener(note->signal);
    return error;
}

struct choice {
    uint32_t signal;
    struct thread *thread;
};

/* Prefers the first thread of the process, as Linux does. */
static void signal_choose(struct thread *thread, void *context)
{
    struct choice *c = context;

    if (takes(thread, c->signal) && (c->thread == NULL || thread->tid == thread->process->pid))
        c->thread = thread;
}

static struct thread *choose_for(const struct process *process, uint32_t signal)
{
    struct choice c = {.signal = signal};

    threads_each(process, signal_choose, &c);
    return c.thread;
}

static bool process_ignores(const struct process *process, uint32_t signal,
                            const struct thread *taker)
{
    return taker != NULL && !(taker->signals.wanted & SIGNAL_BIT(signal)) &&
           signal_action_ignores(process, signal);
}

static void signal_tell(struct thread *taker)
{
    taker->signals.told = true;
    wait_interrupt(taker);
}

/* If the default action ends the program, the running thread looks too, so that the end need not
 * wait for the chosen thread. */
static void tell_of(const struct process *process, uint32_t signal, struct thread *taker)
{
    struct thread *running = cpu_this()->thread;

    if (process->actions[signal].handler == HANDLER_DEFAULT && running != NULL &&
        running->process == process)
        running->signals.told = true;
    signal_tell(taker);
}

bool signal_process_ignored(const struct process *process, uint32_t signal)
{
    return process_ignores(process, signal, choose_for(process, signal));
}

int signal_send_process_note(struct process *process, const struct signal_note *note)
{
    struct thread *taker;
    int error;

    if (process->oldest == NULL || process->ending)
        return 0;
    signal_stop_or_continue(process, note->signal);
    taker = choose_for(process, note->signal);
    if (process_ignores(process, note->signal, taker))
        return 0;
    error = signal_queue_add(&process->signals, note, note->code == SI_USER);
    if (!error && taker != NULL)
        tell_of(process, note->signal, taker);
    signal_listener(note->signal);
    return error;
}

uint64_t signal_sender_word(const struct process *process)
{
    return process->pid | (uint64_t)PROCESS_USER_ID << 32;
}

static struct signal_note own_note(const struct process *process, uint32_t signal, int code)
{
    return (struct signal_note){
        .signal = signal, .code = code, .words = {signal_sender_word(process)}};
}

void signal_send(struct thread *thread, uint32_t signal, int code)
{
    const struct signal_note note = own_note(thread->process, signal, code);

    cross_assert_held();
    (void)signal_send_note(thread, &note);
}

bool signal_take(struct thread *thread, uint64_t set, struct signal_info *info)
{
    struct signal_queue *queue = &thread->signals.queue;
    struct signal_note note;

    if (!(queue->pending & set))
        queue = &thread->process->signals;
    set &= queue->pending;
    if (!set)
        return false;
    if (set & SIGNAL_BIT(SIGKILL))
        set = SIGNAL_BIT(SIGKILL);
    else if (set & faults)
        set &= faults;
    signal_queue_take(queue, (uint32_t)__builtin_ctzll(set) + 1, &note);
    program_timer_taken(thread->process, &note);
    *info = (struct signal_info){
        .signal = (int32_t)note.signal, .error = note.error, .code = note.code};
    memcpy(info->u.words, note.words, sizeof note.words);
    return true;
}

bool signal_deliverable(const struct thread *thread)
{
    return thread_signals_own(thread) & ~thread->signals.mask;
}

/* Tells other threads of the process's pending signals of the set. */
static void hand_on(const struct process *process, uint64_t set)
{
    set &= process->signals.pending;
    for (; set; set &= set - 1) {
        struct thread *taker = choose_for(process, (uint32_t)__builtin_ctzll(set) + 1);

        if (taker != NULL)
            signal_tell(taker);
    }
}

void signal_set_mask(struct thread *thread, uint64_t mask)
{
    uint64_t more;

    mask = signal_mask_of(mask);
    more = mask & ~thread->signals.mask;
    thread->signals.mask = mask;
    if (~mask & thread->process->signals.pending)
        thread->signals.told = true;
    if (more & thread->process->signals.pending)
        hand_on(thread->process, more);
}

static void forget_in(struct thread *thread, void *set)
{
    signal_queue_forget(&thread->signals.queue, *(const uint64_t *)set, NULL, NULL);
}

/* If a timer waits for the signal to be taken, program_timer_forgotten lets it continue. */
static void forgotten(void *process, struct signal_note *note)
{
    program_timer_forgotten(process, note);
}

static void forget_with_timers(struct thread *thread, void *set)
{
    signal_queue_forget(&thread->signals.queue, *(const uint64_t *)set, forgotten, thread->process);
}

void signal_forget(struct process *process, uint64_t set)
{
    signal_queue_forget(&process->signals, set, forgotten, process);
    threads_each(process, forget_with_timers, &set);
}

void signal_clear_handlers(struct process *process)
{
    for (uint32_t i = 1; i <= SIGNALS; i++) {
        struct signal_action *action = &process->actions[i];

        if (action->handler | action->flags | action->mask)
            *action = (struct signal_action){
                .handler = action->handler == HANDLER_IGNORE ? HANDLER_IGNORE : HANDLER_DEFAULT};
    }
}

void signal_exec(struct thread *thread)
{
    signal_clear_handlers(thread->process);
    memset(thread->signals.stack, 0, sizeof thread->signals.stack);
}

void signal_thread_ends(struct thread *thread)
{
    uint64_t all = UINT64_MAX;

    forget_in(thread, &all);
    thread->signals.mask = UINT64_MAX;
    thread->signals.wanted = 0;
    hand_on(thread->process, UINT64_MAX);
}

static void signal_end_thread(struct thread *thread, void *)
{
    static const struct signal_note note = {.signal = SIGKILL};

    if (thread == cpu_this()->thread)
        return;
    (void)signal_queue_add(&thread->signals.queue, &note, true);
    wait_interrupt(thread);
}

void signal_end_process(struct process *process, uint32_t status)
{
    if (process->ending)
        return;
    process->ending = true;
    process->status = status;
    process->stop.signal = 0;
    threads_each(process, signal_end_thread, NULL);
}

void signal_out_of_memory(void)
{
    static const struct signal_note note = {.signal = SIGKILL, .code = SI_KERNEL};
    struct thread *thread = cpu_this()->thread;
    char name[16];

    if (thread->process == &process_first)
        service_out_of_memory();
    if (thread->process->ending || thread->signals.queue.pending & SIGNAL_BIT(SIGKILL))
        return;
    threads_name(thread, name);
    log_notice("out of memory: process %u (%s) was killed; --mem gives more", thread->process->pid,
               name);
    (void)signal_queue_add(&thread->signals.queue, &note, true);
}

void signal_die(uint32_t signal)
{
    struct thread *thread = cpu_this()->thread;

    if (thread->process == &process_first)
        service_exit(HR_EXIT_SIGNAL, signal);
    signal_end_process(thread->process,
                       signal | (dumps_core & SIGNAL_BIT(signal) ? STATUS_CORE : 0));
    service_note_fault(NULL);
    threads_end(thread);
}
