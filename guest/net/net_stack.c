/* Joins a network card and lwIP. */
#include "guest/net/net_stack.h"

#include <errno.h>
#include <lwip/dhcp.h>
#include <lwip/etharp.h>
#include <lwip/init.h>
#include <lwip/netif.h>
#include <lwip/timeouts.h>
#include <string.h>

#include "drivers/net/net.h"
#include "guest/base/context.h"
#include "guest/base/log.h"
#include "guest/net/net_offload.h"
#include "guest/net/net_port.h"

#define RECEIVE_MOST 64u /* frames in one poll: what is to be sent has its turn */
#define LINK_LOOK_MS 250u
#define DEAF_MS 1000u /* QEMU's e1000 takes no frame for so long after its receiver's start */

static struct net_device card;
static struct netif interface;
static struct pbuf *spare; /* for the next frame */
static bool running, link;
static bool cutting; /* the card cuts TCP segments: as of the last look at the link */
static bool queued; /* frames that wait, or that the card was not told about */
static uint64_t next_look_ms;

/* Sends a frame of lwIP's, which is in pieces. */
static err_t send_frame(struct netif *, struct pbuf *p)
{
    int status = net_offload_send(&card, cutting, p);

    if (status == -EAGAIN) { /* lwIP tries again later; the card works until then */
        card.driver->kick(&card);
        return ERR_WOULDBLOCK;
    }
    queued |= status == 0;
    return status ? ERR_IF : ERR_OK;
}

static err_t set_up_interface(struct netif *netif)
{
    const struct boot_network *network = netif->state;

    netif->name[0] = 'e';
    netif->name[1] = 'n';
    netif->mtu = NET_FRAME_MAX - SIZEOF_ETH_HDR;
    netif->hwaddr_len = NET_MAC_BYTES;
    memcpy(netif->hwaddr, card.mac, NET_MAC_BYTES);
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
    netif->output = etharp_output;
    netif->linkoutput = send_frame;
    netif->hostname = network->machine;
    return ERR_OK;
}

/* The card's driver drops frames beyond its length limit. */
static bool receive_frame(void)
{
    size_t bytes;
    struct pbuf *p;

    if (spare == NULL)
        spare = pbuf_alloc(PBUF_RAW, NET_FRAME_MAX, PBUF_POOL);
    if (spare == NULL)
        return false; /* no memory: later */
    bytes = card.driver->receive(&card, spare->payload, NET_FRAME_MAX);
    if (!bytes || bytes > NET_FRAME_MAX)
        return false;
    p = spare;
    spare = NULL;
    pbuf_realloc(p, (u16_t)bytes);
    if (interface.input(p, &interface) != ERR_OK)
        pbuf_free(p);
    return true;
}

static void look_at_link(void)
{
    uint64_t now = net_port_ms();

    if (now < next_look_ms)
        return;
    next_look_ms = now + LINK_LOOK_MS;
    link = card.driver->link_up(&card);
    cutting = link && card.driver->cuts != NULL && card.driver->cuts(&card);
    if (link == netif_is_link_up(&interface))
        return;
    if (link)
        netif_set_link_up(&interface);
    else
        netif_set_link_down(&interface);
    log_line("network: link %s", link ? "up" : "down");
}

void net_stack_flush(void)
{
    if (!queued)
        return;
    queued = net_offload_flush(&card) == -EAGAIN;
    card.driver->kick(&card);
}

bool net_stack_poll(void)
{
    bool any = false;

    context_assert_service();
    if (!running)
        return false;
    look_at_link();
    for (unsigned i = 0; i < RECEIVE_MOST && receive_frame(); i++)
        any = true;
    sys_check_timeouts();
    any |= queued;
    net_stack_flush();
    return any;
}

static bool has_link(void)
{
    return link;
}

static int open_card(char *problem, size_t room)
{
    int status = net_open(&card);

    if (status == 0)
        status = net_offload_init();
    if (status == -ENODEV)
        format_text(problem, room, "no network card that this kernel has a driver for");
    else if (status)
        format_text(problem, room, "the network card does not work: error %d", status);
    return status;
}

static bool add_interface(const struct boot_network *network)
{
    const ip4_addr_t address = {network->address}, netmask = {network->netmask},
                     gateway = {network->gateway};

    lwip_init();
    memset(&interface, 0, sizeof interface);
    if (netif_add(&interface, &address, &netmask, &gateway, (void *)network, set_up_interface,
                  netif_input) == NULL)
        return false;
    netif_set_default(&interface);
    netif_set_up(&interface);
    running = true;
    return true;
}

/* pass_ms: virtual time to pass at once between looks, for what no frame brings; or 0. */
static bool wait_until(bool (*reached)(void), uint64_t most_ms, uint32_t pass_ms)
{
    uint64_t end = net_port_ms() + most_ms;

    while (!reached()) {
        if (net_port_ms() > end)
            return false;
        net_stack_poll();
        if (pass_ms && !reached())
            net_port_pass(pass_ms);
    }
    return true;
}

static bool has_address(void)
{
    return dhcp_supplied_address(&interface);
}

static int get_address(const struct boot_network *network, char *problem, size_t room)
{
    if (network->address)
        return 0;
    if (dhcp_start(&interface) != ERR_OK) {
        format_text(problem, room, "no memory for DHCP");
        return -ENOMEM;
    }
    if (wait_until(has_address, NET_DHCP_WAIT_MS, 0))
        return 0;
    format_text(problem, room, "no DHCP server answered within %u s on %s", NET_DHCP_WAIT_MS / 1000,
                card.driver->name);
    return -ETIMEDOUT;
}

static unsigned bits_of(uint32_t netmask)
{
    unsigned bits = 0;

    for (; netmask; netmask &= netmask - 1)
        bits++;
    return bits;
}

static void log_address(const char *how)
{
    const uint8_t *a = (const uint8_t *)&netif_ip4_addr(&interface)->addr;
    const uint8_t *g = (const uint8_t *)&netif_ip4_gw(&interface)->addr;

    log_line("network: %s, address %u.%u.%u.%u/%u, gateway %u.%u.%u.%u (%s)", card.driver->name,
             a[0], a[1], a[2], a[3], bits_of(netif_ip4_netmask(&interface)->addr), g[0], g[1], g[2],
             g[3], how);
}

/* Returns whether the collector is in this network or there is a route out of it. */
static int check_way(const struct boot_network *network, char *problem, size_t room)
{
    uint32_t netmask = netif_ip4_netmask(&interface)->addr;

    if (netif_ip4_gw(&interface)->addr ||
        (network->collector & netmask) == (netif_ip4_addr(&interface)->addr & netmask))
        return 0;
    format_text(problem, room, "the collector is in another network, and there is no gateway");
    return -EHOSTUNREACH;
}

int net_stack_start(const struct boot_network *network, char *problem, size_t room)
{
    int status;

    link = queued = cutting = false;
    next_look_ms = 0;
    status = open_card(problem, room);
    if (status)
        return status;
    if (!add_interface(network)) {
        format_text(problem, room, "no memory for the network");
        return -ENOMEM;
    }
    if (!wait_until(has_link, NET_LINK_WAIT_MS, LINK_LOOK_MS)) {
        format_text(problem, room, "%s has no link: is the cable in?", card.driver->name);
        return -ENETDOWN;
    }
    net_port_pass(DEAF_MS);
    status = get_address(network, problem, room);
    if (status)
        return status;
    log_address(network->address ? "configured" : "from DHCP");
    return check_way(network, problem, room);
}

void net_stack_stop(void)
{
    if (card.driver != NULL)
        card.driver->close(&card);
    card.driver = NULL;
    running = queued = false;
}
