/* The observer: with --mode ipi, the CPU that interrupts the others. */
#ifndef GUEST_SAMPLE_OBSERVER_H
#define GUEST_SAMPLE_OBSERVER_H

#include "guest/cpu/cpu.h"

/* Runs the observer once the program has started. */
void observer_loop(struct cpu *cpu) __attribute__((noreturn));

#endif
