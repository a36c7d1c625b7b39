/* One CPU's state, and the register frame of an entry into the kernel.
 * Assembly reads these by the offsets asserted below (guest/cpu/cpu_offsets.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/clock/tsc_adjust.h"
#include "guest/base/frame.h"
#include "guest/base/layout.h"
#include "guest/cpu/cpu_offsets.h"
#include "include/hr_format.h"

#define CPU_NEVER (1ull << 62) /* a time that never comes */
#define CPUS_MAX 66 /* 64 that run the program, one for service, one that interrupts */

struct thread;
struct vm_space;
struct timer;
struct ring;
struct pebs;

struct overflow_rate { /* of the first event, over the last samples: guest/sample/overflow_period.c
                        */
    uint64_t counted;
    uint64_t ticks;
};

struct share { /* guest/sample/share.h */
    uint64_t
        seen_ticks; /* what the kernel sees of a sample's cost: a high value of the last ones */
    uint64_t last_ticks; /* what the kernel saw of the last sample's cost */
    uint64_t late_ticks; /* from when the last sample was due to the kernel's entry */
    uint64_t returned; /* TSC at the end of the last sample's handler */
    uint64_t
        not_before; /* TSC, or workload clock in shared mode: no grid point before it; atomic */
    uint64_t due; /* trigger.next_due when the timer was armed */
    uint64_t skipped; /* grid points skipped; atomic */
    uint64_t skipped_last; /* workload clock of the last of them */
};

struct steal_time { /* as the hypervisor writes it; Linux, struct kvm_steal_time */
    uint64_t ns;
    uint32_t version;
    uint32_t flags;
    uint8_t preempted;
    uint8_t reserved[47];
};
_Static_assert(sizeof(struct steal_time) == 64, "steal_time");

struct cpu_clock { /* guest/cpu/clock.h; assembly reads and writes it */
    uint64_t enter_ticks; /* at the last entry from ring 3, entry code taken off */
    uint64_t exit_ticks; /* at the last return to ring 3, exit code added */
    uint64_t user_ticks; /* spent in ring 3 up to enter_ticks */
    uint64_t *offset; /* workload clock = TSC - *offset */
    uint64_t stop_mask; /* ~0 in shared mode: sampling stops the clock; otherwise 0 */
    uint64_t stopped_at; /* TSC at which the workload clock stopped; 0: it runs.  Shared mode */
    uint64_t no_offset; /* what `offset` points to, unless in shared mode */
};

struct cpu_paravirt { /* guest/cpu/paravirt.h */
    uint32_t eoi_word; /* bit 0: clearing it counts as an EOI for the hypervisor */
    const volatile struct steal_time *steal; /* NULL: not known */
    uint64_t steal_start; /* its ns when the program started */
    uint64_t steal_seen; /* its ns at the last look */
};

struct cpu_cross { /* several workload CPUs: guest/cpu/cross.h */
    bool running; /* its thread is not waiting, so it may be sampled; atomic */
    bool stopped; /* for good: totals are valid; atomic */
    uint64_t flushed; /* the last cross_flush that this CPU has answered; atomic */
};

/* The page of the program where a call stack began last: guest/sample/stack_walk.h.  The place of a
 * frame in it is its address in words plus minus_end: from the page's last word on, so negative.
 * It is above the floor, as an unsigned number, and a place that is not in the page is not. */
struct cpu_frames {
    uint64_t floor; /* or CPU_NO_PAGE: the page is not known, or no longer */
    uint64_t minus_end; /* 0 less the address of the last word there, in words */
    uint64_t end; /* the kernel's address of that word */
};
#define CPU_NO_PAGE UINT64_MAX
#define CPU_PAGE_FLOOR (0 - 512ull)

struct cpu_ask { /* VECTOR_SAMPLE is on its way: guest/sample/sampler_asked.c */
    bool polled; /* at the program's request; atomic */
    uint64_t due; /* for this grid point; 0: for none; atomic */
};

struct cpu_trigger { /* guest/sample/sampler.h */
    uint64_t next_due; /* workload clock of the next timer sample */
    uint64_t attention_due; /* when the timer raises VECTOR_ATTENTION; or CPU_NEVER */
    uint64_t repeats_at; /* TSC of its next interrupt in periodic mode; otherwise 0 */
    bool paused; /* sampler_pause */
    bool timer_missed; /* since it was armed, the timer fired during a halt in the kernel */
    uint32_t counters_wait; /* samples until counters are read again: --counters-every */
};

struct cpu_overflow { /* guest/sample/overflow.h */
    uint64_t period; /* the first event's counter was last set to minus this */
    uint64_t kept_period; /* while sampling is paused: the period to continue with; otherwise 0 */
    uint64_t base; /* what the first event counted until it was last set */
    uint64_t counted; /* of that, with the last sample */
    uint64_t time; /* workload clock of the last overflow */
    uint64_t latest; /* workload clock of the last sample, polls included: none comes before it */
    uint64_t samples; /* overflows seen */
    struct overflow_rate rate; /* when the period adapts */
    uint64_t nmi_spurious;
    uint64_t nmi_unknown;
    bool alike; /* nothing that the run asks for makes one sample unlike the others */
    enum overflow_way {
        OVERFLOW_LONG,
        OVERFLOW_PLAIN,
        OVERFLOW_BARE
    } way; /* of a sample in ring 3: guest/sample/overflow.c */
};

/* What entry_nmi_brief knows (guest/syscall/entry_overflow.S), from the last sample that did not
 * come by it: guest/sample/overflow_way.c. */
struct cpu_brief {
    uint64_t room; /* slots of the ring before this position may be filled; 0: none */
    uint64_t mask; /* of the ring's positions */
    uint64_t slot_bytes;
    uint64_t counters; /* address of those in the ring's first slot */
    uint64_t stack; /* from a slot's counters to its stack, plus STACK_HEAD */
    uint64_t share_factor; /* sampling.share_factor */
    void (*reader)(void); /* sampling.reader_others */
    volatile uint32_t *unmask; /* takes APIC_LVT_NMI; NULL: the MSR does */
    uint32_t masked; /* or this, where nothing is to be unmasked */
};

struct cpu_schedule { /* guest/thread/schedule.h, guest/thread/timer.h */
    uint64_t idle_rsp; /* idle_loop's stack while a thread runs */
    struct thread *assigned; /* waits to run here, and on no other CPU */
    struct thread *dead; /* ended here; freed once this CPU has left its stack */
    uint64_t slice_end; /* workload clock at which another thread has its turn; or CPU_NEVER */
    uint64_t flush_due; /* workload clock; or CPU_NEVER: guest/thread/translations.h */
    struct timer *timers; /* in the order of due */
    bool expiring; /* a timer acts now, not the thread */
    uint64_t idle_since; /* workload clock */
    uint32_t idle_tid; /* the last thread before that */
    uint32_t idle_reason; /* enum hr_gap_reason */
};

struct cpu {
    struct cpu *self; /* at %gs:0 */
    uint64_t kernel_stack_top; /* of the current thread; for system calls (the TSS has its own) */
    uint64_t user_rsp; /* scratch for system call entry */
    struct thread *thread; /* runs here; NULL: none, as on the service CPU; atomic */
    struct cpu_clock clock;
    uint64_t leave_rsp; /* where user_leave() continues */
    struct cpu_frames frames;
    struct cpu_brief brief;
    uint32_t index; /* 0 is the boot CPU */
    uint32_t apic_id;
    uint64_t apic_found; /* IA32_APIC_BASE before it was set up */
    struct tsc_adjust tsc_adjust;
    bool halted; /* by cpu_stop_others, until it is started again; atomic */
    uint32_t tid; /* of the current thread; 0: none */
    struct vm_space *space; /* in CR3; NULL: the kernel's own tables; guest/vm/vm.h */
    struct ring *ring; /* this CPU's sampling ring; NULL on a pure service CPU */
    struct share share;
    struct cpu_overflow overflow;
    struct cpu_paravirt paravirt;
    struct cpu_trigger trigger;
    struct cpu_ask ask;
    struct cpu_schedule schedule;
    struct cpu_cross cross;
    struct hr_rec_activity activity; /* for the trace's end */
    uint64_t totals[HR_EVENTS_MAX]; /* the last reading of every event */
    struct pebs *pebs; /* guest/sample/pebs.h; NULL: there is no precise sampling */
    uint8_t held; /* calls of service_hold_counters not yet undone by service_release_counters */
    struct probe_recent *probe_recent; /* guest/probe/probe_copy.h; NULL: nothing was hit */
    uint8_t *buffer; /* SERVICE_BYTES_MAX bytes for requests: guest/service/service.h */
    uint32_t tss[32]; /* hardware layout, see guest/cpu/cpu.c */
    uint64_t gdt[8];
};
#define CPU_FIELD_AT(field, offset) _Static_assert(offsetof(struct cpu, field) == (offset), #offset)
CPU_FIELD_AT(kernel_stack_top, CPU_KERNEL_STACK);
CPU_FIELD_AT(user_rsp, CPU_USER_RSP);
CPU_FIELD_AT(thread, CPU_THREAD);
CPU_FIELD_AT(clock.enter_ticks, CPU_ENTER_TICKS);
CPU_FIELD_AT(clock.exit_ticks, CPU_EXIT_TICKS);
CPU_FIELD_AT(clock.user_ticks, CPU_USER_TICKS);
CPU_FIELD_AT(clock.offset, CPU_CLOCK_OFFSET);
CPU_FIELD_AT(clock.stop_mask, CPU_STOP_MASK);
CPU_FIELD_AT(clock.stopped_at, CPU_STOPPED_AT);
CPU_FIELD_AT(leave_rsp, CPU_LEAVE_RSP);
CPU_FIELD_AT(frames.floor, CPU_FRAMES_FLOOR);
CPU_FIELD_AT(frames.minus_end, CPU_FRAMES_MINUS_END);
CPU_FIELD_AT(frames.end, CPU_FRAMES_END);
CPU_FIELD_AT(brief.room, CPU_BRIEF_ROOM);
CPU_FIELD_AT(brief.mask, CPU_BRIEF_MASK);
CPU_FIELD_AT(brief.slot_bytes, CPU_BRIEF_SLOT_BYTES);
CPU_FIELD_AT(brief.counters, CPU_BRIEF_COUNTERS);
CPU_FIELD_AT(brief.stack, CPU_BRIEF_STACK);
CPU_FIELD_AT(brief.share_factor, CPU_BRIEF_SHARE_FACTOR);
CPU_FIELD_AT(brief.reader, CPU_BRIEF_READER);
CPU_FIELD_AT(brief.unmask, CPU_BRIEF_UNMASK);
CPU_FIELD_AT(tid, CPU_TID);
CPU_FIELD_AT(ring, CPU_RING);
CPU_FIELD_AT(share.seen_ticks, CPU_SHARE_SEEN);
CPU_FIELD_AT(share.returned, CPU_SHARE_RETURNED);
CPU_FIELD_AT(overflow.period, CPU_PERIOD);
CPU_FIELD_AT(overflow.base, CPU_BASE);
CPU_FIELD_AT(overflow.samples, CPU_SAMPLES);
CPU_FIELD_AT(paravirt.steal, CPU_STEAL);
CPU_FIELD_AT(paravirt.steal_seen, CPU_STEAL_SEEN);

extern struct cpu cpus[CPUS_MAX];
extern uint32_t cpu_count; /* CPUs that run, service CPU included */
extern void (*const cpu_attend[2])(void); /* returns to trap_attention: [all registers are saved] */
extern bool cpu_nmi_samples; /* an NMI may be a counter's overflow, which is a sample */

/* Loads GDT, TSS, IDT, GS base, control registers and system call MSRs of the calling CPU. */
void cpu_setup(uint32_t index);

/* From now on interrupts and NMIs use the entries that save all registers, on every CPU; `framed`:
 * those that samples come by save of the callee-saved ones the frame pointer alone. */
void cpu_save_all(bool framed);

/* From now on NMIs use the entries that take overflow samples with a service CPU by a short way,
 * on every CPU; `stacks`: with call stacks, after cpu_save_all(true). */
void cpu_sample_briefly(bool stacks);

/* From now on exceptions of ring 3 use the entries that probes need (guest/probe/probe.h). */
void cpu_watch_exceptions(void);

/* From now on every entry from ring 3 calls pebs_entered first (guest/sample/pebs.h), on every CPU,
 * but for system calls: cpu_empty_at_calls has the calling CPU's do so, too. */
void cpu_empty_first(void);
void cpu_empty_at_calls(void);

/* From now on an interrupt of any vector gets its EOI and is otherwise ignored. */
void cpu_ignore_interrupts(void);

/* Starts the other CPUs named by the MADT, at most `wanted` of them; each runs `entry` on its own
 * stack and must not return.  Returns the number of CPUs running, this one included.  Of a hybrid
 * processor only CPUs of the boot CPU's kind are used: events were encoded for it.  If the firmware
 * has set the TSCs of CPUs of one package apart, makes them agree. */
struct acpi_machine;
uint32_t cpu_start_others(const struct acpi_machine *machine, uint32_t wanted,
                          void (*entry)(struct cpu *cpu));
void cpu_secondary_main(void) __attribute__((noreturn)); /* from the trampoline */

/* Stops all other CPUs when the run is over; called on CPU 0 in any context.  Those that answer an
 * NMI first put counters, clock and local APIC back to the firmware's state; all end up waiting for
 * STARTUP, as after a reset.  cpu_stop_asked is called by the NMI handler and does not return if
 * this CPU is being stopped. */
void cpu_stop_others(void);
void cpu_stop_asked(struct cpu *cpu);

/* Sets the current thread's kernel stack for entries from ring 3. */
void cpu_set_kernel_stack(struct cpu *cpu, uint64_t top);

/* Enters ring 3 with the frame's registers.  Returns when something calls user_leave() on this CPU
 * from a kernel entry on another stack.
 */
void user_enter(const struct trap_frame *frame);
void user_leave(void) __attribute__((noreturn));

static inline struct cpu *cpu_this(void)
{
    struct cpu *cpu;
    __asm__ volatile("mov %%gs:0, %0" : "=r"(cpu)); /* a thread that waited may be on another */
    return cpu;
}
