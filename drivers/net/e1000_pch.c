/* I217, I218, I219: what the MAC in the chipset wants more than other controllers.
 *
 * Data sheets describe little of this; it follows Intel's own driver for Linux (e1000e: ich8lan.c,
 * netdev.c), which names the reasons that are given here.
 */
#include <errno.h>

#include "drivers/clock/clock.h"
#include "drivers/net/e1000.h"
#include "drivers/platform.h"

#define LOW_POWER_US 2500000
#define LANPHYPC_LOW_US 1000
#define LANPHYPC_DONE_US 100000
#define PHY_READY_US 50000
#define RING_US 250
#define DUMMY_BYTES 512

/* Reserved bits that the MAC needs to send and receive reliably; errata of the first I219. */
void e1000_pch_prepare(struct e1000 *e)
{
    uint32_t txdctl =
        E1000_TXDCTL_COUNT_DESC | E1000_DCTL_GRAN | E1000_TXDCTL_WTHRESH | E1000_TXDCTL_PTHRESH;
    bool first = e->family->traits & E1000_I219_FIRST;
    bool multiple = e1000_read(e, E1000_TCTL) & E1000_TCTL_MULR;

    e1000_change(e, E1000_KABGTXD, 0, E1000_KABGTXD_BGSQLBIAS);
    e1000_change(e, E1000_CTRL_EXT, 0,
                 E1000_CTRL_EXT_BIT22 | E1000_CTRL_EXT_PHYPDEN | E1000_CTRL_EXT_RO_DIS);
    e1000_change(e, E1000_TXDCTL, E1000_TXDCTL_WTHRESH_MASK | E1000_TXDCTL_PTHRESH_MASK, txdctl);
    e1000_change(e, E1000_TXDCTL1, E1000_TXDCTL_WTHRESH_MASK | E1000_TXDCTL_PTHRESH_MASK, txdctl);
    e1000_change(e, E1000_TARC0, first ? E1000_TARC0_REQUESTS_MASK : 0,
                 E1000_TARC0_PCH | (first ? E1000_TARC0_REQUESTS_2 : 0));
    e1000_change(e, E1000_TARC1, E1000_TARC1_BIT28,
                 E1000_TARC1_PCH | (multiple ? 0 : E1000_TARC1_BIT28));
    e1000_change(e, E1000_RFCTL, E1000_RFCTL_EXTEN, E1000_RFCTL_NFS_DIS);
    e1000_change(e, E1000_PBECCSTS, 0, E1000_PBECCSTS_ENABLE);
    e1000_change(e, E1000_CTRL, 0, E1000_CTRL_MEHE);
    if (first)
        e1000_change(e, E1000_IOSFPC, 0, E1000_IOSFPC_BIT16); /* else data are corrupted */
    if (e->family->traits & E1000_I219_LATE)
        e1000_change(e, E1000_FFLT_DBG, 0, E1000_FFLT_DBG_DONT_GATE);
}

/* A PHY without a cable may be in ultra low power, and does not answer then; firmware, where there
 * is one, takes it out of that.
 */
void e1000_pch_leave_low_power(struct e1000 *e)
{
    if (!(e1000_read(e, E1000_FWSM) & E1000_FWSM_FW_VALID))
        return;
    if (!e1000_wait(e, E1000_FWSM, E1000_FWSM_ULP_CFG_DONE, 0, LOW_POWER_US))
        platform_log("network card: the PHY stays in ultra low power");
}

/* The MAC takes the PHY's power for a moment, after which it is in its ordinary mode; the MAC
 * leaves the mode for firmware, too.
 */
int e1000_pch_power_phy(struct e1000 *e)
{
    if (!(e1000_read(e, E1000_FWSM) & E1000_FWSM_RSPCIPHY)) {
        platform_log("network card: the PHY does not answer, and firmware forbids its reset");
        return -EIO;
    }
    e1000_change(e, E1000_CTRL, E1000_CTRL_LANPHYPC_VALUE, E1000_CTRL_LANPHYPC_OVERRIDE);
    (void)e1000_read(e, E1000_STATUS);
    clock_delay_us(LANPHYPC_LOW_US);
    e1000_change(e, E1000_CTRL, E1000_CTRL_LANPHYPC_OVERRIDE, 0);
    (void)e1000_wait(e, E1000_CTRL_EXT, E1000_CTRL_EXT_LPCD, E1000_CTRL_EXT_LPCD, LANPHYPC_DONE_US);
    clock_delay_us(PHY_READY_US);
    e1000_change(e, E1000_CTRL_EXT, E1000_CTRL_EXT_FORCE_SMBUS, 0);
    return 0;
}

static bool must_be_emptied(struct e1000 *e)
{
    return pci_read16(&e->pci, E1000_PCI_RING_STATUS) & E1000_PCI_FLUSH_REQUIRED &&
           e1000_read(e, E1000_TDLEN) != 0;
}

/* One more descriptor, of no frame: reading it makes the device forget those that it has fetched.
 */
static void empty_transmit_ring(struct e1000 *e)
{
    unsigned at = e1000_read(e, E1000_TDT) % E1000_DESCRIPTORS;

    e1000_change(e, E1000_TCTL, 0, E1000_TCTL_EN);
    e->transmits[at] = (struct e1000_transmit){.address = platform_physical_address(e->transmits),
                                               .bytes = DUMMY_BYTES,
                                               .command = E1000_TRANSMIT_CHECKSUM};
    __atomic_thread_fence(__ATOMIC_RELEASE);
    e1000_write(e, E1000_TDT, (at + 1) % E1000_DESCRIPTORS);
    clock_delay_us(RING_US);
}

/* Thresholds take effect when the receiver is switched on, for a moment. */
static void empty_receive_ring(struct e1000 *e)
{
    uint32_t rctl = e1000_read(e, E1000_RCTL) & ~E1000_RCTL_EN;

    e1000_write(e, E1000_RCTL, rctl);
    clock_delay_us(RING_US);
    e1000_change(e, E1000_RXDCTL, E1000_RXDCTL_THRESH_MASK,
                 E1000_RXDCTL_PTHRESH | E1000_RXDCTL_HTHRESH | E1000_DCTL_GRAN);
    e1000_write(e, E1000_RCTL, rctl | E1000_RCTL_EN);
    (void)e1000_read(e, E1000_STATUS);
    clock_delay_us(RING_US);
    e1000_write(e, E1000_RCTL, rctl);
}

/* An I219 that is reset with descriptors in its rings hangs until the bus is reset. */
void e1000_pch_empty_rings(struct e1000 *e)
{
    if (!(e->family->traits & E1000_I219))
        return;
    e1000_change(e, E1000_FEXTNVM11, 0, E1000_FEXTNVM11_DISABLE_MULR_FIX);
    if (must_be_emptied(e))
        empty_transmit_ring(e);
    if (must_be_emptied(e)) /* still: it is the other one */
        empty_receive_ring(e);
}
