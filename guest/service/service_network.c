/* Assembles frames from the network port, and sends frames there. */
#include "guest/service/service_network.h"

#include "drivers/platform.h"
#include "guest/base/context.h"
#include "guest/base/log.h"
#include "guest/transport/transport.h"

struct service_network service_network;
static struct service_network_frame *in, *out;
static size_t in_bytes;
static bool broken; /* the host does not keep to the protocol */

bool service_network_offered(void)
{
    return transport->has(TRANSPORT_NETWORK);
}

void service_network_start(void)
{
    in = platform_allocate(sizeof *in);
    out = platform_allocate(sizeof *out);
    if (in == NULL || out == NULL)
        panic("no memory for the network; give more with --mem");
}

struct service_network_frame *service_network_out(void)
{
    cross_assert_held();
    return out;
}

void service_network_send(void)
{
    cross_assert_held();
    transport->send(TRANSPORT_NETWORK, out, sizeof out->frame + out->frame.bytes);
}

const struct service_network_frame *service_network_receive(void)
{
    static bool whole;

    if (whole)
        in_bytes = 0;
    whole = false;
    while (!broken && !whole) {
        size_t wanted = sizeof in->frame, got;

        if (in_bytes >= sizeof in->frame)
            wanted += in->frame.bytes;
        got = transport->receive(TRANSPORT_NETWORK, (uint8_t *)in + in_bytes, wanted - in_bytes);
        in_bytes += got;
        broken = in_bytes >= sizeof in->frame && in->frame.bytes > sizeof in->data;
        whole = in_bytes >= sizeof in->frame && in_bytes == sizeof in->frame + in->frame.bytes;
        if (!got && !whole)
            return NULL;
    }
    if (broken)
        log_notice("a frame of the network's is damaged: the network ends");
    return broken ? NULL : in;
}
