/* The service side: ports, requests, the end of the run.  Runs on the service CPU, or inline on the
 * one CPU there is (shared mode); interrupts off.
 */
#ifndef GUEST_SERVICE_CPU_H
#define GUEST_SERVICE_CPU_H

#include <stdint.h>

#include "guest/cpu.h"
#include "include/hr_format.h"

enum service_operation {
    SERVICE_WRITE = 1, /* a: stream, b: bytes of service_buffer() */
    SERVICE_READ = 2, /* a: most bytes; result: bytes in service_buffer() */
    SERVICE_EXIT = 3, /* a: struct service_end * */
    SERVICE_FLUSH = 4, /* sends what the rings hold */
};

struct service_end {
    struct hr_rec_exit record;
    uint64_t totals[HR_EVENTS_MAX];
};

/* Does it here and now. */
int64_t service_cpu_perform(enum service_operation operation, uint64_t a, uint64_t b);

/* Has the service CPU do it and waits; called on a workload CPU. */
int64_t service_cpu_request(struct cpu *cpu, enum service_operation operation, uint64_t a,
                            uint64_t b);

/* Boot: asks the host to encode run.session's events for this CPU.  0, -EINTR when the run is being
 * stopped, -EINVAL when the host did not answer for every event. */
int service_encode_events(void);

/* Sends the log, takes messages from the host. */
void service_cpu_poll(void);

#endif
