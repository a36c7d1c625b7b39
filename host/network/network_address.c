/* Maps addresses between the guest's view and the host's. */
#include "host/network/network_address.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

static int v4_to_host(uint32_t address, uint16_t port, struct network_address *out)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};

    if (address == RUN_NETWORK_HOST)
        address = INADDR_LOOPBACK;
    if (address >> 24 == 0)
        return ENETUNREACH;
    if (address >> 28 >= 14) /* groups, reserved, broadcast */
        return EACCES;
    name.sin_addr.s_addr = htonl(address);
    memcpy(&out->name, &name, sizeof name);
    out->bytes = sizeof name;
    return 0;
}

int network_address_to_host(const struct run_network_frame *frame, struct network_address *out)
{
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_port = htons(frame->port)};

    if (memcmp(frame->address, v4_prefix, sizeof v4_prefix) == 0) {
        uint32_t address;

        memcpy(&address, frame->address + sizeof v4_prefix, sizeof address);
        return v4_to_host(ntohl(address), frame->port, out);
    }
    memcpy(&name.sin6_addr, frame->address, sizeof frame->address);
    if (IN6_IS_ADDR_UNSPECIFIED(&name.sin6_addr) || IN6_IS_ADDR_MULTICAST(&name.sin6_addr))
        return ENETUNREACH;
    memcpy(&out->name, &name, sizeof name);
    out->bytes = sizeof name;
    return 0;
}

static void put_v4(uint32_t address, struct run_network_frame *frame)
{
    address = htonl(address);
    memcpy(frame->address, v4_prefix, sizeof v4_prefix);
    memcpy(frame->address + sizeof v4_prefix, &address, sizeof address);
}

void network_address_host(uint16_t port, struct run_network_frame *frame)
{
    put_v4(RUN_NETWORK_HOST, frame);
    frame->port = port;
}

uint16_t network_address_port(const struct network_address *a)
{
    uint16_t port; /* both families have it in the same place */

    memcpy(&port, (const uint8_t *)&a->name + offsetof(struct sockaddr_in, sin_port), sizeof port);
    return ntohs(port);
}

void network_address_to_guest(const struct network_address *a, struct run_network_frame *frame)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    frame->port = network_address_port(a);
    if (a->name.ss_family == AF_INET) {
        memcpy(&v4, &a->name, sizeof v4);
        put_v4(ntohl(v4.sin_addr.s_addr), frame);
        if (frame->address[12] == 127)
            put_v4(RUN_NETWORK_HOST, frame);
        return;
    }
    memcpy(&v6, &a->name, sizeof v6);
    memcpy(frame->address, &v6.sin6_addr, sizeof frame->address);
    if (IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr))
        put_v4(RUN_NETWORK_HOST, frame);
}
