/* Names shared by assembly (guest/syscall/entry.inc, boot/) and C.  Only hardware or assembly calls
 * these. */
#ifndef GUEST_CPU_ENTRY_H
#define GUEST_CPU_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"

#define ENTRY_EXCEPTIONS 22

extern const void *const entry_exceptions[ENTRY_EXCEPTIONS];
void entry_syscall(void);
void entry_timer(void);
void entry_device(void);
void entry_wake(void);
void entry_attention(void);
void entry_attend(void); /* returns in place of entry_timer, by way of trap_attention */
void entry_attend_saved(void); /* likewise of entry_timer_saved */
void entry_thread(void);
void entry_sample(void);
void entry_spurious(void);
void entry_stray(void);

/* The entries above with all registers saved; used if samples have call stacks. */
void entry_timer_saved(void);
void entry_device_saved(void);
void entry_wake_saved(void);
void entry_sample_saved(void);
void entry_nmi_saved(void);

/* Those that samples come by, with the frame pointer alone of the callee-saved registers. */
void entry_timer_framed(void);
void entry_nmi_framed(void);

/* Overflow samples with a service CPU, without call stacks and with: their short way. */
void entry_nmi_brief(void);
void entry_nmi_brief_stack(void);

/* Exceptions where there are probes or looks at pages; 2, 8 and 18 are not in the table. */
extern const void *const entry_exceptions_watched[ENTRY_EXCEPTIONS];
void entry_breakpoint(void);

/* Those that call pebs_entered first. */
extern const void *const entry_exceptions_drained[ENTRY_EXCEPTIONS];
extern const void *const entry_exceptions_watched_drained[ENTRY_EXCEPTIONS];
void entry_syscall_drained(void);
void entry_timer_drained(void);
void entry_device_drained(void);
void entry_wake_drained(void);
void entry_attention_drained(void);
void entry_sample_drained(void);
void entry_breakpoint_drained(void);
void entry_precise(void);
void entry_timer_saved_drained(void);
void entry_device_saved_drained(void);
void entry_wake_saved_drained(void);
void entry_sample_saved_drained(void);
void entry_precise_saved(void);

/* In guest/syscall/syscall.c and guest/syscall/traps.c.  An entry calls the table's function for
 * the call's number, which is in frame->rax, and then syscall_done, which puts the result there;
 * where only IRETQ restores everything, that leaves by entry_return.  From syscall_limit on, and
 * that is all with several CPUs, it calls syscall_trap instead, which does the same.  Context:
 * thread, interrupts off. */
extern int64_t (*syscall_table[])(struct thread *thread, struct trap_frame *frame);
extern uint64_t syscall_limit;
void syscall_start(void); /* context: boot */
void syscall_done(struct trap_frame *frame, int64_t result);
void syscall_trap(struct trap_frame *frame);
void entry_return(struct trap_frame *frame) __attribute__((noreturn));
void trap_exception(struct trap_frame *frame);
void trap_after(struct trap_frame *frame); /* after that of an exception that is watched */
void trap_attention(struct trap_frame *frame);
void trap_in_kernel(struct trap_frame *frame);
void trap_paranoid(struct trap_frame *frame); /* double fault, machine check */

/* trap_begin (guest/thread/schedule.c) takes a new thread to ring 3.  switch_stacks
 * (guest/cpu/switch.S) stores this stack's pointer and continues where the other stack's was
 * stored. */
void trap_begin(struct trap_frame *frame);
void switch_stacks(uint64_t *save_rsp, uint64_t load_rsp);

/* NMI handlers, in guest/sample/overflow.c.  In the kernel, GS may still be the program's. */
void overflow_nmi(struct irq_frame *frame);
void overflow_nmi_in_kernel(struct irq_frame *frame, struct cpu *cpu);

void overflow_nmi_saved(struct trap_frame *frame);
void overflow_nmi_in_kernel_saved(struct irq_frame *frame, struct cpu *cpu, uint64_t fp);

/* Interrupt handlers.  Vector and error of a trap_frame are not set.  The _in_kernel forms run when
 * the interrupt ended a halt in the kernel. */
void sampler_interrupt(struct irq_frame *frame);
void sampler_interrupt_in_kernel(struct irq_frame *frame);
void sampler_interrupt_saved(struct trap_frame *frame);
void sampler_asked(struct irq_frame *frame);
void sampler_asked_saved(struct trap_frame *frame);
void sampler_asked_in_kernel(struct irq_frame *frame);
void service_device_interrupt(struct irq_frame *frame);
void service_device_interrupt_in_kernel(struct irq_frame *frame);
void service_wake_interrupt(struct irq_frame *frame);
void service_wake_interrupt_in_kernel(struct irq_frame *frame);
void cpu_stray(struct irq_frame *frame); /* an interrupt that the kernel did not ask for */
void cpu_stray_in_kernel(struct irq_frame *frame);

/* guest/base/msr_safe.S: instructions that may fault, and where to continue then */
extern const uint8_t msr_safe_read[], msr_safe_write[], msr_safe_fault[];

/* boot/trampoline.S: code that is copied, and the data to fill in in the copy. */
struct __attribute__((packed)) trampoline_pointer {
    uint32_t address;
    uint16_t selector;
};
struct __attribute__((packed)) trampoline_data {
    uint32_t root; /* for CR3 */
    struct trampoline_pointer far_32, far_64;
    uint16_t gdt_limit;
    uint32_t gdt_address;
};
_Static_assert(sizeof(struct trampoline_data) == 22, "boot/trampoline.S");
extern const uint8_t trampoline_start[], trampoline_data[], trampoline_end[];
extern uint64_t trampoline_stack;
extern uint8_t boot_stack_top[];

#endif
