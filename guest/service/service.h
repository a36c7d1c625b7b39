/* Work for the outside world: the program's input and output, the end of the run.
 * Called by system calls in thread context on a workload CPU.  In shared mode it is done inline
 * with the workload clock stopped; otherwise the service CPU does it while the caller waits.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"

struct cpu;

#define SERVICE_BYTES_MAX 65536u /* of one read or write */

/* This CPU's bounce buffer, SERVICE_BYTES_MAX bytes, physically contiguous; made at boot, because
 * the program may use up all memory before its first output. */
void service_make_buffer(struct cpu *cpu);
void *service_buffer(void);

/* Sends `bytes` bytes of service_buffer() to stdout (1) or stderr (2).  0 or -errno: -EPIPE when
 * the stream has no reader. */
int64_t service_write(int stream, size_t bytes);

/* Reads at most `bytes` bytes of stdin into service_buffer(); waits at most `patience_ms` of the
 * host's milliseconds for the first one.  Number of bytes, 0 at end of file, -EAGAIN, -EINTR when
 * the run is being stopped. */
int64_t service_read(size_t bytes, uint32_t patience_ms);

/* In shared mode a read holds up everything for so long: input that is nearly there makes no run
 * differ from another. */
#define SERVICE_PATIENCE_MS 100u

/* Whether stdin is ready: POLL* that hold, 0 when none do for `ns` of the host's nanoseconds (then
 * input_arrived is called when it is), -EINTR when the run is being stopped, in shared mode -EAGAIN
 * when something came from the network before. */
int64_t service_ask_input(uint64_t ns);

/* Sends what `fill` puts into a buffer of SERVICE_BYTES_MAX bytes to the files port, until it puts
 * nothing there.  It is called by the kernel lock's holder, off the workload clock. */
void service_files(size_t (*fill)(void *context, void *bytes), void *context);

/* The fatal fault that a signal is about to be raised for, written to the trace if it ends the
 * program; NULL: there is none now. */
struct service_fault {
    uint64_t ip;
    uint64_t address;
    uint32_t vector;
    uint32_t error;
    uint32_t signal;
};
void service_note_fault(const struct service_fault *fault);

/* Between these two the program does not run: in shared mode the workload clock stands still, and
 * otherwise the time is recorded as a gap.  Not nested. */
struct service_pause {
    struct cpu *cpu;
    uint64_t time; /* workload clock */
};
void service_pause(struct service_pause *pause);
void service_continue(const struct service_pause *pause, enum hr_gap_reason reason);

/* Ends the run when the host has asked for it. Returns otherwise. */
void service_check_stop(void);

/* Sends everything in the rings; it has left the guest when this returns.  The workload clock
 * stands still (shared mode).  Context: thread. */
void service_flush(void);

/* Shared mode: counters that count ring 0 stand still between these two, which may be nested. */
void service_hold_counters(struct cpu *cpu);
void service_release_counters(struct cpu *cpu);

/* Empties this CPU's ring into the trace now (shared mode only; interrupt or thread context). */
void service_drain(struct cpu *cpu);

/* The service CPU's loop when it is not also the workload CPU. */
void service_main(void) __attribute__((noreturn));

/* Boot CPU: ends a run whose program could not be started; error: a positive errno. */
void service_refuse(uint32_t error) __attribute__((noreturn));

/* Ends the run because the program needs memory and there is none. */
void service_out_of_memory(void) __attribute__((noreturn));

/* Another CPU ends the run: this one stops for good, its last counts in cpu->totals. */
void service_stop_here(struct cpu *cpu) __attribute__((noreturn));

/* Ends the run; kind and code as in struct hr_rec_exit.  Does not return. */
void service_exit(uint32_t kind, uint32_t code) __attribute__((noreturn));
