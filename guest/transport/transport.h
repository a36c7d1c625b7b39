/* Carries all output of the run out of the machine: one of a few transports, chosen at boot.
 * Context: the CPU that does service work, interrupts off. */
#pragma once

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
                      TRANSPORT_SERVE, /* used by the kernel lock's holder, on any CPU */
                      TRANSPORT_NETWORK, /* likewise; received by the service CPU */
                      TRANSPORT_PORTS,
};

#define TRANSPORT_NEVER UINT64_MAX

struct transport {
    const char *name;
    bool host; /* a host answers: stdin and control messages arrive */

    /* Boot: allocates all memory that the transport needs.  Returns 0, or -errno after a notice;
     * then the run ends with boot->result.end and report if it set them, otherwise with a panic. */
    int (*init)(struct boot_info *boot);
    bool (*has)(enum transport_port port);

    /* Sends all bytes, from physically contiguous memory only (kernel image or allocations);
     * returns when they may be overwritten.  Returns 0, -EIO, or -EPIPE if this port no longer has
     * a reader. */
    int (*send)(enum transport_port port, const void *bytes, size_t count);

    /* Takes up to `room` received bytes of STDIN, CONTROL, SERVE or NETWORK; returns 0 if there are
     * none. Never waits. */
    size_t (*receive)(enum transport_port port, void *out, size_t room);

    /* Returns whether a chunk of up to `bytes` of the trace can be sent.  With `samples`, it must
     * leave what is kept for other records, output and the log; without, only what the trace needs
     * to end (transport_end_bytes).  May wait for room if that costs the program nothing.  If
     * false, samples or records are dropped and counted instead of encoded (guest/trace/trace.c);
     * the trace's last chunks are sent in any case. */
    bool (*trace_room)(uint64_t bytes, bool samples);

    /* Makes progress; called in the service CPU's loop, and in shared mode at every service point.
     * Returns in how many nanoseconds it wants to be called again at the latest; 0: at once,
     * without a sleep; TRANSPORT_NEVER: no deadline. */
    uint64_t (*poll)(void);

    /* Called after the last send: waits until everything has left, or cannot, and quiets the
     * devices. Returns an enum boot_end. */
    uint32_t (*finish)(void);

    /* Called when the kernel ends in any state: stops devices from touching memory.  NULL: none
     * does. */
    void (*stop)(void);
};

/* Bytes that the trace needs to end; a transport with limited room keeps them free.  The trace sets
 * this before it starts. */
extern uint64_t transport_end_bytes;

extern const struct transport transport_virtio; /* guest/transport/transport_virtio.c */
extern const struct transport transport_memory; /* guest/transport/transport_memory.c */
extern const struct transport transport_tcp; /* guest/net/transport_tcp.c, or variants/net_off.c */

/* The one that was chosen: by boot_info.output. */
extern const struct transport *transport;
