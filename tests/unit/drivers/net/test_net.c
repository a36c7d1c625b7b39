/* The choice of a network interface: order, links that come up, cards that do not work. */
#include "tests/unit/drivers/fake_pci.h"

#include <errno.h>
#include <stdio.h>

#include "drivers/clock/clock.h"
#include "drivers/net/drivers.h"
#include "drivers/platform.h"

#define NEVER UINT64_MAX

static struct {
    uint64_t now_us;
    struct { /* by slot */
        int error;
        uint64_t up_at_us;
        bool open;
        unsigned closed;
    } cards[32];
    char log[2048];
} fake;

static int fake_open(struct net_device *net, const struct pci_device *pci)
{
    net->state = &fake.cards[pci->slot];
    net->mac[0] = 2;
    net->mac[5] = pci->slot;
    fake.cards[pci->slot].open = fake.cards[pci->slot].error == 0;
    return fake.cards[pci->slot].error;
}

static bool fake_link_up(struct net_device *net)
{
    return fake.now_us >= fake.cards[net->mac[5]].up_at_us;
}

static void fake_close(struct net_device *net)
{
    fake.cards[net->mac[5]].open = false;
    fake.cards[net->mac[5]].closed++;
}

static const uint16_t ids[] = {0x1041};
static const uint16_t other_ids[] = {0x100e, 0x10d3};

const struct net_driver virtio_net_driver = {.name = "one",
                                             .vendor_id = 0x1af4,
                                             .device_ids = ids,
                                             .device_id_count = 1,
                                             .open = fake_open,
                                             .link_up = fake_link_up,
                                             .close = fake_close};
const struct net_driver e1000_drivers[NET_E1000_FAMILIES] = {{.name = "two",
                                                              .vendor_id = 0x8086,
                                                              .device_ids = other_ids,
                                                              .device_id_count = 2,
                                                              .open = fake_open,
                                                              .link_up = fake_link_up,
                                                              .close = fake_close}};

#include "drivers/net/net.c"
#include "drivers/pci/pci.c"
#include "drivers/pci/pci_bars.c"

volatile void *platform_map_device(uint64_t physical, size_t bytes)
{
    fail_msg("%zu bytes at %lx are mapped", bytes, physical);
    return NULL;
}

void platform_log(const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(fake.log);

    va_start(arguments, format);
    vsnprintf(fake.log + used, sizeof fake.log - used, format, arguments);
    va_end(arguments);
    strncat(fake.log, "\n", sizeof fake.log - strlen(fake.log) - 1);
}

void clock_delay_us(uint64_t us)
{
    fake.now_us += us;
}

static struct fake_function *add_card(uint8_t slot, uint32_t id, uint64_t up_at_us)
{
    struct fake_function *f = fake_add(slot, 0, id);

    f->config[2] = 0x02000000; /* an Ethernet controller */
    fake.cards[slot].up_at_us = up_at_us;
    return f;
}

static int create(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    memset(fake_functions, 0, sizeof fake_functions);
    fake_add(0, 0, 0x29c08086);
    return 0;
}

static unsigned chosen_slot(void)
{
    struct net_device net;

    assert_int_equal(net_open(&net), 0);
    unsigned slot = net.mac[5];
    for (unsigned i = 0; i < 32; i++) {
        assert_int_equal(fake.cards[i].open, i == slot); /* the others are closed */
        assert_in_range(fake.cards[i].closed, 0, i != slot);
    }
    return slot;
}

static void only_card_is_taken_at_once(void **state)
{
    (void)state;
    add_card(3, 0x10411af4, NEVER);
    assert_int_equal(chosen_slot(), 3);
    assert_int_equal(fake.now_us, 0);
    assert_non_null(strstr(fake.log, "1af4:1041 at 00:03.0: one, address 02:00:00:00:00:03"));
}

static void first_with_a_link_is_taken(void **state)
{
    (void)state;
    add_card(3, 0x10411af4, 0);
    add_card(4, 0x100e8086, 0);
    assert_int_equal(chosen_slot(), 3);
    assert_int_equal(fake.now_us, 0);
    create(NULL);
    add_card(3, 0x10411af4, NEVER);
    add_card(4, 0x100e8086, 0);
    add_card(5, 0x10d38086, 0);
    assert_int_equal(chosen_slot(), 4);
    assert_int_equal(fake.now_us, EARLIER_WAIT_US);
}

static void links_are_waited_for(void **state)
{
    (void)state;
    add_card(3, 0x10411af4, 3500000);
    add_card(4, 0x100e8086, 3000000); /* a little faster: all the same */
    assert_int_equal(chosen_slot(), 3);
    create(NULL);
    add_card(3, 0x10411af4, NEVER);
    add_card(4, 0x100e8086, 3000000);
    assert_int_equal(chosen_slot(), 4);
    assert_in_range(fake.now_us, 3000000, 3000000 + EARLIER_WAIT_US);
    create(NULL);
    add_card(3, 0x10411af4, NEVER);
    add_card(4, 0x100e8086, NEVER);
    assert_int_equal(chosen_slot(), 3);
    assert_int_equal(fake.now_us, LINK_WAIT_US);
}

static void card_that_does_not_work_is_passed_over(void **state)
{
    (void)state;
    add_card(3, 0x10411af4, 0);
    add_card(4, 0x100e8086, 0);
    fake.cards[3].error = -EIO;
    assert_int_equal(chosen_slot(), 4);
    assert_non_null(strstr(fake.log, "1af4:1041 at 00:03.0: does not answer"));
}

static void without_a_card_the_log_names_what_there_is(void **state)
{
    struct net_device net;

    (void)state;
    assert_int_equal(net_open(&net), -ENODEV);
    assert_string_equal(fake.log, "no network card that there is a driver for\n");
    add_card(3, 0x15f38086, 0);
    fake_functions[1].bus = 2;
    assert_int_equal(net_open(&net), -ENODEV);
    assert_non_null(strstr(fake.log, "8086:15f3 at 02:03.0: no driver for it"));
    add_card(4, 0x10411af4, 0);
    fake.cards[4].error = -ENOMEM;
    assert_int_equal(net_open(&net), -ENOMEM);
    fake.cards[4].error = -EIO;
    assert_int_equal(net_open(&net), -EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(only_card_is_taken_at_once, create),
        cmocka_unit_test_setup(first_with_a_link_is_taken, create),
        cmocka_unit_test_setup(links_are_waited_for, create),
        cmocka_unit_test_setup(card_that_does_not_work_is_passed_over, create),
        cmocka_unit_test_setup(without_a_card_the_log_names_what_there_is, create),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
