/* Turns ring contents into chunks and sends them.  Context: service, except where noted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "include/hr_format.h"

/* Called before all other functions of this header, once the events are known.  A thread that needs
 * room in the queue of notes calls `flush`, which returns when the trace has taken the queued
 * ones. */
void trace_init(void (*flush)(void));

extern void (*trace_flush)(void);

/* Adds a workload CPU's ring to the trace.  Called on the boot CPU, or while no other CPU allocates
 * memory. */
struct ring;
void trace_add_ring(struct ring *ring);

/* Makes events that are registers count from now on.  Called on a workload CPU before its first
 * sample. */
void trace_registers_start(const struct cpu *cpu);

/* Notes executable memory of a program that is loaded, and which shows a file: at boot for the META
 * chunk of trace_start, later until trace_process_exec (guest/trace/trace_process.h).  build_id may
 * be NULL.  Context: boot, or a thread with the kernel lock. */
void trace_map(uint64_t start, uint64_t end, uint64_t file_offset, uint32_t flags,
               const uint8_t *build_id, uint16_t build_id_bytes, const char *path);

/* Forgets what this thread has noted since: call it before a program is loaded. */
void trace_map_forget(void);

/* trace_map for the kernel's own text. */
void trace_map_kernel(void);

/* Sends the file header and the META chunk. */
void trace_start(void);

/* Empties a CPU's ring into chunks; sends those that are full, and with `flush` the last one too.
 * Returns true if there was anything in the ring. */
bool trace_drain(struct ring *ring, bool flush);

/* Adds a record to META chunks of their own, which trace_send_meta ends.  Returns false if what
 * keeps the trace has no room.  Nothing else of this header may run in between. */
bool trace_add_meta(uint8_t type, const void *body, uint32_t bytes, const void *tail,
                    uint32_t tail_bytes);
void trace_send_meta(void);

/* Sends what is left and the END chunk.  cpus[].totals must hold the last reading of every event.
 */
void trace_end(const struct hr_rec_exit *exit_record);
