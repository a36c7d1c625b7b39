/* PCI against a fake configuration space: search, BAR assignment, capabilities, MSI-X. */
#include "tests/unit/drivers/fake_mmio.h"
#include "tests/unit/drivers/fake_pci.h"

#include "drivers/pci/pci.c"
#include "drivers/pci/pci_bars.c"

static uint32_t msix_table[8];
static uint64_t mapped;

volatile void *platform_map_device(uint64_t physical, size_t bytes)
{
    assert_int_equal(bytes, 16);
    mapped = physical;
    return msix_table;
}

static uint64_t delayed_us;

void clock_delay_us(uint64_t us)
{
    delayed_us += us;
}

void mmio_write32(volatile void *at, uint32_t value)
{
    *(volatile uint32_t *)at = value;
}

/* A host bridge, the device under test, and a function that the firmware gave an address. */
static int reset_fake(void **state)
{
    (void)state;
    memset(fake_functions, 0, sizeof fake_functions);
    memset(msix_table, 0xee, sizeof msix_table);
    mapped = 0;
    fake_add(0, 0, 0x29c08086);
    return 0;
}

static const uint16_t ids[] = {0x1043, 0x1003};

static struct fake_function *add_device(struct pci_device *device)
{
    struct fake_function *f = fake_add(3, 0, 0x10031af4);

    f->bar_mask[0] = 0xffffffc0; /* I/O, 64 ports */
    f->config[4] = 1;
    f->bar_mask[1] = 0xfffff000; /* 4 KiB, 32-bit */
    f->bar_mask[4] = 0xffffc000; /* 16 KiB, 64-bit, prefetchable */
    f->config[8] = 0xc;
    f->bar_mask[5] = 0xffffffff;
    *device = (struct pci_device){.slot = 3, .vendor_id = 0x1af4, .device_id = 0x1003};
    return f;
}

static void finds_devices_and_functions(void **state)
{
    struct pci_device device;

    (void)state;
    assert_int_equal(pci_find(0x1af4, ids, 2, &device), -ENODEV);
    fake_put8(fake_add(31, 0, 0x29188086), 0x0e, 0x80); /* of several functions */
    fake_add(31, 5, 0x10431af4);
    fake_add(30, 2, 0x10431af4); /* has no function 0: not there */
    assert_int_equal(pci_find(0x1af4, ids, 2, &device), 0);
    assert_int_equal(device.slot, 31);
    assert_int_equal(device.function, 5);
    assert_int_equal(device.device_id, 0x1043);
    assert_int_equal(pci_find(0x1af4, ids, 0, &device), -ENODEV);
}

/* To find a device in slot 3, and to give addresses to its two BARs of memory: 33 of these are a
 * look at all slots, which that needs. */
static void few_accesses_are_needed(void **state)
{
    struct pci_device device;

    (void)state;
    add_device(&device);
    fake_accesses = 0;
    assert_int_equal(pci_find(0x1af4, ids, 2, &device), 0);
    assert_int_equal(fake_accesses, 6);
    assert_int_equal(pci_enable(&device), 0);
    assert_int_equal(fake_accesses, 84);
}

static void other_functions_need_a_multifunction_device(void **state)
{
    struct pci_device device;

    (void)state;
    fake_add(31, 0, 0x29188086);
    fake_add(31, 5, 0x10431af4);
    assert_int_equal(pci_find(0x1af4, ids, 2, &device), -ENODEV);
}

/* Behind a bridge on bus 0, and on a bus that no bridge leads to: another host bridge's. */
static void other_buses_are_searched(void **state)
{
    struct pci_device device = {0};
    unsigned count = 0;

    (void)state;
    fake_add_behind(3, 0, 0x10d38086);
    fake_add_behind(255, 31, 0x10411af4);
    assert_int_equal(pci_find(0x1af4, (const uint16_t[]){0x1041}, 1, &device), 0);
    assert_int_equal(device.bus, 255);
    assert_int_equal(device.slot, 31);
    for (device = (struct pci_device){0}; pci_next(&device); count++)
        assert_int_equal(device.bus, ((uint8_t[]){0, 3, 255})[count]);
    assert_int_equal(count, 3);
    device = (struct pci_device){.bus = 3};
    assert_true(pci_next_on_bus(&device));
    assert_int_equal(device.device_id, 0x10d3);
    assert_false(pci_next_on_bus(&device));
}

static struct fake_function *add_bridge(uint8_t bus, uint8_t slot, uint8_t secondary,
                                        uint8_t subordinate)
{
    struct fake_function *bridge = fake_add_behind(bus, slot, 0x000c1b36);

    fake_put8(bridge, 0x0e, 0x81);
    fake_put8(bridge, 0x18, bus);
    fake_put8(bridge, 0x19, secondary);
    fake_put8(bridge, 0x1a, subordinate);
    return bridge;
}

static void bridges_above_a_device_are_opened(void **state)
{
    struct fake_function *outer = add_bridge(0, 1, 1, 2), *inner = add_bridge(1, 0, 2, 2);
    struct fake_function *other = add_bridge(0, 2, 3, 3), *unset = add_bridge(0, 3, 0, 0);
    struct fake_function *f = fake_add_behind(2, 0, 0x10d38086);
    struct pci_device device = {.bus = 2, .vendor_id = 0x8086, .device_id = 0x10d3};
    uint64_t base, bytes;

    (void)state;
    f->bar_mask[0] = 0xfffe0000;
    assert_int_equal(pci_enable(&device), 0);
    assert_int_equal(outer->config[1], 6);
    assert_int_equal(inner->config[1], 6);
    assert_int_equal(other->config[1] | unset->config[1], 0);
    assert_int_equal(f->config[1], 0x406);
    /* what lies behind a bridge must be in the bridge's window: nothing is made up */
    assert_int_equal(f->config[4], 0);
    assert_int_equal(pci_bar(&device, 0, &base, &bytes), -ENOENT);
    pci_stop_mastering(&device);
    assert_int_equal(f->config[1], 0x402);
}

/* Bridges that claim to lead to each other, or to everything. */
static void hostile_bridges_are_bounded(void **state)
{
    struct pci_device device = {.bus = 9, .vendor_id = 0x8086, .device_id = 0x10d3};
    struct fake_function *back = add_bridge(5, 0, 1, 255), *self = add_bridge(4, 0, 4, 255);

    (void)state;
    fake_add_behind(9, 0, 0x10d38086);
    assert_int_equal(pci_enable(&device), 0);
    assert_int_equal(back->config[1] | self->config[1], 0);
}

static void sleeping_device_is_woken(void **state)
{
    struct pci_device device = {.slot = 3, .vendor_id = 0x8086};
    struct fake_function *f = fake_add(3, 0, 0x10d38086);

    (void)state;
    delayed_us = 0;
    pci_wake(&device); /* no capabilities at all */
    fake_put8(f, 6, 0x10);
    fake_put8(f, 0x34, 0xc8);
    fake_put8(f, 0xc8, 1);
    f->config[0xcc / 4] = 0x8000;
    pci_wake(&device); /* awake already */
    assert_int_equal(delayed_us, 0);
    assert_int_equal(f->config[0xcc / 4], 0x8000);
    f->config[0xcc / 4] = 0x8003;
    f->config[4] = 0xf7c00000;
    f->config[1] = 0x00100006;
    pci_wake(&device);
    assert_int_equal(delayed_us, 10000);
    assert_int_equal(f->config[0xcc / 4], 0x8000);
    assert_int_equal(f->config[4], 0xf7c00000);
    assert_int_equal(f->config[1], 0x00100006);
}

static void missing_bars_get_addresses(void **state)
{
    struct pci_device device;
    struct fake_function *f = add_device(&device);
    uint64_t base, bytes;

    (void)state;
    assert_int_equal(pci_bar(&device, 1, &base, &bytes), -ENOENT);
    assert_int_equal(pci_enable(&device), 0);
    assert_int_equal(f->config[4], 1); /* I/O is left alone */
    assert_int_equal(pci_bar(&device, 0, &base, &bytes), -ENOENT);
    assert_int_equal(pci_bar(&device, 1, &base, &bytes), 0);
    assert_int_equal(base, 0xf0000000);
    assert_int_equal(bytes, 0x1000);
    assert_int_equal(pci_bar(&device, 4, &base, &bytes), 0);
    assert_int_equal(base, 0xf0004000);
    assert_int_equal(bytes, 0x4000);
    assert_int_equal(f->config[8], 0xf000400c);
    assert_int_equal(f->config[9], 0);
    assert_int_equal(pci_bar(&device, 6, &base, &bytes), -ENOENT);
    assert_int_equal(f->config[1] & 0xffff, 0x406); /* memory, bus master, no INTx */
}

static void assigned_bars_stay(void **state)
{
    struct pci_device device;
    struct fake_function *f = add_device(&device);
    uint64_t base, bytes;

    (void)state;
    f->config[5] = 0xc1000000;
    f->config[8] = 0x8000000c;
    f->config[9] = 0x38; /* above 4 GiB */
    assert_int_equal(pci_enable(&device), 0);
    assert_int_equal(pci_bar(&device, 1, &base, &bytes), 0);
    assert_int_equal(base, 0xc1000000);
    assert_int_equal(pci_bar(&device, 4, &base, &bytes), 0);
    assert_int_equal(base, 0x3880000000);
    assert_int_equal(bytes, 0x4000);
}

static void addresses_in_use_are_avoided(void **state)
{
    struct pci_device device;
    struct fake_function *f = add_device(&device);
    struct fake_function *other = fake_add(4, 0, 0x11118086);
    struct fake_function *bridge = fake_add(5, 0, 0x22228086);

    (void)state;
    other->bar_mask[0] = 0xffff0000; /* 64 KiB */
    other->config[4] = 0xf0000000;
    other->config[1] = 3; /* decodes: switched off while its BAR is sized, and on again */
    fake_put8(bridge, 0x0e, 1);
    bridge->config[8] = 0xf010f000; /* F0000000H .. F01FFFFFH */
    assert_int_equal(pci_enable(&device), 0);
    assert_int_equal(f->config[5], 0xf0200000);
    assert_int_equal(f->config[8], 0xf020400c);
    assert_int_equal(other->config[1], 3);
    assert_int_equal(other->config[4], 0xf0000000);
}

static void no_room_is_an_error(void **state)
{
    struct pci_device device;
    struct fake_function *f = add_device(&device);
    struct fake_function *bridge = fake_add(5, 0, 0x22228086);

    (void)state;
    fake_put8(bridge, 0x0e, 1);
    bridge->config[8] = 0xfff0f000; /* F0000000H .. FFFFFFFFH */
    assert_int_equal(pci_enable(&device), -ENOMEM);
    assert_int_equal(f->config[1], 0);
    bridge->config[8] = 0;
    f->bar_mask[1] = 0xf0000000; /* 256 MiB: larger than the window */
    assert_int_equal(pci_enable(&device), -ENOMEM);
}

static void capabilities_are_walked(void **state)
{
    struct pci_device device;
    struct fake_function *f = add_device(&device);

    (void)state;
    fake_put8(f, 0x34, 0x40);
    fake_put8(f, 0x40, 9);
    fake_put8(f, 0x41, 0x50);
    fake_put8(f, 0x50, 0x11);
    fake_put8(f, 0x51, 0x62); /* the low two bits mean nothing */
    fake_put8(f, 0x60, 9);
    assert_int_equal(pci_capability(&device, 9, 0), 0); /* the status says that there are none */
    fake_put8(f, 6, 0x10);
    assert_int_equal(pci_capability(&device, 9, 0), 0x40);
    assert_int_equal(pci_capability(&device, 9, 0x40), 0x60);
    assert_int_equal(pci_capability(&device, 9, 0x60), 0);
    assert_int_equal(pci_capability(&device, 0x11, 0), 0x50);
    fake_put8(f, 0x61, 0x40); /* a loop ends all the same */
    assert_int_equal(pci_capability(&device, 5, 0), 0);
    fake_put8(f, 0x61, 0x10); /* into the header */
    assert_int_equal(pci_capability(&device, 5, 0), 0);
}

static struct fake_function *add_msix(struct pci_device *device, uint32_t table)
{
    struct fake_function *f = add_device(device);

    fake_put8(f, 6, 0x10);
    fake_put8(f, 0x34, 0x98);
    f->config[0x98 / 4] = 0x00070011; /* eight entries */
    f->config[0x9c / 4] = table;
    assert_int_equal(pci_enable(device), 0);
    return f;
}

static void msix_entry_points_to_the_cpu(void **state)
{
    struct pci_device device;
    struct fake_function *f = add_msix(&device, 0x801);

    (void)state;
    assert_int_equal(pci_msix_enable(&device, 0xed, 2), 0);
    assert_int_equal(mapped, 0xf0000800);
    assert_int_equal(msix_table[0], 0xfee02000);
    assert_int_equal(msix_table[1], 0);
    assert_int_equal(msix_table[2], 0xed);
    assert_int_equal(msix_table[3], 0);
    assert_int_equal(msix_table[4], 0xeeeeeeee); /* nothing else is touched */
    assert_int_equal(f->config[0x98 / 4], 0x80070011);
}

static void bad_msix_is_refused(void **state)
{
    struct pci_device device;
    struct fake_function *f = add_msix(&device, 0x801);

    (void)state;
    assert_int_equal(pci_msix_enable(&device, 0xed, 256), -EINVAL);
    f->config[0x9c / 4] = 0xff9; /* the last entry ends after the BAR */
    assert_int_equal(pci_msix_enable(&device, 0xed, 0), -EINVAL);
    f->config[0x9c / 4] = 0xfffffff9;
    assert_int_equal(pci_msix_enable(&device, 0xed, 0), -EINVAL);
    f->config[0x9c / 4] = 0; /* an I/O BAR */
    assert_int_equal(pci_msix_enable(&device, 0xed, 0), -EINVAL);
    f->config[0x9c / 4] = 7; /* no BAR */
    assert_int_equal(pci_msix_enable(&device, 0xed, 0), -EINVAL);
    f->config[0x98 / 4] = 5;
    assert_int_equal(pci_msix_enable(&device, 0xed, 0), -ENOENT);
    assert_int_equal(mapped, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(finds_devices_and_functions, reset_fake),
        cmocka_unit_test_setup(few_accesses_are_needed, reset_fake),
        cmocka_unit_test_setup(other_functions_need_a_multifunction_device, reset_fake),
        cmocka_unit_test_setup(other_buses_are_searched, reset_fake),
        cmocka_unit_test_setup(bridges_above_a_device_are_opened, reset_fake),
        cmocka_unit_test_setup(hostile_bridges_are_bounded, reset_fake),
        cmocka_unit_test_setup(sleeping_device_is_woken, reset_fake),
        cmocka_unit_test_setup(missing_bars_get_addresses, reset_fake),
        cmocka_unit_test_setup(assigned_bars_stay, reset_fake),
        cmocka_unit_test_setup(addresses_in_use_are_avoided, reset_fake),
        cmocka_unit_test_setup(no_room_is_an_error, reset_fake),
        cmocka_unit_test_setup(capabilities_are_walked, reset_fake),
        cmocka_unit_test_setup(msix_entry_points_to_the_cpu, reset_fake),
        cmocka_unit_test_setup(bad_msix_is_refused, reset_fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
