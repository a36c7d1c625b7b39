/* Exceptions and system calls: what guest/syscall/entry_*.S calls with a full register frame. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "drivers/apic/apic.h"
#include "guest/base/panic.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cross.h"
#include "guest/cpu/entry.h"
#include "guest/cpu/paravirt.h"
#include "guest/probe/probe.h"
#include "guest/sample/exact.h"
#include "guest/service/service.h"
#include "guest/service/service_asked.h"
#include "guest/signal/signal.h"
#include "guest/syscall/syscall_hr.h"
#include "guest/thread/pages.h"
#include "guest/thread/process.h"
#include "guest/thread/schedule.h"
#include "guest/vm/uaccess.h"
#include "lib/x86.h"

enum { /* SDM volume 3, "Exceptions and Interrupts" */
       VECTOR_DOUBLE_FAULT = 8,
       VECTOR_GENERAL_PROTECTION = 13,
       VECTOR_PAGE_FAULT = 14,
};
#define FAULT_TRAP_TRACE 2 /* TRAP_TRACE of Linux's siginfo */

struct fault_signal { /* what Linux raises for an exception of a program */
    uint8_t signal;
    uint8_t code;
    uint8_t address_is_ip;
};

static const struct fault_signal fault_signals[ENTRY_EXCEPTIONS] = {
    [0] = {SIGFPE, FPE_INTDIV, 1},    [1] = {SIGTRAP, FAULT_TRAP_TRACE, 1},
    [3] = {SIGTRAP, SI_KERNEL, 0},    [4] = {SIGSEGV, SI_KERNEL, 0},
    [5] = {SIGSEGV, SI_KERNEL, 0},    [6] = {SIGILL, ILL_ILLOPN, 1},
    [7] = {SIGSEGV, SI_KERNEL, 0},    [9] = {SIGFPE, SI_KERNEL, 0},
    [10] = {SIGSEGV, SI_KERNEL, 0},   [11] = {SIGBUS, SI_KERNEL, 0},
    [12] = {SIGBUS, SI_KERNEL, 0},    [13] = {SIGSEGV, SI_KERNEL, 0},
    [14] = {SIGSEGV, SEGV_MAPERR, 0}, [16] = {SIGFPE, FPE_FLTINV, 1},
    [17] = {SIGBUS, BUS_ADRALN, 0},   [19] = {SIGFPE, FPE_FLTINV, 1},
    [20] = {SIGSEGV, SI_KERNEL, 0},   [21] = {SIGSEGV, SI_KERNEL, 0},
};

/* Raises a signal for an exception in ring 3.  `status` says why vm_fault did not serve a page
 * fault. */
static void program_fault(struct cpu *cpu, struct trap_frame *frame, uint64_t address, int status)
{
    const struct fault_signal *fault = &fault_signals[frame->vector];
    int code = fault->code, signal = fault->signal;
    struct service_fault record;

    if (fault->address_is_ip)
        address = frame->rip;
    if (status == -EACCES)
        code = SEGV_ACCERR;
    if (status == -ENXIO ||
        status == -EIO) { /* after a mapped file's end; the host cannot read it */
        signal = SIGBUS;
        code = BUS_ADRERR;
    }
    record = (struct service_fault){.ip = frame->rip,
                                    .address = frame->vector == VECTOR_PAGE_FAULT ? address : 0,
                                    .vector = (uint32_t)frame->vector,
                                    .error = (uint32_t)frame->error,
                                    .signal = (uint32_t)signal};
    service_note_fault(&record);
    cpu->thread->fault_vector = frame->vector;
    cpu->thread->fault_error = frame->error;
    if (frame->vector == VECTOR_PAGE_FAULT)
        cpu->thread->fault_address = address;
    signal_fault(cpu->thread, frame, signal, code, address);
    service_note_fault(NULL); /* a handler takes it */
}

/* Delivers signals with the workload clock stopped. */
static void deliver_between(struct cpu *cpu, struct trap_frame *frame)
{
    struct thread *thread = cpu->thread;

    thread->schedule.between = true;
    signal_deliver(thread, frame);
    thread->schedule.between = false;
    schedule_return(cpu_this()); /* a thread that was stopped may be on another CPU */
}

/* Handles a request to look, from another CPU or after this one's timer. */
void trap_attention(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();

    if (frame->error != ATTENTION_BY_TIMER)
        paravirt_eoi(cpu);
    if (cpu->thread == NULL) /* calibrating: a call of turn_set() came late */
        return;
    cross_answer(cpu);
    probe_leave_copy(frame);
    exact_note(EXACT_NOTE_RESUME, frame->rip);
    cpu->activity.interruptions++; /* all but the one that ends the run */
    cross_lock(cpu);
    cpu = schedule_attend(cpu);
    service_asked_follow(cpu, clock_entered(cpu), frame->rip); /* also what came before a stop */
    service_check_stop();
    syscall_hr_follow(cpu, frame->rip);
    deliver_between(cpu, frame);
    cross_unlock();
}

static void traps_exception(struct cpu *cpu, struct trap_frame *frame)
{
    struct thread *thread = cpu->thread;
    uint64_t address = 0;
    int status = 0;

    if (frame->vector == VECTOR_PAGE_FAULT) {
        address = x86_read_cr2();
        if (thread == NULL)
            panic_frame(frame, "page fault at %lx while calibrating", address);
        status = vm_fault(cpu->space, address, frame->error);
        if (status == 0) {
            thread->use.page_faults++;
            thread->process->use.page_faults++;
            thread->fault_served = address;
            return;
        }
        if (status == -ENOMEM) {
            signal_out_of_memory();
            signal_die(SIGKILL);
        }
    }
    if (thread == NULL)
        panic_frame(frame, "exception %lu while calibrating", frame->vector);
    program_fault(cpu, frame, address, status);
}

void trap_exception(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();

    cross_lock(cpu);
    exact_exception(frame->vector, frame->error, frame->rip);
    traps_exception(cpu, frame);
    cross_unlock();
}

void trap_after(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();
    struct thread *thread = cpu->thread;
    uint64_t address = thread->fault_served;

    if (!address)
        return;
    thread->fault_served = 0;
    cross_lock(cpu);
    pages_fault(cpu, frame, address);
    probe_shown(thread->process->space, address);
    cross_unlock();
}

void trap_in_kernel(struct trap_frame *frame)
{
    if (frame->vector == VECTOR_ATTENTION) { /* in a halt: the thread that waits looks itself */
        apic_eoi();
        cross_answer(cpu_this());
        return;
    }
    if (frame->vector == VECTOR_GENERAL_PROTECTION &&
        (frame->rip == (uint64_t)msr_safe_read || frame->rip == (uint64_t)msr_safe_write)) {
        frame->rip = (uint64_t)msr_safe_fault;
        return;
    }
    panic_frame(frame, "exception %lu in the kernel, error %lx, address %lx", frame->vector,
                frame->error, x86_read_cr2());
}

void trap_paranoid(struct trap_frame *frame)
{
    panic_frame(frame, "%s, CR2 %lx",
                frame->vector == VECTOR_DOUBLE_FAULT ? "double fault" : "machine check",
                x86_read_cr2());
}

void trap_begin(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();

    schedule_begin(cpu);
    if (cpu->thread->set_child_tid)
        (void)copy_to_user(cpu->thread->set_child_tid, &cpu->tid, sizeof cpu->tid);
    deliver_between(cpu, frame);
    cross_unlock();
}
