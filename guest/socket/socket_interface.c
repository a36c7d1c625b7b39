/* What SIOCGIF* say about `lo`: 127.0.0.1, up. */
#include "guest/socket/socket_interface.h"

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>

#include "guest/vm/uaccess.h"

#define INDEX 1
#define MTU 65536

static void put_address(struct sockaddr *to, uint32_t address)
{
    const struct sockaddr_in name = {.sin_family = AF_INET,
                                     .sin_addr = {__builtin_bswap32(address)}};

    memcpy(to, &name, sizeof name);
}

/* SIOCGIFCONF: the list of interfaces. */
static int64_t list_interfaces(uint64_t user)
{
    struct ifreq lo = {.ifr_name = "lo"};
    struct ifconf list;

    put_address(&lo.ifr_addr, INADDR_LOOPBACK);
    if (copy_from_user(&list, user, sizeof list) != 0)
        return -EFAULT;
    if (list.ifc_buf == NULL)
        list.ifc_len = sizeof lo;
    else if (list.ifc_len < (int)sizeof lo)
        list.ifc_len = 0;
    else if (copy_to_user((uint64_t)list.ifc_buf, &lo, sizeof lo) != 0)
        return -EFAULT;
    else
        list.ifc_len = sizeof lo;
    return copy_to_user(user, &list, sizeof list);
}

/* Fills in what a request asks for.  Returns 0 or -ENOTTY. */
static int64_t answer_request(uint32_t request, struct ifreq *r)
{
    switch (request) {
    case SIOCGIFFLAGS:
        r->ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
        return 0;
    case SIOCGIFADDR:
        put_address(&r->ifr_addr, INADDR_LOOPBACK);
        return 0;
    case SIOCGIFDSTADDR:
        put_address(&r->ifr_dstaddr, INADDR_LOOPBACK);
        return 0;
    case SIOCGIFBRDADDR:
        put_address(&r->ifr_broadaddr, 0);
        return 0;
    case SIOCGIFNETMASK:
        put_address(&r->ifr_netmask, 0xff000000u);
        return 0;
    case SIOCGIFMTU:
        r->ifr_mtu = MTU;
        return 0;
    case SIOCGIFMETRIC:
        r->ifr_metric = 0;
        return 0;
    case SIOCGIFINDEX:
        r->ifr_ifindex = INDEX;
        return 0;
    case SIOCGIFTXQLEN:
        r->ifr_qlen = 1000;
        return 0;
    case SIOCGIFHWADDR:
        memset(&r->ifr_hwaddr, 0, sizeof r->ifr_hwaddr);
        r->ifr_hwaddr.sa_family = ARPHRD_LOOPBACK;
        return 0;
    default:
        return -ENOTTY;
    }
}

static int64_t name_interface(struct ifreq *r)
{
    if (r->ifr_ifindex != INDEX)
        return -ENODEV;
    memset(r->ifr_name, 0, sizeof r->ifr_name);
    memcpy(r->ifr_name, "lo", 2);
    return 0;
}

int64_t socket_interface_control(uint32_t request, uint64_t user)
{
    struct ifreq r;
    int64_t error;

    if (request == SIOCGIFCONF)
        return list_interfaces(user);
    if (request < SIOCGIFNAME || request > SIOCGIFTXQLEN)
        return -ENOTTY;
    if (copy_from_user(&r, user, sizeof r) != 0)
        return -EFAULT;
    if (request != SIOCGIFNAME && strncmp(r.ifr_name, "lo", sizeof r.ifr_name) != 0)
        return -ENODEV;
    error = request == SIOCGIFNAME ? name_interface(&r) : answer_request(request, &r);
    return error ? error : copy_to_user(user, &r, sizeof r);
}
