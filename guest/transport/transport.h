/* How what the run sends leaves the machine: one of a few transports, chosen at boot.
 * Only the CPU that does service work calls these, with interrupts off.
 */
#ifndef GUEST_TRANSPORT_TRANSPORT_H
#define GUEST_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/boot_info.h"

enum transport_port { /* what they carry: include/run_ports.h */
                      TRANSPORT_TRACE,
                      TRANSPORT_STDOUT,
                      TRANSPORT_STDERR,
                      TRANSPORT_LOG,
                      TRANSPORT_FILES,
                      TRANSPORT_STDIN,
                      TRANSPORT_CONTROL,
                      TRANSPORT_PORTS,
};

#define TRANSPORT_NEVER UINT64_MAX

struct transport {
    const char *name;
    bool host; /* somebody answers: stdin and control messages go both ways */

    /* Boot: 0 or -errno after a notice; memory that it needs is allocated here.  Where it sets
     * boot->result.end and report, the run ends with that, otherwise with a panic. */
    int (*init)(struct boot_info *boot);
    bool (*has)(enum transport_port port);

    /* Sends all bytes; returns when they may be overwritten.  Physically contiguous memory only
     * (kernel image or allocations).  0, -EPIPE: nobody reads this port any more, -EIO. */
    int (*send)(enum transport_port port, const void *bytes, size_t count);

    /* Takes up to `room` received bytes of STDIN or CONTROL; 0 when there are none.  Never waits.
     */
    size_t (*receive)(enum transport_port port, void *out, size_t room);

    /* Whether a chunk of up to `bytes` of the trace can be sent.  `samples`: without touching what
     * is kept for records that are no samples, for output and for the log; false: without touching
     * what the trace needs to end (transport_end_bytes).  May wait for room where that costs the
     * program nothing.  Otherwise samples, or records, are dropped and counted instead of encoded
     * (guest/trace/trace.c); the trace's last chunks are sent whatever it says. */
    bool (*trace_room)(uint64_t bytes, bool samples);

    /* From the service CPU's loop, and in shared mode at every service point: moves things on.
     * In how many nanoseconds it wants to be called again at the latest; 0: at once, without a
     * sleep; TRANSPORT_NEVER: whenever the loop comes by. */
    uint64_t (*poll)(void);

    /* Everything was handed to send: returns when it has left, or cannot; devices are quiet then.
     * enum boot_end. */
    uint32_t (*finish)(void);

    /* The kernel ends in whatever state: devices touch no memory any more.  NULL: none does. */
    void (*stop)(void);
};

/* Bytes that the trace needs to end, which a transport with limited room keeps for it; the trace
 * says so before it starts. */
extern uint64_t transport_end_bytes;

extern const struct transport transport_virtio; /* guest/transport/transport_virtio.c */
extern const struct transport transport_memory; /* guest/transport/transport_memory.c */
extern const struct transport transport_tcp; /* guest/net/transport_tcp.c, or variants/net_off.c */

/* The one that was chosen: by boot_info.output. */
extern const struct transport *transport;

#endif
