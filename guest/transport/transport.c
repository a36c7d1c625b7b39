/* Chooses how what the run sends leaves the machine. */
#include "guest/transport/transport.h"

#include "guest/base/log.h"

static const struct transport *const transports[] = {
    [BOOT_OUTPUT_VIRTIO] = &transport_virtio,
    [BOOT_OUTPUT_MEMORY] = &transport_memory,
    [BOOT_OUTPUT_TCP] = &transport_tcp,
};

const struct transport *transport;

void transport_choose(const struct boot_info *boot)
{
    if (boot->output >= sizeof transports / sizeof transports[0] || !transports[boot->output])
        panic("boot_info: no output of kind %u", boot->output);
    transport = transports[boot->output];
}
