/* Intel's gigabit controllers: rings of legacy descriptors, polled. */
#include "drivers/net/e1000.h"

#include <errno.h>
#include <string.h>

#include "drivers/clock/clock.h"
#include "drivers/platform.h"

#define FRAME_MIN 60 /* without its checksum: IEEE 802.3, 4.2.3.3 */
#define RETURN_AFTER 32 /* receive descriptors that are given back together */
#define HANG_US 2000000
#define HANGS_MAX 3
#define MTA_REGISTERS 32 /* that all controllers have; the others have 128 */

static int e1000_allocate(struct e1000 *e)
{
    e->receives = platform_allocate(E1000_DESCRIPTORS * sizeof *e->receives);
    e->transmits = platform_allocate(E1000_DESCRIPTORS * sizeof *e->transmits);
    e->receive_buffers = platform_allocate(E1000_DESCRIPTORS * E1000_BUFFER_BYTES);
    e->transmit_buffers = platform_allocate(E1000_DESCRIPTORS * E1000_BUFFER_BYTES);
    return e->receives != NULL && e->transmits != NULL && e->receive_buffers != NULL &&
                   e->transmit_buffers != NULL
               ? 0
               : -ENOMEM;
}

static void give_receive(struct e1000 *e, unsigned at)
{
    e->receives[at] = (struct e1000_receive){
        .address = platform_physical_address(e->receive_buffers + at * E1000_BUFFER_BYTES)};
}

static void write_address(struct e1000 *e, uint32_t low_register, const void *ring)
{
    uint64_t address = platform_physical_address(ring);

    e1000_write(e, low_register, (uint32_t)address);
    e1000_write(e, low_register + 4, (uint32_t)(address >> 32));
}

static void start_transmitter(struct e1000 *e)
{
    uint32_t tctl = E1000_TCTL_EN | E1000_TCTL_PSP | E1000_TCTL_CT | E1000_TCTL_COLD;

    memset(e->transmits, 0, E1000_DESCRIPTORS * sizeof *e->transmits);
    e->transmit_next = e->transmit_oldest = e->transmit_told = 0;
    e->progress_us = clock_us();
    write_address(e, E1000_TDBAL, e->transmits);
    e1000_write(e, E1000_TDLEN, E1000_DESCRIPTORS * sizeof *e->transmits);
    e1000_write(e, E1000_TDH, 0);
    e1000_write(e, E1000_TDT, 0);
    if (e->family->traits & E1000_PCIE) /* the other bits stay as the reset made them */
        e1000_change(e, E1000_TCTL, E1000_TCTL_CT_MASK | E1000_TCTL_COLD_MASK,
                     tctl | E1000_TCTL_RTLC);
    else
        e1000_write(e, E1000_TCTL, tctl);
}

/* The last descriptor stays free: the device takes head = tail for an empty ring. */
static void start_receiver(struct e1000 *e)
{
    for (unsigned i = 0; i < E1000_DESCRIPTORS; i++)
        give_receive(e, i);
    e->receive_next = e->receive_untold = 0;
    e->in_long_frame = false;
    for (uint32_t i = 0; i < MTA_REGISTERS; i++)
        e1000_write(e, E1000_MTA + 4 * i, 0);
    write_address(e, E1000_RDBAL, e->receives);
    e1000_write(e, E1000_RDLEN, E1000_DESCRIPTORS * sizeof *e->receives);
    e1000_write(e, E1000_RDH, 0);
    e1000_write(e, E1000_RDT, 0);
    e1000_write(e, E1000_RDTR, 0);
    e1000_write(e, E1000_RADV, 0);
    e1000_write(e, E1000_RXCSUM, 0);
    e1000_write(e, E1000_RCTL, E1000_RCTL_EN | E1000_RCTL_BAM | E1000_RCTL_SECRC);
    e1000_write(e, E1000_RDT, E1000_DESCRIPTORS - 1);
}

/* After a reset. */
static int e1000_start(struct e1000 *e, const uint8_t mac[NET_MAC_BYTES])
{
    int error;

    e1000_set_mac(e, mac);
    e1000_prepare(e);
    error = e1000_start_phy(e);
    if (error)
        return error;
    start_transmitter(e);
    start_receiver(e);
    return 0;
}

static int map_registers(struct e1000 *e)
{
    uint64_t base, bytes;

    if (pci_bar(&e->pci, 0, &base, &bytes) || bytes < E1000_REGISTER_BYTES)
        return -EIO;
    e->registers = platform_map_device(base, E1000_REGISTER_BYTES);
    return e1000_read(e, E1000_STATUS) == UINT32_MAX ? -EIO : 0; /* no device answers */
}

int e1000_open(struct net_device *net, const struct pci_device *pci)
{
    struct e1000 *e = platform_allocate(sizeof *e);
    int error;

    if (e == NULL)
        return -ENOMEM;
    net->state = e;
    e->family = net->driver->variant;
    e->pci = *pci;
    pci_wake(pci);
    error = pci_enable(pci);
    if (!error)
        error = map_registers(e);
    if (!error)
        error = e1000_allocate(e);
    if (!error)
        error = e1000_reset_and_read_mac(e, net->mac);
    if (!error)
        error = e1000_start(e, net->mac);
    if (error)
        pci_stop_mastering(pci);
    return error;
}

bool e1000_link_up(struct net_device *net)
{
    static const unsigned speeds[] = {10, 100, 1000, 1000};
    struct e1000 *e = net->state;
    uint32_t status = e1000_read(e, E1000_STATUS);
    bool up = !e->broken && status != UINT32_MAX && status & E1000_STATUS_LINK_UP;

    if (up != e->was_up) {
        e->progress_us = clock_us();
        if (up)
            platform_log("network card: link of %u Mb/s, %s duplex",
                         speeds[E1000_STATUS_SPEED(status)],
                         status & E1000_STATUS_FULL_DUPLEX ? "full" : "half");
        else
            platform_log("network card: no link");
    }
    e->was_up = up;
    return up;
}

static void e1000_reclaim(struct e1000 *e)
{
    unsigned before = e->transmit_oldest;

    while (e->transmit_oldest != e->transmit_told) {
        unsigned last = e->transmit_last[e->transmit_oldest];
        if (!(__atomic_load_n(&e->transmits[last].status, __ATOMIC_ACQUIRE) & E1000_TRANSMIT_DONE))
            break;
        e->transmit_oldest = e1000_after(last);
    }
    if (e->transmit_oldest != before)
        e->hangs = 0;
    if (e->transmit_oldest != before || e->transmit_oldest == e->transmit_told)
        e->progress_us = clock_us();
}

/* The frames in the ring are lost, as on a bad wire. */
static void e1000_restart(struct net_device *net)
{
    struct e1000 *e = net->state;

    platform_log("network card: it has not sent anything for %u s: reset", HANG_US / 1000000);
    for (unsigned at = e->transmit_oldest; at != e->transmit_next;
         at = e1000_after(e->transmit_last[at]))
        net->frames_dropped++;
    e->hangs++;
    e1000_pch_empty_rings(e);
    if (e->hangs > HANGS_MAX || e1000_reset(e) || e1000_start(e, net->mac)) {
        platform_log("network card: given up");
        e->broken = true;
    }
}

/* One stays free: the device takes head = tail for an empty ring. */
static unsigned free_transmits(const struct e1000 *e)
{
    return (e->transmit_oldest + E1000_DESCRIPTORS - 1 - e->transmit_next) % E1000_DESCRIPTORS;
}

/* Restarts a device that has a link and frames but does not send. */
static void look_for_hang(struct net_device *net)
{
    struct e1000 *e = net->state;

    if (!e->broken && clock_us() - e->progress_us > HANG_US) {
        if (e1000_link_up(net) && clock_us() - e->progress_us > HANG_US)
            e1000_restart(net);
        else
            e->progress_us = clock_us();
    }
}

int e1000_make_room(struct net_device *net, unsigned count)
{
    struct e1000 *e = net->state;

    e1000_reclaim(e);
    if (free_transmits(e) < count)
        look_for_hang(net);
    if (e->broken)
        return -EIO;
    return free_transmits(e) < count ? -EAGAIN : 0;
}

void e1000_add_frame(struct net_device *net, unsigned next)
{
    struct e1000 *e = net->state;

    e->transmit_last[e->transmit_next] =
        (uint8_t)((next + E1000_DESCRIPTORS - 1) % E1000_DESCRIPTORS);
    e->transmit_next = next;
    net->frames_sent++;
}

int e1000_send(struct net_device *net, const void *frame, size_t bytes)
{
    struct e1000 *e = net->state;
    int status;
    uint8_t *buffer;

    if (bytes > NET_FRAME_MAX)
        return -EMSGSIZE;
    status = e1000_make_room(net, 1);
    if (status)
        return status;
    buffer = e->transmit_buffers + e->transmit_next * E1000_BUFFER_BYTES;
    memcpy(buffer, frame, bytes);
    if (bytes < FRAME_MIN) /* clears what an earlier frame left there */
        memset(buffer + bytes, 0, FRAME_MIN - bytes);
    e->transmits[e->transmit_next] = (struct e1000_transmit){
        .address = platform_physical_address(buffer),
        .bytes = (uint16_t)(bytes < FRAME_MIN ? FRAME_MIN : bytes),
        .command = E1000_TRANSMIT_END | E1000_TRANSMIT_CHECKSUM | E1000_TRANSMIT_REPORT};
    e1000_add_frame(net, e1000_after(e->transmit_next));
    return 0;
}

void e1000_kick(struct net_device *net)
{
    struct e1000 *e = net->state;

    e1000_reclaim(e);
    if (e->transmit_told != e->transmit_next && !e->broken) {
        if (e->transmit_oldest == e->transmit_told)
            e->progress_us = clock_us(); /* the first frame after a pause */
        __atomic_thread_fence(__ATOMIC_RELEASE); /* the descriptors are in memory */
        e1000_write(e, E1000_TDT, e->transmit_next);
        e->transmit_told = e->transmit_next;
    }
    look_for_hang(net);
}

/* The descriptors that were read are the device's again, but for one. */
static void return_receives(struct e1000 *e)
{
    if (e->receive_untold == 0)
        return;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    e1000_write(e, E1000_RDT, (e->receive_next + E1000_DESCRIPTORS - 1) % E1000_DESCRIPTORS);
    e->receive_untold = 0;
}

/* Returns the bytes of the frame in the descriptor at `at`; 0: nothing usable. */
static size_t copy_frame(struct e1000 *e, unsigned at, void *out, size_t room)
{
    struct e1000_receive got = e->receives[at]; /* once: the device can write it any time */
    bool first = !e->in_long_frame;

    e->in_long_frame = !(got.status & E1000_RECEIVE_END);
    if (!first || e->in_long_frame || got.errors & E1000_RECEIVE_ERRORS ||
        got.bytes < NET_HEADER_BYTES || got.bytes > E1000_BUFFER_BYTES || got.bytes > room)
        return 0;
    memcpy(out, e->receive_buffers + at * E1000_BUFFER_BYTES, got.bytes);
    return got.bytes;
}

size_t e1000_receive(struct net_device *net, void *out, size_t room)
{
    struct e1000 *e = net->state;
    size_t got = 0;

    /* A bound: a device that only has damaged frames does not keep the caller. */
    for (unsigned i = 0; i < E1000_DESCRIPTORS && got == 0 && !e->broken; i++) {
        unsigned at = e->receive_next;
        if (!(__atomic_load_n(&e->receives[at].status, __ATOMIC_ACQUIRE) & E1000_RECEIVE_DONE)) {
            return_receives(e);
            return 0;
        }
        got = copy_frame(e, at, out, room);
        net->frames_received += got != 0;
        net->frames_dropped += got == 0;
        give_receive(e, at);
        e->receive_next = e1000_after(at);
        if (++e->receive_untold >= RETURN_AFTER)
            return_receives(e);
    }
    return got;
}

void e1000_close(struct net_device *net)
{
    struct e1000 *e = net->state;

    e1000_pch_empty_rings(e);
    (void)e1000_reset(e); /* one that fails has no access to memory either */
    e1000_change(e, E1000_CTRL_EXT, E1000_CTRL_EXT_DRV_LOAD, 0);
    pci_stop_mastering(&e->pci);
}
