/* One of Intel's gigabit controllers on the fake PCI bus, with knobs for strange behaviour.  Time
 * is the fake's own: it passes in delays.
 */
#ifndef TESTS_UNIT_DRIVERS_NET_FAKE_E1000_H
#define TESTS_UNIT_DRIVERS_NET_FAKE_E1000_H

#include "tests/unit/drivers/fake_mmio.h"
#include "tests/unit/drivers/fake_pci.h"
#include "tests/unit/drivers/fake_platform.h"
#include "tests/unit/drivers/net/fake_cut.h"

#include "drivers/clock/clock.h"
#include "drivers/net/e1000.h"

#define FAKE_LOG 4096

struct fake_write {
    uint32_t offset, value;
};

static struct {
    uint32_t registers[E1000_REGISTER_BYTES / 4];
    uint16_t phy[32];
    uint8_t phy_address;
    uint16_t eeprom[3];
    bool has_eeprom, small_eeprom;
    uint8_t nvm_mac[6]; /* in RAL and RAH after a reset, unless 0 */
    uint64_t now_us, silent_until_us;
    bool gone; /* not on the bus any more */
    bool mad; /* registers read as anything */
    struct test_random random;
    bool never_resets, never_quiet, turn_refused;
    bool phy_asleep; /* until its power is switched off and on */
    bool phy_error;
    bool sends;
    bool flush_done_by_transmit; /* what the I219's ring status waits for */
    unsigned resets, phy_powered, phy_restarts, flush_sent;
    void (*wire)(const uint8_t *frame, size_t bytes); /* is given all that is sent */
    uint8_t sent[2048]; /* the last frame */
    size_t sent_bytes;
    uint64_t sent_count;
    struct e1000_context context; /* what data descriptors mean */
    uint8_t large[NET_LARGE_MAX]; /* a frame to be cut, so far */
    size_t large_bytes;
    struct fake_write log[FAKE_LOG];
    unsigned log_count;
} fake;

static struct fake_function *fake_function;

static uint32_t *fake_register(uint32_t offset)
{
    return &fake.registers[offset / 4];
}

static void fake_reset(void)
{
    uint32_t extcnf = *fake_register(E1000_EXTCNF_CTRL), fwsm = *fake_register(E1000_FWSM);
    uint32_t status = *fake_register(E1000_STATUS);

    fake.resets++;
    memset(fake.registers, 0, sizeof fake.registers);
    *fake_register(E1000_STATUS) = status | E1000_STATUS_MASTER_ENABLE;
    *fake_register(E1000_EXTCNF_CTRL) = extcnf & ~E1000_EXTCNF_CTRL_OWNED;
    *fake_register(E1000_FWSM) = fwsm;
    *fake_register(E1000_EECD) = E1000_EECD_AUTO_READ_DONE;
    *fake_register(E1000_TCTL) = E1000_TCTL_MULR | 1u << 29;
    *fake_register(E1000_RFCTL) = E1000_RFCTL_EXTEN; /* as some firmware leaves it */
    *fake_register(E1000_GCR) = E1000_GCR_NO_SNOOP | 1u << 9;
    *fake_register(E1000_CTRL_EXT) = E1000_CTRL_EXT_FORCE_SMBUS;
    if (fake.never_resets)
        *fake_register(E1000_CTRL) = E1000_CTRL_RST;
    memcpy(fake_register(E1000_RAL), fake.nvm_mac, 4);
    memcpy(fake_register(E1000_RAH), fake.nvm_mac + 4, 2);
    if (fake.nvm_mac[5])
        *fake_register(E1000_RAH) |= E1000_RAH_AV;
    fake.silent_until_us = fake.now_us + 20000;
}

static void fake_ctrl(uint32_t value)
{
    bool was_low = *fake_register(E1000_CTRL) & E1000_CTRL_LANPHYPC_OVERRIDE;

    *fake_register(E1000_CTRL) = value;
    if (value & E1000_CTRL_MASTER_DISABLE && !fake.never_quiet)
        *fake_register(E1000_STATUS) &= ~E1000_STATUS_MASTER_ENABLE;
    if (was_low && !(value & E1000_CTRL_LANPHYPC_OVERRIDE)) {
        fake.phy_powered++;
        fake.phy_asleep = false;
        *fake_register(E1000_CTRL_EXT) |= E1000_CTRL_EXT_LPCD;
    }
    if (value & E1000_CTRL_RST)
        fake_reset();
}

static void fake_mdic(uint32_t value)
{
    unsigned number = value >> 16 & 31;

    if ((value >> 21 & 31) != fake.phy_address || fake.phy_error) {
        *fake_register(E1000_MDIC) = value | E1000_MDIC_READY | E1000_MDIC_ERROR;
        return;
    }
    if (fake.phy_asleep) /* never ready */
        return;
    if (value & E1000_MDIC_WRITE) {
        fake.phy[number] = (uint16_t)value;
        fake.phy_restarts += number == 0 && value & E1000_PHY_CONTROL_RESTART;
        value &= 0xffff0000;
    } else {
        value = (value & 0xffff0000) | fake.phy[number];
    }
    *fake_register(E1000_MDIC) = value | E1000_MDIC_READY;
}

static void fake_eerd(uint32_t value)
{
    uint32_t done = fake.small_eeprom ? 1u << 4 : 1u << 1;
    unsigned word = value >> (fake.small_eeprom ? 8 : 2) & 255;

    assert_true(value & 1);
    assert_in_range(word, 0, 2);
    *fake_register(E1000_EERD) = fake.has_eeprom ? (uint32_t)fake.eeprom[word] << 16 | done : 0;
}

static struct e1000_transmit *fake_transmits(void)
{
    uint64_t ring = *fake_register(E1000_TDBAL) | (uint64_t)*fake_register(E1000_TDBAH) << 32;
    return (struct e1000_transmit *)(uintptr_t)ring;
}

static void fake_send(const uint8_t *frame, size_t bytes)
{
    memcpy(fake.sent, frame, bytes);
    fake.sent_bytes = bytes;
    fake.sent_count++;
    if (fake.wire)
        fake.wire(frame, bytes);
}

static void fake_cut_large(void)
{
    const struct e1000_context *c = &fake.context;
    struct fake_cut cut = {.ip = c->ip_start,
                           .tcp = c->tcp_start,
                           .header_bytes = c->header_bytes,
                           .segment = c->segment};

    assert_int_equal(c->payload_and_command & 0xfffff, fake.large_bytes - c->header_bytes);
    assert_int_equal(c->payload_and_command >> 24, 0x27); /* extended, cut, IPv4, TCP */
    assert_int_equal(c->ip_checksum, cut.ip + 10);
    assert_int_equal(c->ip_last, cut.tcp - 1);
    assert_int_equal(c->tcp_checksum, cut.tcp + 16);
    assert_int_equal(c->tcp_last, 0);
    assert_int_equal(fake.large[cut.ip + 2] | fake.large[cut.ip + 3], 0);
    assert_int_equal(fake.large[cut.ip + 10] | fake.large[cut.ip + 11], 0);
    fake_cut(fake.large, fake.large_bytes, &cut, fake_send);
    fake.large_bytes = 0;
}

/* A descriptor that is not a legacy one: only the last of a frame is reported. */
static void fake_extended(struct e1000_transmit *t)
{
    assert_int_equal(t->status, 0);
    if (!(t->checksum_offset >> 4)) {
        assert_int_equal(fake.large_bytes, 0);
        memcpy(&fake.context, t, sizeof fake.context);
        return;
    }
    assert_int_equal(t->checksum_offset, 0x10);
    assert_int_equal(t->command & 0xf6, 0x26); /* extended, cut, checksum */
    assert_int_equal(t->checksum_start, 3);
    assert_in_range(t->bytes, 1, sizeof fake.large - fake.large_bytes);
    memcpy(fake.large + fake.large_bytes, (const void *)(uintptr_t)t->address, t->bytes);
    fake.large_bytes += t->bytes;
    if (!(t->command & E1000_TRANSMIT_END))
        return;
    assert_true(t->command & E1000_TRANSMIT_REPORT);
    fake_cut_large();
    t->status = 1;
}

/* Sends all that is between head and tail. */
static void fake_run(void)
{
    while (fake.sends && *fake_register(E1000_TCTL) & E1000_TCTL_EN &&
           *fake_register(E1000_TDH) != *fake_register(E1000_TDT)) {
        struct e1000_transmit *t = &fake_transmits()[*fake_register(E1000_TDH)];
        *fake_register(E1000_TDH) = (*fake_register(E1000_TDH) + 1) % 256;
        if (t->command & E1000_TRANSMIT_EXTENDED) {
            fake_extended(t);
            continue;
        }
        if (!(t->command & E1000_TRANSMIT_END)) { /* the dummy that empties the ring */
            fake.flush_sent++;
            if (fake.flush_done_by_transmit)
                fake_function->config[E1000_PCI_RING_STATUS / 4] = 0;
            continue;
        }
        assert_int_equal(t->command, 0x0b); /* end, checksum, report */
        assert_in_range(t->bytes, 60, NET_FRAME_MAX);
        assert_int_equal(t->status, 0);
        fake_send((const void *)(uintptr_t)t->address, t->bytes);
        t->status = 1;
    }
}

static uint32_t fake_offset(const volatile void *at)
{
    size_t offset = (size_t)((const volatile uint8_t *)at - (uint8_t *)fake.registers);

    assert_in_range(offset, 0, sizeof fake.registers - 4);
    assert_int_equal(offset % 4, 0);
    assert_true(fake.gone || fake.mad || fake.now_us >= fake.silent_until_us); /* not in a reset */
    return (uint32_t)offset;
}

uint32_t mmio_read32(const volatile void *at)
{
    uint32_t offset = fake_offset(at);

    if (fake.mad)
        return (uint32_t)test_random_next(&fake.random);
    return fake.gone ? UINT32_MAX : *fake_register(offset);
}

void mmio_write32(volatile void *at, uint32_t value)
{
    uint32_t offset = fake_offset(at);

    if (fake.gone)
        return;
    if (fake.log_count < FAKE_LOG)
        fake.log[fake.log_count++] = (struct fake_write){offset, value};
    switch (offset) {
    case E1000_CTRL:
        fake_ctrl(value);
        break;
    case E1000_MDIC:
        fake_mdic(value);
        break;
    case E1000_EERD:
        fake_eerd(value);
        break;
    case E1000_EXTCNF_CTRL:
        *fake_register(offset) = fake.turn_refused ? value & ~E1000_EXTCNF_CTRL_OWNED : value;
        break;
    default:
        *fake_register(offset) = value;
    }
    if (offset == E1000_TDT)
        fake_run();
}

volatile void *platform_map_device(uint64_t physical, size_t bytes)
{
    assert_int_equal(physical, fake_function->config[4] & ~15u);
    assert_int_equal(bytes, sizeof fake.registers);
    return fake.registers;
}

void clock_delay_us(uint64_t us)
{
    fake.now_us += us;
}

uint64_t clock_us(void)
{
    return fake.now_us;
}

static void fake_set_mac(const uint8_t *mac)
{
    uint32_t low = 0, high = 0;

    memcpy(&low, mac, 4);
    memcpy(&high, mac + 4, 2);
    *fake_register(E1000_RAL) = low;
    *fake_register(E1000_RAH) = high | E1000_RAH_AV;
}

/* A controller with this id, as the firmware leaves it: with a link. */
static void fake_create_card(uint16_t device_id, uint8_t phy_address)
{
    memset(&fake, 0, sizeof fake);
    memset(fake_functions, 0, sizeof fake_functions);
    fake.phy_address = phy_address;
    fake.phy[0] = 0x1140;
    fake.phy[1] = 0x796d;
    fake.phy[2] = 0x0154;
    fake.now_us = 1;
    fake.sends = true;
    fake_platform_reset();
    *fake_register(E1000_STATUS) = 0x80080 | 3;
    *fake_register(E1000_FWSM) = E1000_FWSM_RSPCIPHY;
    *fake_register(E1000_RCTL) = 2; /* the firmware's driver still receives */
    fake_function = fake_add(25, 0, (uint32_t)device_id << 16 | 0x8086);
    fake_function->bar_mask[0] = 0xfffe0000;
    fake_function->config[4] = 0xf7c00000;
}

#endif
