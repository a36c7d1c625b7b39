/* Intel's gigabit controllers: reset, the address, what each family wants set. */
#include <errno.h>

#include "drivers/clock/clock.h"
#include "drivers/net/e1000.h"
#include "drivers/platform.h"

#define POLL_US 10
#define MASTER_US 80000
#define QUIET_US 10000 /* transfers under way end */
#define RESET_US 20000 /* no register may be read until then: a PCH would hang */
#define NVM_US 50000
#define NVM_TO_PHY_US 25000 /* 82574: the PHY is configured after the MAC */
#define EEPROM_US 10000
#define PCIE_CAPABILITY 0x10
#define PCIE_LINK_CONTROL 0x10 /* PCI Express Base Specification 2.0, 7.8.7 */
#define PCIE_LINK_ASPM 3

bool e1000_wait(const struct e1000 *e, uint32_t offset, uint32_t bits, uint32_t wanted, uint64_t us)
{
    for (uint64_t waited = 0; waited < us; waited += POLL_US) {
        if ((e1000_read(e, offset) & bits) == wanted)
            return true;
        clock_delay_us(POLL_US);
    }
    return (e1000_read(e, offset) & bits) == wanted;
}

/* 82574 and PCH: "Master Disable"; a reset in the middle of a transfer can stop the bus. */
static void stop_transfers(struct e1000 *e)
{
    e1000_write(e, E1000_IMC, UINT32_MAX);
    if (e->family->traits & E1000_PCIE) {
        e1000_change(e, E1000_CTRL, 0, E1000_CTRL_MASTER_DISABLE);
        if (!e1000_wait(e, E1000_STATUS, E1000_STATUS_MASTER_ENABLE, 0, MASTER_US))
            platform_log("network card: transfers do not end before its reset");
    }
    e1000_write(e, E1000_RCTL, 0);
    e1000_write(e, E1000_TCTL, E1000_TCTL_PSP);
    (void)e1000_read(e, E1000_STATUS); /* the writes have arrived */
    clock_delay_us(QUIET_US);
}

static int wait_for_nvm(struct e1000 *e)
{
    if (e->family->traits & E1000_PCIE && !(e->family->traits & E1000_PCH)) {
        if (!e1000_wait(e, E1000_EECD, E1000_EECD_AUTO_READ_DONE, E1000_EECD_AUTO_READ_DONE,
                        NVM_US))
            return -EIO;
        clock_delay_us(NVM_TO_PHY_US);
    }
    return 0;
}

int e1000_reset(struct e1000 *e)
{
    bool turn;

    stop_transfers(e);
    turn = e1000_take_turn(e);
    e1000_write(e, E1000_CTRL, e1000_read(e, E1000_CTRL) | E1000_CTRL_RST);
    clock_delay_us(RESET_US);
    if (e1000_read(e, E1000_CTRL) & E1000_CTRL_RST) /* of a device that is gone, too */
        return -EIO;
    if (turn)
        e1000_end_turn(e);
    e1000_write(e, E1000_IMC, UINT32_MAX);
    (void)e1000_read(e, E1000_ICR);
    return wait_for_nvm(e);
}

static bool read_mac(const struct e1000 *e, uint8_t mac[NET_MAC_BYTES])
{
    uint32_t low = e1000_read(e, E1000_RAL), high = e1000_read(e, E1000_RAH);

    for (unsigned i = 0; i < 4; i++)
        mac[i] = (uint8_t)(low >> i * 8);
    mac[4] = (uint8_t)high;
    mac[5] = (uint8_t)(high >> 8);
    return high & E1000_RAH_AV && net_mac_valid(mac);
}

static bool read_eeprom(struct e1000 *e, uint32_t word, uint16_t *value)
{
    uint32_t done = 1u << e->family->eeprom_done_bit;

    e1000_write(e, E1000_EERD, word << e->family->eeprom_shift | E1000_EERD_START);
    if (!e1000_wait(e, E1000_EERD, done, done, EEPROM_US))
        return false;
    *value = (uint16_t)(e1000_read(e, E1000_EERD) >> 16);
    return true;
}

/* SDM 5.6.1; 82574, "MAC Address": the first three words. */
static bool read_eeprom_mac(struct e1000 *e, uint8_t mac[NET_MAC_BYTES])
{
    for (unsigned i = 0; i < 3; i++) {
        uint16_t word;
        if (!e->family->eeprom_shift || !read_eeprom(e, i, &word))
            return false;
        mac[(size_t)2 * i] = (uint8_t)word;
        mac[(size_t)2 * i + 1] = (uint8_t)(word >> 8);
    }
    return net_mac_valid(mac);
}

void e1000_set_mac(struct e1000 *e, const uint8_t mac[NET_MAC_BYTES])
{
    uint32_t high = (uint32_t)mac[4] | (uint32_t)mac[5] << 8;

    e1000_write(e, E1000_RAL,
                (uint32_t)mac[0] | (uint32_t)mac[1] << 8 | (uint32_t)mac[2] << 16 |
                    (uint32_t)mac[3] << 24);
    e1000_write(e, E1000_RAH, high | E1000_RAH_AV);
}

int e1000_reset_and_read_mac(struct e1000 *e, uint8_t mac[NET_MAC_BYTES])
{
    bool found = read_mac(e, mac);
    int error = e1000_reset(e);

    if (error)
        return error;
    if (!found) /* the reset has made the device read its own memory */
        found = read_mac(e, mac) || read_eeprom_mac(e, mac);
    return found ? 0 : -EIO;
}

/* The 82574 can stop when its link goes to sleep: its specification update, errata of ASPM. */
static void keep_link_awake(const struct e1000 *e)
{
    uint8_t at = pci_capability(&e->pci, PCIE_CAPABILITY, 0), offset;
    uint16_t control;

    if (at == 0 || at > UINT8_MAX - PCIE_LINK_CONTROL)
        return;
    offset = (uint8_t)(at + PCIE_LINK_CONTROL);
    control = pci_read16(&e->pci, offset);
    pci_write16(&e->pci, offset, (uint16_t)(control & ~PCIE_LINK_ASPM));
}

static void prepare_82574(struct e1000 *e)
{
    keep_link_awake(e);
    e1000_change(e, E1000_GCR, 0, E1000_GCR_82574);
    e1000_change(e, E1000_GCR2, 0, E1000_GCR2_82574);
    e1000_change(e, E1000_CTRL, E1000_CTRL_BIT29, 0);
    e1000_change(e, E1000_CTRL_EXT, E1000_CTRL_EXT_BIT23, E1000_CTRL_EXT_BIT22);
    e1000_change(e, E1000_TARC0, E1000_TARC0_82574_CLEAR, E1000_TARC0_82574);
    e1000_change(e, E1000_TXDCTL, E1000_TXDCTL_WTHRESH_MASK | E1000_TXDCTL_PTHRESH_MASK,
                 E1000_TXDCTL_COUNT_DESC | E1000_DCTL_GRAN | E1000_TXDCTL_WTHRESH |
                     E1000_TXDCTL_PTHRESH);
    e1000_change(e, E1000_RFCTL, E1000_RFCTL_EXTEN, 0);
}

void e1000_prepare(struct e1000 *e)
{
    uint32_t clear = E1000_CTRL_MASTER_DISABLE | E1000_CTRL_LRST | E1000_CTRL_FRCSPD |
                     E1000_CTRL_FRCDPX | E1000_CTRL_RFCE | E1000_CTRL_TFCE | E1000_CTRL_VME |
                     E1000_CTRL_PHY_RST;

    if (e->family->traits & E1000_PCH) {
        e1000_pch_prepare(e);
    } else if (e->family->traits & E1000_PCIE) {
        prepare_82574(e);
    } else {
        e1000_change(e, E1000_MANC, E1000_MANC_ARP_EN, 0);
        e1000_write(e, E1000_TIPG, E1000_TIPG_8254X);
    }
    if (e->family->traits & E1000_PCIE)
        e1000_change(e, E1000_GCR, E1000_GCR_NO_SNOOP, 0);
    e1000_change(e, E1000_CTRL, clear,
                 E1000_CTRL_SLU | (e->family->traits & E1000_PCIE ? 0 : E1000_CTRL_ASDE));
    e1000_change(e, E1000_CTRL_EXT, 0, E1000_CTRL_EXT_DRV_LOAD);
    e1000_write(e, E1000_WUC, 0);
}
