/* What SIOCGIF* say about the interfaces. */
#include "guest/socket/socket_interface.h"

#include <errno.h>
#include <linux/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>

#include "guest/socket/socket_outside_state.h"
#include "guest/vm/uaccess.h"
#include "include/run_network.h"

#define ETHERNET_MTU 1500

static const struct socket_interface interfaces[] = {
    {.name = "lo",
     .flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING,
     .type = ARPHRD_LOOPBACK,
     .mtu = 65536,
     .queue = "noqueue"},
    {.name = "eth0",
     .flags = IFF_UP | IFF_BROADCAST | IFF_RUNNING | IFF_MULTICAST,
     .type = ARPHRD_ETHER,
     .mtu = ETHERNET_MTU,
     .mtu_least = 68,
     .mtu_most = 65535,
     .operation = IF_OPER_UP,
     .queue = "fq_codel",
     .hardware = {0x52, 0x54, 0, 0x12, 0x34, 0x56},
     .broadcast = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
};

static const struct { /* of IPv4 */
    uint32_t address, mask, broadcast;
} addresses[] = {{INADDR_LOOPBACK, 0xff000000u, 0}, {RUN_NETWORK_GUEST, 0xffffff00u, 0x0a0002ffu}};

const struct socket_interface *socket_interface_at(uint32_t index)
{
    return index == 1 || (index == 2 && socket_outside.offered) ? &interfaces[index - 1] : NULL;
}

uint32_t socket_interface_find(const char *name, uint32_t bytes)
{
    const struct socket_interface *i;
    uint32_t index = 1;

    while ((i = socket_interface_at(index)) != NULL && strncmp(i->name, name, bytes) != 0)
        index++;
    return i != NULL ? index : 0;
}

static void put_address(struct sockaddr *to, uint32_t address)
{
    const struct sockaddr_in name = {.sin_family = AF_INET,
                                     .sin_addr = {__builtin_bswap32(address)}};

    memcpy(to, &name, sizeof name);
}

/* SIOCGIFCONF: the list of interfaces. */
static int64_t list_interfaces(uint64_t user)
{
    const struct socket_interface *i;
    struct ifconf list;
    int32_t used = 0;

    if (copy_from_user(&list, user, sizeof list) != 0)
        return -EFAULT;
    for (uint32_t index = 1; (i = socket_interface_at(index)) != NULL; index++) {
        struct ifreq one = {.ifr_name = ""};

        memcpy(one.ifr_name, i->name, sizeof i->name);
        put_address(&one.ifr_addr, addresses[index - 1].address);
        if (list.ifc_buf != NULL && list.ifc_len - used < (int32_t)sizeof one)
            break;
        if (list.ifc_buf != NULL &&
            copy_to_user((uint64_t)list.ifc_buf + (uint32_t)used, &one, sizeof one) != 0)
            return -EFAULT;
        used += (int32_t)sizeof one;
    }
    list.ifc_len = used;
    return copy_to_user(user, &list, sizeof list);
}

/* Fills in what a request asks for.  Returns 0 or -ENOTTY. */
static int64_t answer_request(uint32_t request, uint32_t index, struct ifreq *r)
{
    const struct socket_interface *i = socket_interface_at(index);

    switch (request) {
    case SIOCGIFFLAGS:
        r->ifr_flags = (int16_t)i->flags;
        return 0;
    case SIOCGIFADDR:
    case SIOCGIFDSTADDR:
        put_address(&r->ifr_addr, addresses[index - 1].address);
        return 0;
    case SIOCGIFBRDADDR:
        put_address(&r->ifr_broadaddr, addresses[index - 1].broadcast);
        return 0;
    case SIOCGIFNETMASK:
        put_address(&r->ifr_netmask, addresses[index - 1].mask);
        return 0;
    case SIOCGIFMTU:
        r->ifr_mtu = (int32_t)i->mtu;
        return 0;
    case SIOCGIFMETRIC:
        r->ifr_metric = 0;
        return 0;
    case SIOCGIFINDEX:
        r->ifr_ifindex = (int32_t)index;
        return 0;
    case SIOCGIFTXQLEN:
        r->ifr_qlen = SOCKET_INTERFACE_QUEUE;
        return 0;
    case SIOCGIFHWADDR:
        memset(&r->ifr_hwaddr, 0, sizeof r->ifr_hwaddr);
        r->ifr_hwaddr.sa_family = i->type;
        memcpy(r->ifr_hwaddr.sa_data, i->hardware, sizeof i->hardware);
        return 0;
    default:
        return -ENOTTY;
    }
}

static int64_t name_interface(struct ifreq *r)
{
    const struct socket_interface *i = socket_interface_at((uint32_t)r->ifr_ifindex);

    if (i == NULL)
        return -ENODEV;
    memset(r->ifr_name, 0, sizeof r->ifr_name);
    memcpy(r->ifr_name, i->name, sizeof i->name);
    return 0;
}

int64_t socket_interface_control(uint32_t request, uint64_t user)
{
    struct ifreq r;
    uint32_t index;
    int64_t error;

    if (request == SIOCGIFCONF)
        return list_interfaces(user);
    if (request < SIOCGIFNAME || request > SIOCGIFTXQLEN)
        return -ENOTTY;
    if (copy_from_user(&r, user, sizeof r) != 0)
        return -EFAULT;
    index = socket_interface_find(r.ifr_name, sizeof r.ifr_name);
    if (request != SIOCGIFNAME && !index)
        return -ENODEV;
    error = request == SIOCGIFNAME ? name_interface(&r) : answer_request(request, index, &r);
    return error ? error : copy_to_user(user, &r, sizeof r);
}
