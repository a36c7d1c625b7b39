/* The CPU that interrupts the others, with --mode ipi. */
#ifndef GUEST_SAMPLE_OBSERVER_H
#define GUEST_SAMPLE_OBSERVER_H

#include "guest/cpu/cpu.h"

/* Its life, once the program has started. */
void observer_loop(struct cpu *cpu) __attribute__((noreturn));

#endif
