/* Turns ring contents into chunks and sends them: service context only, except where noted. */
#ifndef GUEST_TRACE_TRACE_H
#define GUEST_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "include/hr_format.h"

/* Before anything else of this header, with the events known.  `flush` is called by a thread that
 * needs room in the queue of load maps: it returns when the trace has taken what is there. */
struct vm_space;
void trace_init(struct vm_space *space, void (*flush)(void));

extern struct vm_space *trace_space; /* the program's */
extern void (*trace_flush)(void);

/* A workload CPU's ring joins the trace.  Boot CPU, or none other allocates memory. */
struct ring;
void trace_add_ring(struct ring *ring);

/* On a workload CPU, before its first sample: events that are registers count from now on. */
void trace_registers_start(const struct cpu *cpu);

/* Executable memory that shows a file: goes into the META chunk of trace_start, and one of its own
 * when the program runs already.  build_id may be NULL.  Boot, or a thread, which may wait. */
void trace_map(uint64_t start, uint64_t end, uint64_t file_offset, uint32_t flags,
               const uint8_t *build_id, uint16_t build_id_bytes, const char *path);

/* The same of the kernel's own text. */
void trace_map_kernel(void);

/* Sends the file header and the META chunk. */
void trace_start(void);

/* Empties a CPU's ring into chunks; sends those that are full, and the last one when `flush`.
 * True when there was anything in the ring. */
bool trace_drain(struct ring *ring, bool flush);

/* Sends what is left and the END chunk.  cpus[].totals: the last reading of every event. */
void trace_end(const struct hr_rec_exit *exit_record);

#endif
