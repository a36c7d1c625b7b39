/* Intel's gigabit controllers: the PHY, through the MAC's management interface. */
#include <errno.h>

#include "drivers/clock/clock.h"
#include "drivers/net/e1000.h"
#include "drivers/platform.h"

#define TURN_US 100000
#define TURN_POLL_US 1000
#define MDIC_US 10000

bool e1000_take_turn(struct e1000 *e)
{
    if (!(e->family->traits & E1000_SHARED_PHY))
        return true;
    for (unsigned waited = 0; waited < TURN_US; waited += TURN_POLL_US) {
        uint32_t control = e1000_read(e, E1000_EXTCNF_CTRL);
        if (!(control & E1000_EXTCNF_CTRL_OWNED)) {
            e1000_write(e, E1000_EXTCNF_CTRL, control | E1000_EXTCNF_CTRL_OWNED);
            if (e1000_read(e, E1000_EXTCNF_CTRL) & E1000_EXTCNF_CTRL_OWNED)
                return true;
        }
        clock_delay_us(TURN_POLL_US);
    }
    platform_log("network card: management firmware holds the PHY");
    return false;
}

void e1000_end_turn(struct e1000 *e)
{
    if (e->family->traits & E1000_SHARED_PHY)
        e1000_change(e, E1000_EXTCNF_CTRL, E1000_EXTCNF_CTRL_OWNED, 0);
}

static int e1000_phy_transfer(struct e1000 *e, uint32_t command, unsigned number)
{
    e1000_write(e, E1000_MDIC,
                command | number << E1000_MDIC_REGISTER_SHIFT |
                    (uint32_t)e->family->phy_address << E1000_MDIC_PHY_SHIFT);
    if (!e1000_wait(e, E1000_MDIC, E1000_MDIC_READY, E1000_MDIC_READY, MDIC_US))
        return -EIO;
    return e1000_read(e, E1000_MDIC) & E1000_MDIC_ERROR ? -EIO : 0;
}

static int phy_read(struct e1000 *e, unsigned number, uint16_t *value)
{
    int error = e1000_phy_transfer(e, E1000_MDIC_READ, number);

    if (!error)
        *value = (uint16_t)e1000_read(e, E1000_MDIC);
    return error;
}

static int phy_write(struct e1000 *e, unsigned number, uint16_t value)
{
    return e1000_phy_transfer(e, E1000_MDIC_WRITE | value, number);
}

static bool phy_answers(struct e1000 *e)
{
    uint16_t id;

    return phy_read(e, E1000_PHY_ID, &id) == 0 && id != 0 && id != 0xffff;
}

/* Keeps a link that is up: to negotiate again would take seconds. */
static int negotiate(struct e1000 *e)
{
    uint16_t control, status;
    uint16_t stopped = E1000_PHY_CONTROL_ISOLATE | E1000_PHY_CONTROL_POWER_DOWN;
    int error = phy_read(e, E1000_PHY_CONTROL, &control);

    if (!error)
        error = phy_read(e, E1000_PHY_STATUS, &status); /* what was latched */
    if (!error)
        error = phy_read(e, E1000_PHY_STATUS, &status);
    if (error)
        return error;
    if (status & E1000_PHY_STATUS_LINK && control & E1000_PHY_CONTROL_NEGOTIATE &&
        !(control & stopped))
        return 0;
    control =
        (uint16_t)((control & ~stopped) | E1000_PHY_CONTROL_NEGOTIATE | E1000_PHY_CONTROL_RESTART);
    return phy_write(e, E1000_PHY_CONTROL, control);
}

int e1000_start_phy(struct e1000 *e)
{
    bool pch = e->family->traits & E1000_PCH;
    int error = 0;

    if (pch)
        e1000_pch_leave_low_power(e);
    if (!e1000_take_turn(e))
        return 0; /* firmware that holds it has configured it: the link says more */
    if (pch && !phy_answers(e))
        error = e1000_pch_power_phy(e);
    if (!error)
        error = negotiate(e);
    e1000_end_turn(e);
    return error;
}
