/* Calls of the program's allocator (hr run --alloc): a hit for each outermost one. */
#pragma once

struct cpu;
struct probe_place;
struct trap_frame;

/* A point with RUN_PROBE_HEAP is reached.  Context: exception of ring 3. */
void probe_heap_note(struct cpu *cpu, const struct probe_place *place,
                     const struct trap_frame *frame);
