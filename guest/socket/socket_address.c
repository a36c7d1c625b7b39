/* Addresses: what they mean, and what they match. */
#include "guest/socket/socket_address.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define V6_BYTES_MIN 24u /* as of RFC 2133, without sin6_scope_id */

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff}, zeros[16];

bool socket_address_is_v4(const struct socket_address *a)
{
    return memcmp(a->bytes, v4_prefix, sizeof v4_prefix) == 0;
}

bool socket_address_equal(const struct socket_address *a, const struct socket_address *b)
{
    return a->port == b->port && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

enum socket_place socket_address_place(const struct socket_address *a)
{
    static const uint8_t all[4] = {255, 255, 255, 255};

    if (socket_address_is_v4(a)) {
        if (memcmp(a->bytes + 12, zeros, 4) == 0)
            return SOCKET_PLACE_ANY;
        if (memcmp(a->bytes + 12, all, 4) == 0)
            return SOCKET_PLACE_BROADCAST;
        return a->bytes[12] == 127 ? SOCKET_PLACE_HERE : SOCKET_PLACE_ELSEWHERE;
    }
    if (memcmp(a->bytes, zeros, 15) != 0 || a->bytes[15] > 1)
        return SOCKET_PLACE_ELSEWHERE;
    return a->bytes[15] ? SOCKET_PLACE_HERE : SOCKET_PLACE_ANY;
}

void socket_address_any(struct socket_address *a, bool v4)
{
    memset(a->bytes, 0, sizeof a->bytes);
    if (v4)
        memcpy(a->bytes, v4_prefix, sizeof v4_prefix);
}

void socket_address_loopback(struct socket_address *a, bool v4)
{
    socket_address_any(a, v4);
    a->bytes[15] = 1;
    if (v4)
        a->bytes[12] = 127;
}

/* Returns true if an address stands for all of one family, and perhaps of both. */
static bool covers(const struct socket_address *any, bool only_v6, bool v4)
{
    if (socket_address_place(any) != SOCKET_PLACE_ANY)
        return false;
    return socket_address_is_v4(any) ? v4 : !v4 || !only_v6;
}

uint32_t socket_address_fits(const struct socket_address *bound, bool only_v6,
                             const struct socket_address *to)
{
    if (memcmp(bound->bytes, to->bytes, sizeof to->bytes) == 0)
        return 3;
    if (!covers(bound, only_v6, socket_address_is_v4(to)))
        return 0;
    return socket_address_is_v4(bound) == socket_address_is_v4(to) ? 2 : 1;
}

bool socket_address_overlaps(const struct socket_address *a, bool a_only_v6,
                             const struct socket_address *b, bool b_only_v6)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0 ||
           covers(a, a_only_v6, socket_address_is_v4(b)) ||
           covers(b, b_only_v6, socket_address_is_v4(a));
}

int socket_address_read(struct socket_address *a, uint32_t domain, const void *name, uint32_t bytes)
{
    const struct sockaddr_in *v4 = name;
    const struct sockaddr_in6 *v6 = name;

    if (bytes < (domain == AF_INET ? sizeof *v4 : V6_BYTES_MIN))
        return -EINVAL;
    if (v4->sin_family != domain)
        return -EAFNOSUPPORT;
    if (domain == AF_INET) {
        socket_address_any(a, true);
        memcpy(a->bytes + 12, &v4->sin_addr, 4);
        a->port = __builtin_bswap16(v4->sin_port);
        return 0;
    }
    memcpy(a->bytes, &v6->sin6_addr, sizeof a->bytes);
    a->port = __builtin_bswap16(v6->sin6_port);
    return 0;
}

uint32_t socket_address_write(const struct socket_address *a, uint32_t domain, void *name)
{
    if (domain == AF_INET) {
        struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = __builtin_bswap16(a->port)};

        memcpy(&v4.sin_addr, a->bytes + 12, 4);
        memcpy(name, &v4, sizeof v4);
        return sizeof v4;
    } else {
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = __builtin_bswap16(a->port)};

        memcpy(&v6.sin6_addr, a->bytes, sizeof a->bytes);
        memcpy(name, &v6, sizeof v6);
        return sizeof v6;
    }
}
