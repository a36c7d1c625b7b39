/* A configuration space behind ports CF8H and CFCH, with BARs that can be sized. */
#ifndef TESTS_UNIT_DRIVERS_FAKE_PCI_H
#define TESTS_UNIT_DRIVERS_FAKE_PCI_H

#include <stdbool.h>
#include <string.h>

#include "tests/unit/drivers/fake_x86.h"
#include "tests/unit/test.h"

#define FAKE_FUNCTIONS 8

struct fake_function {
    uint8_t bus;
    uint8_t slot;
    uint8_t function;
    bool present;
    uint32_t config[64];
    uint32_t bar_mask[6]; /* writable bits; 0: the BAR is not there */
};

static struct fake_function fake_functions[FAKE_FUNCTIONS];
static uint32_t fake_config_address;
static unsigned fake_accesses; /* to configuration space: each leaves a virtual machine twice */

static struct fake_function *fake_add(uint8_t slot, uint8_t function, uint32_t id)
{
    for (int i = 0; i < FAKE_FUNCTIONS; i++) {
        struct fake_function *f = &fake_functions[i];
        if (f->present)
            continue;
        *f = (struct fake_function){.slot = slot, .function = function, .present = true};
        f->config[0] = id;
        return f;
    }
    fail_msg("too many functions");
    return NULL;
}

static inline struct fake_function *fake_add_behind(uint8_t bus, uint8_t slot, uint32_t id)
{
    struct fake_function *f = fake_add(slot, 0, id);

    f->bus = bus;
    return f;
}

static inline void fake_put8(struct fake_function *f, uint8_t offset, uint8_t value)
{
    memcpy((uint8_t *)f->config + offset, &value, 1);
}

static struct fake_function *fake_selected(void)
{
    assert_true(fake_config_address & 1u << 31);
    assert_int_equal(fake_config_address & 0x7f000003, 0); /* a whole register */
    for (int i = 0; i < FAKE_FUNCTIONS; i++) {
        struct fake_function *f = &fake_functions[i];
        if (f->present && f->bus == (fake_config_address >> 16 & 255) &&
            f->slot == (fake_config_address >> 11 & 31) &&
            f->function == (fake_config_address >> 8 & 7))
            return f;
    }
    return NULL;
}

void x86_out32(uint16_t port, uint32_t v)
{
    if (port == 0xcf8) {
        fake_config_address = v;
        fake_accesses++;
        return;
    }
    assert_int_equal(port, 0xcfc);
    struct fake_function *f = fake_selected();
    unsigned at = (fake_config_address & 0xfc) / 4;
    if (!f)
        return;
    if (at >= 4 && at < 10) { /* a BAR keeps its type bits; sizing only with decoding off */
        uint32_t mask = f->bar_mask[at - 4];
        assert_true(mask == 0 || !(f->config[1] & 3));
        f->config[at] = (v & mask) | (f->config[at] & ~mask);
        return;
    }
    f->config[at] = v;
}

uint32_t x86_in32(uint16_t port)
{
    assert_int_equal(port, 0xcfc);
    struct fake_function *f = fake_selected();
    return f ? f->config[(fake_config_address & 0xfc) / 4] : 0xffffffff;
}

void x86_out16(uint16_t port, uint16_t v)
{
    assert_int_equal(port & ~2, 0xcfc);
    struct fake_function *f = fake_selected();
    if (f)
        memcpy((uint8_t *)f->config + (fake_config_address & 0xfc) + (port & 2), &v, 2);
}

#endif
