/* The places where points are mapped, and copies of their instructions for ring 3 to execute. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/base/frame.h"
#include "guest/cpu/cpu.h"
#include "include/run_probes.h"

struct vm_space;

struct probe_place { /* a point at an address */
    uint64_t ip;
    uint64_t copy; /* address of the copy; 0: the kernel does the instruction itself */
    uint32_t
        excess; /* instructions that breakpoint and copy take more than the original, if they count
                 */
    uint32_t slot_word; /* cost_ticks, flags and kind of a hit's slot (lib/trace/trace_slot.h) that
                           enters and returns nothing */
    uint32_t what; /* HR_PROBE_* of every hit, if there is a copy */
    uint8_t spare; /* COPY_RELATIVE: the register that holds rip in the copy */
    bool plain; /* a hit is recorded and the copy executed, nothing else */
    uint32_t hits; /* with `every`: since the last sample */
    const struct run_probe_point *point;
    struct probe_place *next; /* with the same hash */
};

/* Where the program's code was hit before, by CPU: it saves looking through the mappings. */
#define PROBE_RECENT 1024u
struct probe_recent {
    uint64_t ip;
    const struct vm_space *space;
    struct probe_place *place;
};

/* Returns how many bytes of probe_alloc the functions below may take. */
uint64_t probe_copy_bytes(void);

/* Makes the range of the copies known to every address space.  Context: boot, before there is one.
 */
void probe_copy_start(void);

/* Returns the place at `ip` in the current thread's space; NULL: no probe is there.  Context:
 * exception of ring 3. */
struct probe_place *probe_place_at(struct cpu *cpu, uint64_t ip);

/* What is mapped has changed: every CPU looks again.  Context: with the kernel lock. */
void probe_forget_places(void);

/* Takes instructions off the program's clock and its count of them. */
static inline void probe_take_off(struct cpu *cpu, int64_t instructions)
{
    cpu->clock.user_ticks -= (uint64_t)instructions;
    *cpu->clock.offset += (uint64_t)instructions & cpu->clock.stop_mask;
}

/* Makes the thread execute the copy, which takes more instructions than the original: takes them
 * off its counts first. */
void probe_enter_copy(struct cpu *cpu, struct trap_frame *frame, const struct probe_place *place);

/* Handles a breakpoint at `ip` that ends a copy; returns false if it is none. */
bool probe_end_copy(struct cpu *cpu, struct trap_frame *frame, uint64_t ip);

/* Returns the register of that number (enum of include/run_probes.h) in a frame. */
uint64_t *probe_register(struct trap_frame *frame, uint8_t number);
