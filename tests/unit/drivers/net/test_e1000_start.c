/* Intel's gigabit controllers against a fake: what is written when, by family; addresses; the PHY;
 * close.
 */
#include "tests/unit/drivers/net/fake_e1000.h"

#include "drivers/pci/pci.c"
#include "drivers/pci/pci_bars.c"

#include "drivers/net/e1000.c"
#include "drivers/net/e1000_cards.c"
#include "drivers/net/e1000_large.c"
#include "drivers/net/e1000_pch.c"
#include "drivers/net/e1000_phy.c"
#include "drivers/net/e1000_reset.c"

static const uint8_t mac[] = {0x52, 0x54, 0, 0x12, 0x34, 0x56};
static struct pci_device pci;
static struct net_device net;

static const struct net_driver *driver_for(uint16_t device_id)
{
    const struct net_driver *found = NULL;

    for (unsigned i = 0; i < NET_E1000_FAMILIES; i++)
        for (size_t id = 0; id < e1000_drivers[i].device_id_count; id++)
            if (e1000_drivers[i].device_ids[id] == device_id) {
                assert_null(found); /* one driver each */
                found = &e1000_drivers[i];
            }
    assert_non_null(found);
    return found;
}

/* A card with the address that the firmware gave it. */
static void card(uint16_t device_id)
{
    bool pch = device_id != 0x100e && device_id != 0x100f && device_id != 0x10d3;

    fake_destroy(NULL);
    fake_create_card(device_id, pch ? 2 : 1);
    fake_set_mac(mac);
    fake.small_eeprom = device_id == 0x100e;
    pci = (struct pci_device){0};
    assert_true(pci_next(&pci));
    net = (struct net_device){.driver = driver_for(device_id)};
}

static int open_card(void)
{
    return net.driver->open(&net, &pci);
}

/* Where a write of `value` (under `mask`) to `offset` is in the log, from `from` on. */
static unsigned written(unsigned from, uint32_t offset, uint32_t mask, uint32_t value)
{
    for (unsigned i = from; i < fake.log_count; i++)
        if (fake.log[i].offset == offset && (fake.log[i].value & mask) == value)
            return i;
    fail_msg("%08x is not written to %05x", value, offset);
    return 0;
}

static void device_is_quiet_before_its_reset(void **state)
{
    (void)state;
    card(0x10d3);
    assert_int_equal(open_card(), 0);
    unsigned at = written(0, E1000_IMC, UINT32_MAX, UINT32_MAX);
    at = written(at, E1000_CTRL, E1000_CTRL_MASTER_DISABLE, E1000_CTRL_MASTER_DISABLE);
    at = written(at, E1000_RCTL, UINT32_MAX, 0);
    at = written(at, E1000_TCTL, UINT32_MAX, E1000_TCTL_PSP);
    at = written(at, E1000_EXTCNF_CTRL, 0x20, 0x20);
    at = written(at, E1000_CTRL, E1000_CTRL_RST, E1000_CTRL_RST);
    unsigned again = written(at, E1000_IMC, UINT32_MAX, UINT32_MAX);
    assert_int_equal(*fake_register(E1000_EXTCNF_CTRL) & 0x20, 0);
    assert_int_equal(*fake_register(E1000_CTRL) & 0xd800180c, 0);
    for (unsigned i = 0; i < at; i++) /* no ring before the reset */
        assert_true(fake.log[i].offset != E1000_RDBAL && fake.log[i].offset != E1000_TDBAL);
    unsigned rctl = written(again, E1000_RCTL, 2, 2);
    assert_int_equal(fake.log[rctl].value, 0x04008002);
    assert_int_equal(written(rctl, E1000_RDT, 0xffff, 255), rctl + 1);
    assert_true(written(again, E1000_RDLEN, UINT32_MAX, 4096) < rctl);
    assert_true(written(again, E1000_TDLEN, UINT32_MAX, 4096) < written(again, E1000_TCTL, 2, 2));
    assert_int_equal(fake.resets, 1);
    assert_int_equal(*fake_register(E1000_CTRL_EXT) >> 28 & 1, 1); /* a driver is there */
    assert_int_equal(fake_function->config[1] & 0xffff, 0x406);
}

static void each_family_gets_what_it_wants(void **state)
{
    (void)state;
    card(0x100e);
    assert_int_equal(open_card(), 0);
    assert_int_equal(*fake_register(E1000_TIPG), 0x0060200a);
    assert_int_equal(*fake_register(E1000_TCTL), 0x0003f0fa);
    assert_int_equal(*fake_register(E1000_CTRL), 0x60); /* up, speed from the PHY */
    assert_int_equal(*fake_register(E1000_EXTCNF_CTRL), 0); /* not one of its registers */
    card(0x10d3);
    assert_int_equal(open_card(), 0);
    assert_int_equal(*fake_register(E1000_TXDCTL), 0x0141001f);
    assert_int_equal(*fake_register(E1000_TARC0), 1u << 26);
    assert_int_equal(*fake_register(E1000_RFCTL), 0);
    /* all is snooped; the rest as it was, but for errata */
    assert_int_equal(*fake_register(E1000_GCR), 1u << 9 | 1u << 22);
    assert_int_equal(*fake_register(E1000_GCR2), 1);
    assert_int_equal(*fake_register(E1000_CTRL), 0x40);
    assert_int_equal(*fake_register(E1000_TCTL), 0x3103f0fa); /* requests as the reset left them */
    card(0x153a);
    assert_int_equal(open_card(), 0);
    assert_int_equal(*fake_register(E1000_TARC0), 0x0d800000);
    assert_int_equal(*fake_register(E1000_TARC1), 0x45000000);
    assert_int_equal(*fake_register(E1000_RFCTL), 0xc0);
    assert_int_equal(*fake_register(E1000_IOSFPC), 0);
    card(0x15b8);
    assert_int_equal(open_card(), 0);
    assert_int_equal(*fake_register(E1000_TARC0), 0x2d800000);
    assert_int_equal(*fake_register(E1000_IOSFPC), 0x10000);
    assert_int_equal(*fake_register(E1000_FFLT_DBG), 0);
    card(0x15bd);
    assert_int_equal(open_card(), 0);
    assert_int_equal(*fake_register(E1000_IOSFPC), 0);
    card(0x1a1c);
    assert_int_equal(open_card(), 0);
    assert_int_equal(*fake_register(E1000_FFLT_DBG), 0x1000);
}

static void address_of_the_firmware_goes_before_the_device_s_own(void **state)
{
    static const uint8_t own[] = {0x00, 0x1b, 0x21, 1, 2, 3};

    (void)state;
    card(0x10d3);
    memcpy(fake.nvm_mac, own, sizeof own);
    assert_int_equal(open_card(), 0);
    assert_memory_equal(net.mac, mac, 6);
    assert_memory_equal(fake_register(E1000_RAL), mac, 6);
    assert_int_equal(*fake_register(E1000_RAH) >> 31, 1);
    card(0x10d3);
    memcpy(fake.nvm_mac, own, sizeof own);
    *fake_register(E1000_RAH) &= 0xffff; /* not valid */
    assert_int_equal(open_card(), 0);
    assert_memory_equal(net.mac, own, 6);
}

static void address_comes_from_the_eeprom_at_last(void **state)
{
    static const uint16_t ids[] = {0x100e, 0x10d3, 0x15b7};
    static const uint8_t own[] = {0x00, 0x1b, 0x21, 1, 2, 3};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        card(ids[i]);
        *fake_register(E1000_RAL) = *fake_register(E1000_RAH) = 0;
        memcpy(fake.eeprom, own, 6);
        fake.has_eeprom = true;
        assert_int_equal(open_card(), i < 2 ? 0 : -EIO); /* a PCH has none */
        if (i < 2)
            assert_memory_equal(net.mac, own, 6);
        card(ids[i]);
        *fake_register(E1000_RAL) = *fake_register(E1000_RAH) = 0;
        assert_int_equal(open_card(), -EIO); /* nobody knows one */
        assert_int_equal(fake_function->config[1] & 4, 0);
        card(ids[i]);
        fake_set_mac((const uint8_t[]){1, 0, 0x5e, 0, 0, 1}); /* a group's */
        assert_int_equal(open_card(), -EIO);
    }
}

static void link_that_is_up_is_kept(void **state)
{
    (void)state;
    card(0x10d3);
    assert_int_equal(open_card(), 0);
    assert_int_equal(fake.phy_restarts, 0);
    card(0x10d3);
    fake.phy[1] &= ~4u;
    assert_int_equal(open_card(), 0);
    assert_int_equal(fake.phy_restarts, 1);
    assert_int_equal(fake.phy[0] & 0x1200, 0x1200);
    card(0x10d3);
    fake.phy[0] = 0x0c00; /* powered down and cut off */
    assert_int_equal(open_card(), 0);
    assert_int_equal(fake.phy[0], 0x1200);
    card(0x10d3);
    fake.phy_error = true;
    assert_int_equal(open_card(), -EIO);
    assert_int_equal(fake_function->config[1] & 4, 0);
}

static void firmware_that_holds_the_phy_is_left_alone(void **state)
{
    (void)state;
    card(0x15b7);
    fake.turn_refused = true;
    assert_int_equal(open_card(), 0);
    assert_int_equal(fake.phy_restarts, 0);
    assert_int_equal(fake.resets, 1); /* the MAC is ours */
    assert_true(fake_platform.logged > 0);
    for (unsigned i = 0; i < fake.log_count; i++)
        assert_int_not_equal(fake.log[i].offset, E1000_MDIC);
}

static void phy_that_sleeps_is_woken(void **state)
{
    (void)state;
    card(0x15b7);
    fake.phy_asleep = true;
    assert_int_equal(open_card(), 0);
    assert_int_equal(fake.phy_powered, 1);
    assert_int_equal(*fake_register(E1000_CTRL_EXT) & E1000_CTRL_EXT_FORCE_SMBUS, 0);
    assert_int_equal(*fake_register(E1000_CTRL) & E1000_CTRL_LANPHYPC_OVERRIDE, 0);
    card(0x15b7);
    fake.phy_asleep = true;
    *fake_register(E1000_FWSM) = 0; /* forbidden */
    assert_int_equal(open_card(), -EIO);
    assert_int_equal(fake.phy_powered, 0);
    assert_int_equal(*fake_register(E1000_EXTCNF_CTRL) & 0x20, 0); /* the turn was given back */
    card(0x15b7);
    *fake_register(E1000_FWSM) |= E1000_FWSM_FW_VALID | E1000_FWSM_ULP_CFG_DONE;
    uint64_t start = fake.now_us;
    assert_int_equal(open_card(), 0);
    assert_in_range(fake.now_us - start, LOW_POWER_US,
                    2 * LOW_POWER_US); /* time, but not for ever */
}

static void device_that_does_not_answer_is_refused(void **state)
{
    (void)state;
    card(0x10d3);
    fake.gone = true;
    assert_int_equal(open_card(), -EIO);
    card(0x10d3);
    fake.never_resets = true;
    assert_int_equal(open_card(), -EIO);
    assert_int_equal(fake_function->config[1] & 4, 0);
    card(0x10d3);
    fake_function->bar_mask[0] = 0xffff0000; /* too few registers */
    assert_int_equal(open_card(), -EIO);
    card(0x10d3);
    fake.never_quiet = true; /* is reset all the same */
    assert_int_equal(open_card(), 0);
    assert_int_equal(fake_platform.logged, 1);
}

static void sleeping_device_is_woken_with_its_addresses(void **state)
{
    (void)state;
    card(0x10d3);
    fake_put8(fake_function, 6, 0x10);
    fake_put8(fake_function, 0x34, 0xc8);
    fake_put8(fake_function, 0xc8, 1);
    fake_put8(fake_function, 0xcc, 3); /* D3 */
    assert_int_equal(open_card(), 0);
    assert_int_equal(fake_function->config[0xcc / 4], 0);
    assert_int_equal(fake_function->config[4], 0xf7c00000);
    assert_int_equal(fake_function->config[1] & 0xffff, 0x406);
}

static void the_82574_s_link_stays_awake(void **state)
{
    (void)state;
    card(0x10d3);
    fake_put8(fake_function, 6, 0x10);
    fake_put8(fake_function, 0x34, 0xe0);
    fake_put8(fake_function, 0xe0, 0x10);
    fake_put8(fake_function, 0xf0, 0x43); /* L0s and L1 */
    assert_int_equal(open_card(), 0);
    assert_int_equal(fake_function->config[0xf0 / 4] & 0xff, 0x40);
}

static void close_resets_and_stops_mastering(void **state)
{
    static const uint16_t ids[] = {0x100e, 0x10d3, 0x153a, 0x15b7, 0x15bd, 0x0dc7};

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        card(ids[i]);
        assert_int_equal(open_card(), 0);
        net.driver->close(&net);
        assert_int_equal(fake.resets, 2);
        assert_int_equal(*fake_register(E1000_RCTL), 0);
        assert_int_equal(*fake_register(E1000_RDBAL) | *fake_register(E1000_TDBAL), 0);
        assert_int_equal(*fake_register(E1000_CTRL_EXT) >> 28 & 1, 0);
        assert_int_equal(fake_function->config[1] & 4, 0);
        assert_int_equal(fake.flush_sent, 0); /* the device did not ask for it */
    }
}

/* An I219 says that its rings must be emptied: by one more descriptor, or the receiver's
 * thresholds. */
static void rings_of_an_i219_are_emptied(void **state)
{
    for (unsigned by_transmit = 0; by_transmit < 2; by_transmit++) {
        card(0x15b7);
        assert_int_equal(open_card(), 0);
        fake_function->config[E1000_PCI_RING_STATUS / 4] = E1000_PCI_FLUSH_REQUIRED;
        fake.flush_done_by_transmit = by_transmit;
        fake.log_count = 0;
        net.driver->close(&net);
        unsigned fix = written(0, E1000_FEXTNVM11, 1u << 13, 1u << 13);
        unsigned reset = written(0, E1000_CTRL, E1000_CTRL_RST, E1000_CTRL_RST);
        assert_int_equal(fake.flush_sent, 1);
        assert_true(fix < written(0, E1000_TDT, 0xff, 1) && fix < reset);
        bool thresholds = false;
        for (unsigned i = 0; i < reset; i++)
            thresholds |= fake.log[i].offset == E1000_RXDCTL && fake.log[i].value == 0x0100011f;
        assert_int_equal(thresholds, !by_transmit);
    }
    card(0x153a); /* an I217 does not know of it */
    assert_int_equal(open_card(), 0);
    fake_function->config[E1000_PCI_RING_STATUS / 4] = E1000_PCI_FLUSH_REQUIRED;
    net.driver->close(&net);
    assert_int_equal(fake.flush_sent, 0);
    fake_destroy(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_is_quiet_before_its_reset),
        cmocka_unit_test(each_family_gets_what_it_wants),
        cmocka_unit_test(address_of_the_firmware_goes_before_the_device_s_own),
        cmocka_unit_test(address_comes_from_the_eeprom_at_last),
        cmocka_unit_test(link_that_is_up_is_kept),
        cmocka_unit_test(firmware_that_holds_the_phy_is_left_alone),
        cmocka_unit_test(phy_that_sleeps_is_woken),
        cmocka_unit_test(device_that_does_not_answer_is_refused),
        cmocka_unit_test(sleeping_device_is_woken_with_its_addresses),
        cmocka_unit_test(the_82574_s_link_stays_awake),
        cmocka_unit_test(close_resets_and_stops_mastering),
        cmocka_unit_test(rings_of_an_i219_are_emptied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
