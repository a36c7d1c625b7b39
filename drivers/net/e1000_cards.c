/* Which of Intel's gigabit controllers there are, by family. */
#include "drivers/net/e1000.h"
#include "lib/array.h"

static const struct e1000_family family_8254x = {
    .phy_address = 1, .eeprom_shift = 8, .eeprom_done_bit = 4};
static const struct e1000_family family_82574 = {.traits =
                                                     E1000_PCIE | E1000_SHARED_PHY | E1000_CUTS,
                                                 .phy_address = 1,
                                                 .eeprom_shift = 2,
                                                 .eeprom_done_bit = 1};

/* Of the PHY's two addresses the one whose registers are IEEE 802.3's */
#define PCH_PHY 2
#define PCH (E1000_PCIE | E1000_SHARED_PHY | E1000_PCH)
static const struct e1000_family family_i217 = {.traits = PCH, .phy_address = PCH_PHY};
static const struct e1000_family family_i219_first = {.traits = PCH | E1000_I219 | E1000_I219_FIRST,
                                                      .phy_address = PCH_PHY};
static const struct e1000_family family_i219 = {.traits = PCH | E1000_I219, .phy_address = PCH_PHY};
static const struct e1000_family family_i219_late = {.traits = PCH | E1000_I219 | E1000_I219_LATE,
                                                     .phy_address = PCH_PHY};

static const uint16_t ids_8254x[] = {
    0x100e, 0x1015, /* 82540EM */
    0x100f, /* 82545EM */
};
static const uint16_t ids_82574[] = {
    0x10d3, /* 82574L */
    0x10f6, /* 82574LA */
};
static const uint16_t ids_i217[] = {
    0x153a, 0x153b, /* I217-LM, -V */
    0x155a, 0x1559, /* I218-LM, -V */
    0x15a0, 0x15a1, 0x15a2, 0x15a3, /* I218-LM and -V (2) and (3) */
};
static const uint16_t ids_i219_first[] = {
    /* I219-LM and -V: without a number, (2), (3: LM only), (4), (5), (12) */
    0x156f, 0x1570, 0x15b7, 0x15b8, 0x15b9, 0x15d7, 0x15d8, 0x15e3, 0x15d6, 0x0d53, 0x0d55,
};
static const uint16_t ids_i219[] = {
    0x15bd, 0x15be, 0x15bb, 0x15bc, /* (6), (7) */
    0x15df, 0x15e0, 0x15e1, 0x15e2, /* (8), (9) */
    0x0d4e, 0x0d4f, 0x0d4c, 0x0d4d, /* (10), (11) */
};
static const uint16_t ids_i219_late[] = {
    0x15fb, 0x15fc, 0x15f9, 0x15fa, 0x15f4, 0x15f5, /* (13), (14), (15) */
    0x1a1e, 0x1a1f, 0x1a1c, 0x1a1d, /* (16), (17) */
    0x0dc7, 0x0dc8, 0x0dc5, 0x0dc6, /* (22), (23) */
};

#define CARDS(which, text)                                                                    \
    {                                                                                         \
        .name = (text), .vendor_id = 0x8086, .device_ids = ids_##which,                       \
        .device_id_count = ARRAY_COUNT(ids_##which), .variant = &family_##which,              \
        .open = e1000_open, .link_up = e1000_link_up, .send = e1000_send, .cuts = e1000_cuts, \
        .send_large = e1000_send_large, .kick = e1000_kick, .receive = e1000_receive,         \
        .close = e1000_close,                                                                 \
    }

const struct net_driver e1000_drivers[NET_E1000_FAMILIES] = {
    CARDS(8254x, "Intel 8254x"),     CARDS(82574, "Intel 82574"), CARDS(i217, "Intel I217/I218"),
    CARDS(i219_first, "Intel I219"), CARDS(i219, "Intel I219"),   CARDS(i219_late, "Intel I219"),
};
