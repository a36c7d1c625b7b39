/* Under an emulator or a hypervisor: each port is a port of virtio-serial, which waits. */

#include "drivers/apic/apic.h"
#include "drivers/virtio/serial.h"
#include "guest/base/log.h"
#include "guest/cpu/entry.h"
#include "guest/transport/transport.h"
#include "include/run_network.h"
#include "include/run_ports.h"
#include "include/run_serve.h"

static const char *const names[TRANSPORT_PORTS] = {
    [TRANSPORT_TRACE] = RUN_PORT_TRACE,     [TRANSPORT_STDOUT] = RUN_PORT_STDOUT,
    [TRANSPORT_STDERR] = RUN_PORT_STDERR,   [TRANSPORT_LOG] = RUN_PORT_LOG,
    [TRANSPORT_FILES] = RUN_PORT_FILES,     [TRANSPORT_STDIN] = RUN_PORT_STDIN,
    [TRANSPORT_CONTROL] = RUN_PORT_CONTROL, [TRANSPORT_SERVE] = RUN_PORT_SERVE,
    [TRANSPORT_NETWORK] = RUN_PORT_NETWORK,
};

static int ports[TRANSPORT_PORTS]; /* negative: the host does not offer it */

static bool only_if_asked_for(enum transport_port port)
{
    return port == TRANSPORT_FILES || port == TRANSPORT_SERVE || port == TRANSPORT_NETWORK;
}

static int transport_virtio_init(struct boot_info *)
{
    int status = serial_init(VECTOR_DEVICE, apic_id());

    if (status)
        return status;
    for (int i = 0; i < TRANSPORT_PORTS; i++) {
        ports[i] = serial_find(names[i]);
        if (ports[i] < 0 && !only_if_asked_for((enum transport_port)i))
            panic("the host offers no port %s", names[i]);
    }
    /* memory for what they receive now: later workload CPUs allocate, under a lock that service
     * work does not take */
    serial_receive(ports[TRANSPORT_STDIN], NULL, 0);
    serial_receive(ports[TRANSPORT_CONTROL], NULL, 0);
    serial_receive(ports[TRANSPORT_SERVE], NULL, 0);
    serial_receive(ports[TRANSPORT_NETWORK], NULL, 0);
    serial_detach(ports[TRANSPORT_SERVE]);
    serial_detach(ports[TRANSPORT_NETWORK]);
    return 0;
}

static bool transport_virtio_has(enum transport_port port)
{
    return ports[port] >= 0;
}

static int transport_virtio_send(enum transport_port port, const void *bytes, size_t count)
{
    return serial_send(ports[port], bytes, count);
}

static size_t transport_virtio_receive(enum transport_port port, void *out, size_t room)
{
    return serial_receive(ports[port], out, room);
}

/* There is always room: sending waits. */
static bool trace_room(uint64_t /* bytes */, bool /* samples */)
{
    return true;
}

static uint64_t transport_virtio_poll(void)
{
    return TRANSPORT_NEVER;
}

/* Does nothing: a send returns when the host has everything. */
static uint32_t transport_virtio_finish(void)
{
    return BOOT_END_DONE;
}

const struct transport transport_virtio = {
    .name = "virtio-serial",
    .host = true,
    .init = transport_virtio_init,
    .has = transport_virtio_has,
    .send = transport_virtio_send,
    .receive = transport_virtio_receive,
    .trace_room = trace_room,
    .poll = transport_virtio_poll,
    .finish = transport_virtio_finish,
};
