/* Delivers signals to the program's handlers, and returns from them. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "guest/base/log.h"
#include "guest/memory/phys.h"
#include "guest/service/service.h"
#include "guest/signal/signal.h"
#include "guest/signal/signal_frame.h"
#include "guest/signal/syscall_restart.h"
#include "guest/thread/threads_end.h"
#include "guest/vm/uaccess.h"
#include "lib/bytes.h"

#define STACK_AUTODISARM (1u << 31)
#define STACK_BYTES_MIN 2048u
#define CONTEXT_FLAGS 7u /* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
#define FLAGS_CLEARED 0x10500u /* RF, DF, TF */
#define MXCSR_DEFAULT 0x1f80u
#define SYSCALL_BYTES 2u /* of the instruction */

static bool on_stack(const struct thread *thread, uint64_t sp)
{
    return !(thread->signals.stack[1] & STACK_AUTODISARM) && sp > thread->signals.stack[0] &&
           sp - thread->signals.stack[0] <= thread->signals.stack[2];
}

void signal_get_stack(const struct thread *thread, uint64_t sp, struct signal_stack *stack)
{
    uint32_t state = !thread->signals.stack[2] ? SS_DISABLE : on_stack(thread, sp) ? SS_ONSTACK : 0;

    *stack = (struct signal_stack){.address = thread->signals.stack[0],
                                   .flags = (uint32_t)thread->signals.stack[1] | state,
                                   .bytes = thread->signals.stack[2]};
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
    thread->signals.stack[0] = mode == SS_DISABLE ? 0 : stack->address;
    thread->signals.stack[1] = stack->flags & STACK_AUTODISARM;
    thread->signals.stack[2] = mode == SS_DISABLE ? 0 : stack->bytes;
    return 0;
}

static void *new_area(unsigned *order)
{
    uint64_t block;

    *order = phys_order(fpu_area_bytes() + 4ull);
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

/* Writes the XSAVE area to user address `to`, and resets the FPU for the handler. */
static int save_fpu(uint64_t to)
{
    uint32_t bytes = fpu_area_bytes();
    unsigned order;
    uint8_t *area = new_area(&order);
    int error;

    if (area == NULL)
        return -ENOMEM;
    __asm__ volatile("xsave64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
    signal_frame_mark_fpu(area, bytes, fpu_features());
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
    uint32_t bytes = fpu_area_bytes(), mxcsr_mask;
    unsigned order;
    uint8_t *area = new_area(&order);
    int error;

    if (area == NULL)
        return -ENOMEM;
    __asm__ volatile("fxsave64 (%0)" ::"r"(area) : "memory");
    mxcsr_mask = bytes_load32(area + SIGNAL_FPU_MXCSR + 4);
    error = copy_from_user(area, from, bytes + 4ull);
    if (!error)
        error =
            signal_frame_check_fpu(area, bytes, fpu_features(), mxcsr_mask ? mxcsr_mask : 0xffbf);
    if (!error)
        restore_fpu(area);
    free_area(area, order);
    return error;
}

static uint64_t stack_for(const struct thread *thread, const struct signal_action *action,
                          uint64_t sp)
{
    if ((action->flags & SA_ONSTACK) && thread->signals.stack[2] && !on_stack(thread, sp))
        return thread->signals.stack[0] + thread->signals.stack[2];
    return sp;
}

/* Writes the signal frame and points *frame at the handler.  Returns 0, or an error if the stack
 * cannot take the frame. */
static int enter_handler(struct thread *thread, struct trap_frame *frame,
                         const struct signal_action *action, const struct signal_info *info)
{
    struct signal_frame image = {.return_address = action->restorer, .info = *info};
    uint64_t fpu, address;
    int error;

    uint64_t sp = stack_for(thread, action, frame->rsp);

    address = signal_frame_place(sp, fpu_area_bytes(), &fpu);
    if (!address || !(action->flags & ACTION_RESTORER) || action->handler >= USER_END ||
        (on_stack(thread, sp) && !on_stack(thread, address)))
        return -EFAULT;
    image.context.flags = CONTEXT_FLAGS;
    signal_get_stack(thread, frame->rsp, &image.context.stack);
    image.context.stack.flags &= ~(uint32_t)SS_ONSTACK;
    image.context.mask =
        thread->after_call.restore_mask ? thread->signals.saved_mask : thread->signals.mask;
    signal_frame_save(&image.context.registers, frame);
    image.context.registers.old_mask = image.context.mask;
    image.context.registers.error = thread->fault_error;
    image.context.registers.vector = thread->fault_vector;
    image.context.registers.cr2 = thread->fault_address;
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
    thread->after_call.return_by_iret = true;
    return 0;
}

/* Handles a stack that cannot take the frame: that is a fault of its own, and its handler may have
 * another stack. */
static void no_stack(struct thread *thread, struct trap_frame *frame, uint32_t signal)
{
    log_notice("no stack for the handler of signal %u", signal);
    if (signal == SIGSEGV)
        signal_die(SIGSEGV);
    signal_fault(thread, frame, SIGSEGV, SI_KERNEL, 0);
}

static void signal_handle(struct thread *thread, struct trap_frame *frame,
                          const struct signal_info *info)
{
    uint32_t signal = (uint32_t)info->signal;
    struct signal_action *action = &thread->process->actions[signal];
    int error;

    if (action->handler == HANDLER_DEFAULT || action->handler == HANDLER_IGNORE)
        signal_die(signal);
    error = enter_handler(thread, frame, action, info);
    if (error == -ENOMEM) {
        signal_out_of_memory();
        signal_die(SIGKILL);
    }
    if (error) {
        no_stack(thread, frame, signal);
        return;
    }
    thread->after_call.restore_mask = false;
    signal_set_mask(thread, thread->signals.mask | action->mask |
                                (action->flags & SA_NODEFER ? 0 : SIGNAL_BIT(signal)));
    if (action->flags & SA_RESETHAND)
        action->handler = HANDLER_DEFAULT;
    if (thread->signals.stack[1] & STACK_AUTODISARM)
        memset(thread->signals.stack, 0, sizeof thread->signals.stack);
}

/* Restarts the system call that a signal interrupted, with the same arguments, if no handler runs,
 * or if the handler and the call allow it. */
static void signal_restart(struct thread *thread, struct trap_frame *frame)
{
    frame->rax = thread->signals.interrupted - 1;
    frame->rip -= SYSCALL_BYTES;
    thread->signals.interrupted = 0;
}

static void deliver_one(struct thread *thread, struct trap_frame *frame,
                        const struct signal_info *info)
{
    const struct signal_action *action = &thread->process->actions[info->signal];

    if (thread->signals.interrupted && action->flags & SA_RESTART &&
        syscall_restarts(thread->signals.interrupted - 1, frame))
        signal_restart(thread, frame);
    thread->signals.interrupted = 0;
    thread->wait.restart_until = 0;
    signal_handle(thread, frame, info);
}

void signal_deliver(struct thread *thread, struct trap_frame *frame)
{
    bool looks = signal_deliverable(thread);
    struct signal_info info;

    if (threads_ends(thread))
        threads_end(thread);
    while (looks && signal_take(thread, ~thread->signals.mask, &info)) {
        uint64_t handler = thread->process->actions[info.signal].handler;

        if (handler == HANDLER_IGNORE ||
            (handler == HANDLER_DEFAULT && signal_default_ignores((uint32_t)info.signal)))
            continue;
        if (handler == HANDLER_DEFAULT && signal_default_stops((uint32_t)info.signal))
            signal_stop(thread, (uint32_t)info.signal);
        else
            deliver_one(thread, frame, &info);
    }
    thread->signals.told = false;
    if (thread->signals.interrupted)
        signal_restart(thread, frame);
    if (thread->after_call.restore_mask) {
        thread->after_call.restore_mask = false;
        signal_set_mask(thread, thread->signals.saved_mask);
        if (signal_deliverable(thread))
            signal_deliver(thread, frame);
    }
}

void signal_fault(struct thread *thread, struct trap_frame *frame, uint32_t signal, int code,
                  uint64_t address)
{
    const struct signal_info info = {.signal = (int32_t)signal, .code = code, .u.address = address};

    if (threads_ends(thread))
        threads_end(thread);
    if (thread->signals.mask & SIGNAL_BIT(signal))
        signal_die(signal);
    signal_handle(thread, frame, &info);
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
    thread->after_call.return_by_iret = true;
    if (error == -ENOMEM) {
        signal_out_of_memory();
        signal_die(SIGKILL);
    }
    if (error) {
        if (!complained) /* the handler may return the same way again and again */
            log_notice("rt_sigreturn: the signal frame at %lx is damaged", frame->rsp);
        complained = true;
        signal_fault(thread, frame, SIGSEGV, SI_KERNEL, 0);
        return;
    }
    *frame = registers;
    signal_set_mask(thread, context.mask);
    (void)signal_set_stack(thread, frame->rsp, &context.stack);
}
