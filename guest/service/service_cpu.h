/* The service side: ports, requests, the end of the run.  Runs on the service CPU, or inline on the
 * one CPU there is (shared mode); interrupts off.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "include/hr_format.h"

enum service_operation {
    SERVICE_WRITE = 1, /* a: stream, b: bytes of cpu->buffer; result: the first's offset in it */
    SERVICE_READ = 2, /* a: most bytes, b: milliseconds; result: bytes in cpu->buffer */
    SERVICE_EXIT = 3, /* a: const struct hr_rec_exit * */
    SERVICE_FLUSH = 4, /* sends what the rings hold */
    SERVICE_FILES = 6, /* a: bytes of cpu->buffer for the files port */
    SERVICE_ASK_INPUT = 5, /* a: nanoseconds; result: POLL* of stdin */
};

/* Does it here and now, for `cpu`. */
int64_t service_cpu_perform(struct cpu *cpu, enum service_operation operation, uint64_t a,
                            uint64_t b);

/* Has the service CPU do it and waits.  Called on a workload CPU; gives the kernel lock away while
 * it waits. */
int64_t service_cpu_request(struct cpu *cpu, enum service_operation operation, uint64_t a,
                            uint64_t b);

/* One or the other: service_cpu_perform in shared mode, else service_cpu_request. */
int64_t service_call(struct cpu *cpu, enum service_operation operation, uint64_t a, uint64_t b);

/* Boot: asks the host to encode sampling.session's events for this CPU.  0, -EINTR when the run is
 * being stopped, -EINVAL when the host did not answer for every event. */
int service_encode_events(void);

/* A message to the host, which there is. */
void service_cpu_tell(uint32_t type, uint32_t flag, uint64_t value);

/* The program is to end as if by this signal; HR_EXIT_TIMEOUT, or HR_EXIT_SIGNAL. */
void service_cpu_stop(uint64_t signal, bool timeout);

/* Service CPU: no workload CPU ends the run.  Sends what the trace holds, and CPU 0 leaves. */
void service_cpu_abandon(void) __attribute__((noreturn));

/* Waits for an interrupt in the middle of service work, and does other work until then. */
void service_cpu_wait(void);

/* Service CPU: empties the rings, whatever else it waits for. */
void service_cpu_relieve(void);

/* Sends the log, takes messages from the host, moves the transport on.  In how many nanoseconds
 * that is due again at the latest; TRANSPORT_NEVER.
 */
uint64_t service_cpu_poll(void);

/* What the observer of instrumented programs does on the service CPU; set at boot if there is one.
 */
struct service_calls {
    bool (*scan)(void); /* looks at the program's calls; returns whether there is more to see */
    bool (*drain)(bool flush); /* empties its ring into the trace; returns if it held anything */
    void (*finish)(void); /* the program has ended */
};
extern struct service_calls service_calls;

/* What the tree of files does when the run ends; set at boot. */
struct service_files_end {
    /* Sends what is left by way of `buffer`, SERVICE_BYTES_MAX bytes; NULL: there was no program.
     */
    void (*send)(void *buffer, void (*send)(const void *bytes, size_t count));
    void (*names)(void); /* puts files with names of code into the trace, before its end */
    void (*log)(void); /* names files for the host, which makes a line for the user of it */
};
extern struct service_files_end service_files_end;
