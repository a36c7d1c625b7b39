/* The places where points are mapped, and copies of their instructions for ring 3 to execute. */
#ifndef GUEST_PROBE_PROBE_COPY_H
#define GUEST_PROBE_PROBE_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/base/frame.h"
#include "include/run_probes.h"

struct cpu;

struct probe_place { /* a point at an address */
    uint64_t ip;
    const struct run_probe_point *point;
    uint32_t number; /* of the point */
    uint32_t hits; /* with `every`: since the last sample */
    uint64_t copy; /* address of the copy; 0: the kernel does the instruction itself */
    uint8_t spare; /* COPY_RELATIVE: the register that holds rip in the copy */
    struct probe_place *next; /* with the same hash */
};

/* Returns how many bytes of probe_alloc the functions below may take. */
uint64_t probe_copy_bytes(void);

/* Makes the range of the copies known to every address space.  Context: boot, before there is one.
 */
void probe_copy_start(void);

/* Returns the place at `ip` in the current thread's space; NULL: no probe is there.  Context:
 * exception of ring 3. */
struct probe_place *probe_place_at(struct cpu *cpu, uint64_t ip);

/* What is mapped has changed: every CPU looks again. */
void probe_forget_places(void);

/* Makes the thread execute the copy, which takes more instructions than the original: takes them
 * off its counts first. */
void probe_enter_copy(struct cpu *cpu, struct trap_frame *frame, const struct probe_place *place);

/* Handles a breakpoint at `ip` that ends a copy; returns false if it is none. */
bool probe_end_copy(struct cpu *cpu, struct trap_frame *frame, uint64_t ip);

/* Returns the register of that number (enum of include/run_probes.h) in a frame. */
uint64_t *probe_register(struct trap_frame *frame, uint8_t number);

#endif
