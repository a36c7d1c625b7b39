/* A register file for PMU driver tests: registers exist or fault, writes are logged, counters have
 * moved when their select is written.
 */
#ifndef TESTS_UNIT_DRIVERS_FAKE_MSR_H
#define TESTS_UNIT_DRIVERS_FAKE_MSR_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "drivers/platform.h"
#include "tests/unit/test.h"

#define FAKE_MSRS 96
#define FAKE_WRITES 256
#define FAKE_ENABLE (1ull << 22)

struct fake_register {
    uint32_t msr;
    uint64_t value;
    uint32_t select; /* for a counter: the register that makes it count, */
    uint64_t enable; /* when it has one of these bits */
    uint64_t step; /* it goes on by so much after every reading */
    uint64_t reserved; /* a write with one of these bits faults */
    bool ignores; /* writes change nothing */
};

static struct {
    struct fake_register registers[FAKE_MSRS];
    uint32_t count;
    struct {
        uint64_t msr;
        uint64_t value;
    } writes[FAKE_WRITES];
    uint32_t write_count;
    uint64_t speed; /* counts of an enabled counter until its select is written */
    unsigned logged;
} fake;

static struct fake_register *fake_find(uint32_t msr)
{
    for (uint32_t i = 0; i < fake.count; i++) {
        if (fake.registers[i].msr == msr)
            return &fake.registers[i];
    }
    return NULL;
}

static void fake_add(uint32_t msr, uint64_t value, uint32_t select)
{
    assert_true(fake.count < FAKE_MSRS);
    fake.registers[fake.count++] =
        (struct fake_register){msr, value, select, FAKE_ENABLE, 0, 0, false};
}

int platform_msr_read(uint32_t msr, uint64_t *value)
{
    struct fake_register *r = fake_find(msr);

    if (!r)
        return -EFAULT;
    *value = r->value;
    r->value += r->step;
    return 0;
}

int platform_msr_write(uint32_t msr, uint64_t value)
{
    struct fake_register *r = fake_find(msr);

    if (!r || value & r->reserved)
        return -EFAULT;
    for (uint32_t i = 0; i < fake.count; i++) /* what was on has counted until now */
        if (fake.registers[i].select == msr && r->value & fake.registers[i].enable)
            fake.registers[i].value += fake.speed;
    if (!r->ignores)
        r->value = value;
    assert_true(fake.write_count < FAKE_WRITES);
    fake.writes[fake.write_count].msr = msr;
    fake.writes[fake.write_count++].value = value;
    return 0;
}

#define FAKE_READ (1ull << 32) /* marks a read among the writes */

/* The plain instructions, which must not fault; reads are noted as well. */
#define FAKE_RDPMC 0x5000u /* plus its index is what a counter reads as */

uint64_t x86_rdpmc(uint32_t counter)
{
    return FAKE_RDPMC + counter;
}

uint64_t x86_rdmsr(uint32_t msr)
{
    struct fake_register *r = fake_find(msr);

    assert_non_null(r);
    assert_true(fake.write_count < FAKE_WRITES);
    fake.writes[fake.write_count].msr = FAKE_READ | msr;
    fake.writes[fake.write_count++].value = r->value;
    return r->value;
}

void x86_wrmsr(uint32_t msr, uint64_t value)
{
    assert_int_equal(platform_msr_write(msr, value), 0);
}

void platform_log(const char *format, ...)
{
    (void)format;
    fake.logged++;
}

/* The writes, and reads with FAKE_READ, since the last call are exactly these pairs; ends with msr
 * 0.
 */
static void __attribute__((unused)) fake_expect_writes(const uint64_t (*expected)[2])
{
    uint32_t i = 0;

    for (; expected[i][0]; i++) {
        assert_true(i < fake.write_count);
        assert_int_equal(fake.writes[i].msr, expected[i][0]);
        assert_int_equal(fake.writes[i].value, expected[i][1]);
    }
    assert_int_equal(fake.write_count, i);
    fake.write_count = 0;
}

#endif
