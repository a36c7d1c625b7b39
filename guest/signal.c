/* Delivers signals to the program's handlers and takes it back from them. */
#include "guest/signal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "guest/cross.h"
#include "guest/log.h"
#include "guest/phys.h"
#include "guest/service.h"
#include "guest/signal_frame.h"
#include "guest/syscall.h"
#include "guest/threads.h"
#include "guest/uaccess.h"
#include "include/hr_format.h"
#include "lib/bytes.h"

#define HANDLER_DEFAULT 0u
#define HANDLER_IGNORE 1u
#define ACTION_RESTORER 0x04000000u /* SA_RESTORER */
#define STACK_AUTODISARM (1u << 31)
#define STACK_BYTES_MIN 2048u
#define CONTEXT_FLAGS 7u /* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
#define FLAGS_CLEARED 0x10500u /* RF, DF, TF */
#define MXCSR_DEFAULT 0x1f80u

static const uint64_t ignored_by_default =
    SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGWINCH) | SIGNAL_BIT(SIGCONT);
static const uint64_t stops_by_default =
    SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU);

uint64_t signal_mask_of(uint64_t mask)
{
    return mask & ~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP));
}

static bool ignored(const struct thread *thread, uint32_t signal)
{
    uint64_t handler = thread->process->actions[signal].handler;

    return handler == HANDLER_IGNORE ||
           (handler == HANDLER_DEFAULT && (ignored_by_default & SIGNAL_BIT(signal)));
}

/* Has a thread on another CPU look. */
static void notify(const struct thread *thread)
{
    if (thread->cpu != cpu_this() && signal_waits_for(thread))
        cross_call(thread->cpu);
}

static void post(uint64_t *pending, int8_t *codes, uint32_t signal, int code)
{
    if (!(*pending & SIGNAL_BIT(signal)))
        codes[signal] = (int8_t)code;
    __atomic_or_fetch(pending, SIGNAL_BIT(signal), __ATOMIC_SEQ_CST);
}

void signal_send(struct thread *thread, uint32_t signal, int code)
{
    bool blocked = thread->signal_mask & SIGNAL_BIT(signal);

    if (!blocked && ignored(thread, signal))
        return;
    post(&thread->signal_pending, thread->signal_codes, signal, code);
    notify(thread);
}

struct choice {
    uint32_t signal;
    struct thread *thread;
};

static void choose(struct thread *thread, void *context)
{
    struct choice *c = context;

    if (!c->thread && (~thread->signal_mask | thread->signals_wanted) & SIGNAL_BIT(c->signal))
        c->thread = thread;
}

void signal_send_process(struct thread *sender, uint32_t signal, int code)
{
    struct process *process = sender->process;
    struct choice c = {.signal = signal};

    choose(sender, &c); /* itself, if it can */
    threads_each(choose, &c);
    if (c.thread && !(c.thread->signals_wanted & SIGNAL_BIT(signal)) && ignored(sender, signal))
        return;
    post(&process->signal_pending, process->signal_codes, signal, code);
    if (c.thread)
        notify(c.thread);
}

uint64_t signal_pending(const struct thread *thread)
{
    return __atomic_load_n(&thread->signal_pending, __ATOMIC_RELAXED) |
           __atomic_load_n(&thread->process->signal_pending, __ATOMIC_RELAXED);
}

int signal_take(struct thread *thread, uint32_t signal)
{
    struct process *process = thread->process;

    if (thread->signal_pending & SIGNAL_BIT(signal)) {
        thread->signal_pending &= ~SIGNAL_BIT(signal);
        return thread->signal_codes[signal];
    }
    process->signal_pending &= ~SIGNAL_BIT(signal);
    return process->signal_codes[signal];
}

bool signal_deliverable(const struct thread *thread)
{
    return signal_pending(thread) & ~thread->signal_mask;
}

bool signal_waits_for(const struct thread *thread)
{
    return signal_pending(thread) & (~thread->signal_mask | thread->signals_wanted);
}

static void __attribute__((noreturn)) die(uint32_t signal)
{
    if (stops_by_default & SIGNAL_BIT(signal))
        log_notice("the program stopped itself with signal %u; nothing could continue it", signal);
    service_exit(HR_EXIT_SIGNAL, signal);
}

static bool on_stack(const struct thread *thread, uint64_t sp)
{
    return !(thread->signal_stack[1] & STACK_AUTODISARM) && sp > thread->signal_stack[0] &&
           sp - thread->signal_stack[0] <= thread->signal_stack[2];
}

void signal_get_stack(const struct thread *thread, uint64_t sp, struct signal_stack *stack)
{
    uint32_t state = !thread->signal_stack[2] ? SS_DISABLE : on_stack(thread, sp) ? SS_ONSTACK : 0;

    *stack = (struct signal_stack){.address = thread->signal_stack[0],
                                   .flags = (uint32_t)thread->signal_stack[1] | state,
                                   .bytes = thread->signal_stack[2]};
}

int signal_set_stack(struct thread *thread, uint64_t sp, const struct signal_stack *stack)
{
    uint32_t mode = stack->flags & ~STACK_AUTODISARM;

    if (on_stack(thread, sp))
        return -EPERM;
    if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
        return -EINVAL;
    if (mode != SS_DISABLE && stack->bytes < STACK_BYTES_MIN)
        return -ENOMEM;
    thread->signal_stack[0] = mode == SS_DISABLE ? 0 : stack->address;
    thread->signal_stack[1] = stack->flags & STACK_AUTODISARM;
    thread->signal_stack[2] = mode == SS_DISABLE ? 0 : stack->bytes;
    return 0;
}

static void *new_area(unsigned *order)
{
    uint64_t block;

    *order = phys_order(signal_fpu_bytes() + 4ull);
    block = phys_alloc(*order);
    if (!block)
        return NULL;
    memset(phys_pointer(block), 0, (size_t)PAGE_BYTES << *order);
    return phys_pointer(block);
}

static void free_area(void *area, unsigned order)
{
    phys_free((uint64_t)area - DIRECT_MAP, order);
}

static void restore_fpu(void *area)
{
    __asm__ volatile("xrstor64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
}

/* Puts the XSAVE area at user address `to`, and the FPU into its initial state for the handler. */
static int save_fpu(uint64_t to)
{
    uint32_t bytes = signal_fpu_bytes();
    unsigned order;
    uint8_t *area = new_area(&order);
    int error;

    if (!area)
        return -ENOMEM;
    __asm__ volatile("xsave64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
    signal_frame_mark_fpu(area, bytes, signal_fpu_features());
    error = copy_to_user(to, area, bytes + 4ull);
    if (!error) {
        memset(area, 0, bytes);
        bytes_store32(area + SIGNAL_FPU_MXCSR, MXCSR_DEFAULT);
        restore_fpu(area);
    }
    free_area(area, order);
    return error;
}

static int take_fpu(uint64_t from)
{
    uint32_t bytes = signal_fpu_bytes(), mxcsr_mask;
    unsigned order;
    uint8_t *area = new_area(&order);
    int error;

    if (!area)
        return -ENOMEM;
    __asm__ volatile("fxsave64 (%0)" ::"r"(area) : "memory");
    mxcsr_mask = bytes_load32(area + SIGNAL_FPU_MXCSR + 4);
    error = copy_from_user(area, from, bytes + 4ull);
    if (!error)
        error = signal_frame_check_fpu(area, bytes, signal_fpu_features(),
                                       mxcsr_mask ? mxcsr_mask : 0xffbf);
    if (!error)
        restore_fpu(area);
    free_area(area, order);
    return error;
}

static uint64_t stack_for(const struct thread *thread, const struct signal_action *action,
                          uint64_t sp)
{
    if ((action->flags & SA_ONSTACK) && thread->signal_stack[2] && !on_stack(thread, sp))
        return thread->signal_stack[0] + thread->signal_stack[2];
    return sp;
}

/* Writes the signal frame and points *frame at the handler.  0, or the stack cannot take it. */
static int enter_handler(struct thread *thread, struct trap_frame *frame,
                         const struct signal_action *action, const struct signal_info *info,
                         uint64_t cr2)
{
    struct signal_frame image = {.return_address = action->restorer, .info = *info};
    uint64_t fpu, address;
    int error;

    address = signal_frame_place(stack_for(thread, action, frame->rsp), signal_fpu_bytes(), &fpu);
    if (!address || !(action->flags & ACTION_RESTORER) || action->handler >= USER_END)
        return -EFAULT;
    image.context.flags = CONTEXT_FLAGS;
    signal_get_stack(thread, frame->rsp, &image.context.stack);
    image.context.stack.flags &= ~(uint32_t)SS_ONSTACK;
    image.context.mask =
        thread->signal_restore_mask ? thread->signal_saved_mask : thread->signal_mask;
    signal_frame_save(&image.context.registers, frame);
    image.context.registers.old_mask = image.context.mask;
    image.context.registers.error = info->code > 0 ? frame->error : 0;
    image.context.registers.vector = info->code > 0 ? frame->vector : 0;
    image.context.registers.cr2 = cr2;
    image.context.registers.fpu = fpu;
    error = uaccess_prepare_write(address, sizeof image);
    if (!error)
        error = save_fpu(fpu);
    if (!error)
        error = copy_to_user(address, &image, sizeof image);
    if (error)
        return error;
    frame->rdi = (uint32_t)info->signal;
    frame->rsi = address + offsetof(struct signal_frame, info);
    frame->rdx = address + offsetof(struct signal_frame, context);
    frame->rax = 0;
    frame->rsp = address;
    frame->rip = action->handler;
    frame->rflags &= ~(uint64_t)FLAGS_CLEARED;
    thread->return_by_iret = true;
    return 0;
}

static void handle(struct thread *thread, struct trap_frame *frame, const struct signal_info *info,
                   uint64_t cr2)
{
    uint32_t signal = (uint32_t)info->signal;
    struct signal_action *action = &thread->process->actions[signal];

    if (action->handler == HANDLER_DEFAULT || action->handler == HANDLER_IGNORE)
        die(signal);
    int error = enter_handler(thread, frame, action, info, cr2);

    if (error == -ENOMEM)
        service_out_of_memory();
    if (error) {
        log_notice("no stack for the handler of signal %u", signal);
        die(SIGSEGV);
    }
    thread->signal_restore_mask = false;
    thread->signal_mask |= action->mask;
    if (!(action->flags & SA_NODEFER))
        thread->signal_mask |= SIGNAL_BIT(signal);
    thread->signal_mask = signal_mask_of(thread->signal_mask);
    if (action->flags & SA_RESETHAND)
        action->handler = HANDLER_DEFAULT;
    if (thread->signal_stack[1] & STACK_AUTODISARM)
        memset(thread->signal_stack, 0, sizeof thread->signal_stack);
}

void signal_deliver(struct thread *thread, struct trap_frame *frame)
{
    while (signal_deliverable(thread)) {
        uint64_t ready = signal_pending(thread) & ~thread->signal_mask;
        uint32_t signal = (uint32_t)__builtin_ctzll(ready) + 1;
        struct signal_info info = {.signal = (int32_t)signal, .code = signal_take(thread, signal)};

        if (ignored(thread, signal))
            continue;
        info.u.sender.pid = thread->process->pid;
        info.u.sender.uid = PROCESS_USER_ID;
        handle(thread, frame, &info, 0);
    }
    if (thread->signal_restore_mask) {
        thread->signal_mask = thread->signal_saved_mask;
        thread->signal_restore_mask = false;
    }
}

void signal_fault(struct thread *thread, struct trap_frame *frame, uint32_t signal, int code,
                  uint64_t address)
{
    const struct signal_info info = {.signal = (int32_t)signal, .code = code, .u.address = address};

    if (thread->signal_mask & SIGNAL_BIT(signal))
        die(signal);
    handle(thread, frame, &info, address);
}

void signal_return(struct thread *thread, struct trap_frame *frame)
{
    static bool complained;
    struct signal_context context;
    int error = copy_from_user(&context, frame->rsp, sizeof context);
    struct trap_frame registers = *frame;

    if (!error)
        error = signal_frame_restore(&context.registers, &registers);
    if (!error && context.registers.fpu)
        error = take_fpu(context.registers.fpu);
    thread->return_by_iret = true;
    if (error == -ENOMEM)
        service_out_of_memory();
    if (error) {
        if (!complained) /* a handler may well come back the same way */
            log_notice("rt_sigreturn: the signal frame at %lx is damaged", frame->rsp);
        complained = true;
        signal_fault(thread, frame, SIGSEGV, SI_KERNEL, 0);
        return;
    }
    *frame = registers;
    thread->signal_mask = signal_mask_of(context.mask);
    (void)signal_set_stack(thread, frame->rsp, &context.stack);
}
