/* What the parts of the driver of Intel's gigabit controllers share.  Only drivers/net/e1000*.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/mmio.h"
#include "drivers/net/drivers.h"
#include "drivers/net/e1000_regs.h"

#define E1000_DESCRIPTORS 256 /* of either ring: 4096 bytes, a multiple of 128 */
#define E1000_BUFFER_BYTES ((size_t)2048)

enum e1000_trait {
    E1000_PCIE = 1 << 0,
    E1000_SHARED_PHY = 1 << 1, /* EXTCNF_CTRL says who may use the PHY */
    E1000_PCH = 1 << 2, /* in the chipset; the PHY is a chip of its own */
    E1000_I219 = 1 << 3, /* rings must be empty before a reset */
    E1000_I219_FIRST = 1 << 4, /* chipsets of the 100 and 200 series: errata of transmission */
    E1000_I219_LATE = 1 << 5, /* from the 500 series on: a clock that must not be gated */
    E1000_CUTS = 1 << 6, /* TCP segmentation offload, without known errata at 1 Gb/s */
};

struct e1000_family {
    unsigned traits; /* enum e1000_trait */
    uint8_t phy_address;
    uint8_t eeprom_shift; /* EERD's address field; 0: no EEPROM to read */
    uint8_t eeprom_done_bit;
};

struct e1000 {
    const struct e1000_family *family;
    struct pci_device pci;
    volatile uint8_t *registers;
    struct e1000_receive *receives; /* E1000_DESCRIPTORS of each */
    struct e1000_transmit *transmits;
    uint8_t *receive_buffers; /* one after the other; a buffer's number is its descriptor's */
    uint8_t *transmit_buffers;
    unsigned receive_next; /* the descriptor that the device fills next */
    unsigned receive_untold; /* descriptors not yet given back to the device by RDT */
    bool in_long_frame; /* a frame began in earlier descriptors, its rest is to come */
    uint8_t transmit_last[E1000_DESCRIPTORS]; /* by a frame's first descriptor */
    unsigned transmit_next; /* the descriptor that is free next */
    unsigned transmit_oldest; /* first one of the oldest frame not yet reported */
    unsigned transmit_told; /* TDT */
    uint64_t progress_us; /* when the device last reported a frame, or had none */
    unsigned hangs; /* in a row */
    bool was_up;
    bool broken;
};

static inline uint32_t e1000_read(const struct e1000 *e, uint32_t offset)
{
    return mmio_read32(e->registers + offset);
}

static inline void e1000_write(struct e1000 *e, uint32_t offset, uint32_t value)
{
    mmio_write32(e->registers + offset, value);
}

static inline void e1000_change(struct e1000 *e, uint32_t offset, uint32_t clear, uint32_t set)
{
    e1000_write(e, offset, (e1000_read(e, offset) & ~clear) | set);
}

/* e1000_reset.c: waits until the register's `bits` are `wanted`, at most `us`.  Returns false if
 * they are not. */
bool e1000_wait(const struct e1000 *e, uint32_t offset, uint32_t bits, uint32_t wanted,
                uint64_t us);

/* e1000.c: the functions of struct net_driver; its variant is the family. */
int e1000_open(struct net_device *net, const struct pci_device *pci);
bool e1000_link_up(struct net_device *net);
int e1000_send(struct net_device *net, const void *frame, size_t bytes);
bool e1000_cuts(struct net_device *net);
int e1000_send_large(struct net_device *net, const void *frame, size_t bytes, size_t segment);
void e1000_kick(struct net_device *net);
size_t e1000_receive(struct net_device *net, void *out, size_t room);
void e1000_close(struct net_device *net);

/* e1000.c: makes sure that `count` descriptors are free from transmit_next on.  Returns 0, -EAGAIN
 * or -EIO. */
int e1000_make_room(struct net_device *net, unsigned count);

/* Adds a frame in the descriptors from transmit_next to before `next`. */
void e1000_add_frame(struct net_device *net, unsigned next);

static inline unsigned e1000_after(unsigned descriptor)
{
    return (descriptor + 1) % E1000_DESCRIPTORS;
}

/* e1000_reset.c: stops all transfers and resets the MAC; the PHY keeps its link.  Returns 0 or
 * -EIO. */
int e1000_reset(struct e1000 *e);

/* Sets what each family needs after a reset and before the rings start. */
void e1000_prepare(struct e1000 *e);

/* Does the first reset and reads the MAC that the firmware set, or the device's own.  Returns 0 or
 * -EIO. */
int e1000_reset_and_read_mac(struct e1000 *e, uint8_t mac[NET_MAC_BYTES]);
void e1000_set_mac(struct e1000 *e, const uint8_t mac[NET_MAC_BYTES]);

/* e1000_phy.c: takes and gives back the exclusive use of what management firmware uses too. Returns
 * false if it could not be had. */
bool e1000_take_turn(struct e1000 *e);
void e1000_end_turn(struct e1000 *e);

/* Wakes the PHY and has it negotiate, unless it has a link.  Returns 0, or -EIO if it does not
 * answer. */
int e1000_start_phy(struct e1000 *e);

/* e1000_pch.c: parts of the above, for E1000_PCH only. */
void e1000_pch_prepare(struct e1000 *e);
void e1000_pch_leave_low_power(struct e1000 *e); /* firmware is given time for it */
int e1000_pch_power_phy(struct e1000 *e); /* off and on; -EIO: firmware forbids it */
void e1000_pch_empty_rings(struct e1000 *e); /* the driver's own, before a reset of an I219 */
