/* Chooses the network interface: the first on the bus that works, best one with a link. */
#include "drivers/net/net.h"

#include <errno.h>

#include "drivers/clock/clock.h"
#include "drivers/net/drivers.h"
#include "drivers/platform.h"
#include "lib/array.h"

#define CARDS_MAX 8
#define CLASS_NETWORK 0x02 /* PCI Code and ID Assignment Specification 1.0, 1.3 */

/* Autonegotiation of 1000BASE-T takes two to four seconds, and now and then a second attempt. */
#define LINK_WAIT_US 8000000
#define LINK_POLL_US 10000
#define EARLIER_WAIT_US 1000000 /* for a link of a card that comes first, when another's is up */

struct card {
    struct pci_device pci;
    struct net_device net;
};

struct cards {
    unsigned count;
    struct card all[CARDS_MAX];
    int error; /* why one could not be opened */
};

static const struct net_driver *const drivers[] = {
    &virtio_net_driver, &e1000_drivers[0], &e1000_drivers[1], &e1000_drivers[2],
    &e1000_drivers[3],  &e1000_drivers[4], &e1000_drivers[5],
};
_Static_assert(NET_E1000_FAMILIES == 6, "all are listed");

static const struct net_driver *driver_of(const struct pci_device *pci)
{
    for (size_t i = 0; i < ARRAY_COUNT(drivers); i++) {
        const struct net_driver *driver = drivers[i];
        for (size_t id = 0; id < driver->device_id_count; id++)
            if (pci->vendor_id == driver->vendor_id && pci->device_id == driver->device_ids[id])
                return driver;
    }
    return NULL;
}

static void log_card(const struct pci_device *pci, const char *what)
{
    platform_log("network card %04x:%04x at %02x:%02x.%u: %s", pci->vendor_id, pci->device_id,
                 pci->bus, pci->slot, pci->function, what);
}

static void open_card(struct cards *cards, const struct pci_device *pci,
                      const struct net_driver *driver)
{
    struct card *card = &cards->all[cards->count];
    int error;

    *card = (struct card){.pci = *pci, .net.driver = driver};
    error = driver->open(&card->net, pci);
    if (error) {
        cards->error = error;
        log_card(pci, error == -ENOMEM ? "no memory for it" : "does not answer as it should");
        return;
    }
    cards->count++;
}

static void open_all(struct cards *cards)
{
    struct pci_device pci = {0};

    while (pci_next(&pci)) {
        const struct net_driver *driver = driver_of(&pci);
        if (driver != NULL && cards->count < CARDS_MAX)
            open_card(cards, &pci, driver);
        else if (driver != NULL)
            log_card(&pci, "one too many");
        else if (pci_read8(&pci, PCI_CLASS + 3) == CLASS_NETWORK)
            log_card(&pci, "no driver for it");
    }
}

static struct card *first_with_link(struct cards *cards)
{
    for (unsigned i = 0; i < cards->count; i++)
        if (cards->all[i].net.driver->link_up(&cards->all[i].net))
            return &cards->all[i];
    return NULL;
}

/* Chooses one card for every run, although links come up in any order. */
static struct card *net_choose(struct cards *cards)
{
    struct card *chosen = cards->count > 1 ? first_with_link(cards) : &cards->all[0];
    uint64_t left_us = chosen != NULL ? EARLIER_WAIT_US : LINK_WAIT_US;

    while (chosen != &cards->all[0] && left_us > 0) {
        struct card *now;

        clock_delay_us(LINK_POLL_US);
        left_us -= LINK_POLL_US;
        now = first_with_link(cards);
        if (now != NULL && chosen == NULL && left_us > EARLIER_WAIT_US)
            left_us = EARLIER_WAIT_US;
        chosen = now != NULL ? now : chosen;
    }
    return chosen != NULL ? chosen : &cards->all[0];
}

static void log_chosen(const struct card *card)
{
    const uint8_t *mac = card->net.mac;

    platform_log("network card %04x:%04x at %02x:%02x.%u: %s, "
                 "address %02x:%02x:%02x:%02x:%02x:%02x",
                 card->pci.vendor_id, card->pci.device_id, card->pci.bus, card->pci.slot,
                 card->pci.function, card->net.driver->name, mac[0], mac[1], mac[2], mac[3], mac[4],
                 mac[5]);
}

int net_open(struct net_device *net)
{
    struct cards cards = {0};
    struct card *chosen;

    open_all(&cards);
    if (cards.count == 0) {
        if (!cards.error)
            platform_log("no network card that there is a driver for");
        return cards.error ? cards.error : -ENODEV;
    }
    chosen = net_choose(&cards);
    for (unsigned i = 0; i < cards.count; i++) {
        if (&cards.all[i] == chosen)
            continue;
        log_card(&cards.all[i].pci, "not used");
        cards.all[i].net.driver->close(&cards.all[i].net);
    }
    log_chosen(chosen);
    *net = chosen->net;
    return 0;
}
