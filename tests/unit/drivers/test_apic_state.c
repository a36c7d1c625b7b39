/* Keeping the firmware's local APIC and putting it back: modes, timer, interrupts on their way. */
#include "tests/unit/drivers/fake_x86.h"

#include "drivers/apic/apic.c"
#include "drivers/apic/apic_state.c"

#include <string.h>

#include "tests/unit/test.h"

#define XAPIC 0xfee00900u /* enabled, boot processor */
#define X2APIC 0xfee00d00u
#define DISABLED 0xfee00100u
#define OWN 0xe0

static struct { /* one APIC: its registers are the page's, whichever way they are reached */
    uint32_t cpuid_ecx;
    uint64_t base;
    uint64_t deadline;
    uint32_t page[1024];
    unsigned ended;
    uint8_t pic[2][2]; /* in service; the last command */
    bool pic_reads_service[2];
} fake;

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    (void)subleaf;
    return (struct cpuid_result){.ecx = leaf == 1 ? fake.cpuid_ecx : 0};
}

uint64_t x86_rdtsc(void)
{
    return 0;
}

uint64_t x86_rdmsr(uint32_t msr)
{
    if (msr == 0x1b)
        return fake.base;
    if (msr == 0x6e0)
        return fake.deadline;
    assert_in_range(msr, 0x800, 0x8ff);
    assert_int_equal(fake.base & 0xc00, 0xc00); /* a fault otherwise */
    return fake.page[(msr - 0x800) * 4];
}

/* SDM volume 3, figure "Local x2APIC State Transitions with IA32_APIC_BASE, INIT, and Reset" */
static void set_base(uint64_t value)
{
    uint64_t from = fake.base & 0xc00, to = value & 0xc00;

    assert_false(from == 0xc00 && to == 0x800);
    assert_false(from == 0 && to == 0xc00);
    assert_int_not_equal(to, 0x400);
    fake.base = value;
    if (to == 0) {
        memset(fake.page, 0, sizeof fake.page);
        fake.page[0x30 / 4] = 0x60014;
        fake.page[0xf0 / 4] = 0xff;
    }
}

static void end_highest(void)
{
    fake.ended++;
    for (int i = 7; i >= 0; i--) {
        uint32_t *word = &fake.page[(0x100 + i * 0x10) / 4];
        if (*word) {
            *word &= ~(0x80000000u >> __builtin_clz(*word));
            return;
        }
    }
}

void x86_wrmsr(uint32_t msr, uint64_t value)
{
    if (msr == 0x1b) {
        set_base(value);
        return;
    }
    if (msr == 0x6e0) {
        fake.deadline = value;
        return;
    }
    assert_in_range(msr, 0x800, 0x8ff);
    assert_int_equal(fake.base & 0xc00, 0xc00);
    if (msr == 0x80b)
        end_highest();
    else
        fake.page[(msr - 0x800) * 4] = (uint32_t)value;
}

uint8_t x86_in8(uint16_t port)
{
    unsigned slave = port == 0xa0;

    assert_true(port == 0x20 || port == 0xa0);
    return fake.pic_reads_service[slave] ? fake.pic[slave][0] : 0;
}

void x86_out8(uint16_t port, uint8_t v)
{
    unsigned slave = port == 0xa0;

    assert_true(port == 0x20 || port == 0xa0);
    if (v == 0x0a || v == 0x0b)
        fake.pic_reads_service[slave] = v & 1;
    else
        fake.pic[slave][1] = v;
}

volatile void *platform_map_device(uint64_t physical, size_t bytes)
{
    assert_int_equal(physical, 0xfee00000);
    assert_int_equal(bytes, 4096);
    return fake.page;
}

void platform_log(const char *format, ...)
{
    (void)format;
}

static void set(uint32_t offset, uint32_t value)
{
    fake.page[offset / 4] = value;
}

static uint32_t get(uint32_t offset)
{
    return fake.page[offset / 4];
}

/* What a firmware with a periodic timer has; all entries of the vector table exist. */
static void firmware(uint32_t base)
{
    memset(&fake, 0, sizeof fake);
    memset(&apic, 0, sizeof apic);
    fake.cpuid_ecx = 1u << 24;
    fake.base = base;
    set(0x30, 0x60014);
    set(0x80, 0x20);
    set(0xd0, 0x1000000);
    set(0xe0, 0xffffffff);
    set(0xf0, 0x10f);
    set(0x2f0, 0x10000);
    set(0x320, 0x20020); /* periodic, vector 20H */
    set(0x330, 0x10000);
    set(0x340, 0x10400);
    set(0x350, 0x700);
    set(0x360, 0x400);
    set(0x370, 0x10000);
    set(0x380, 1000000);
    set(0x390, 400);
    set(0x3e0, 0xb);
}

static void assert_firmware(void)
{
    static const struct {
        uint32_t offset, value;
    } expected[] = {{0x80, 0x20},     {0xf0, 0x10f},    {0x2f0, 0x10000}, {0x320, 0x20020},
                    {0x330, 0x10000}, {0x340, 0x10400}, {0x350, 0x700},   {0x360, 0x400},
                    {0x370, 0x10000}, {0x380, 1000000}, {0x3e0, 0xb}};

    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(get(expected[i].offset), expected[i].value);
}

/* The kernel's use of it. */
static void kernel(struct apic_saved *saved, bool offers_x2apic)
{
    if (offers_x2apic)
        fake.cpuid_ecx |= 1u << 21;
    memset(saved, 0, sizeof *saved);
    apic_init(0xfee00000, false);
    apic_save(saved);
    apic_enable(0xff);
    assert_int_equal(get(0x350), 0x10000);
    assert_int_equal(get(0x80), 0xd0);
    apic.tsc_deadline = true;
    apic_timer_setup(0xec);
    apic_timer_arm(1000);
}

static void xapic_stays_xapic(void **state)
{
    struct apic_saved saved;

    (void)state;
    firmware(XAPIC);
    kernel(&saved, false);
    apic_restore(&saved, OWN);
    assert_int_equal(fake.base, XAPIC);
    assert_int_equal(fake.deadline, 0);
    assert_firmware();
    assert_int_equal(get(0x300), 0); /* nothing was pending, nothing is sent */
}

static void x2apic_stays_x2apic(void **state)
{
    struct apic_saved saved;

    (void)state;
    firmware(X2APIC);
    kernel(&saved, true);
    set(0x220, 1); /* vector 32, for the firmware: stays where it is */
    apic_restore(&saved, OWN);
    assert_int_equal(fake.base, X2APIC);
    assert_firmware();
    assert_int_equal(get(0x220), 1);
    assert_int_equal(get(0x300), 0);
}

static void x2apic_goes_back_to_xapic_through_disabled(void **state)
{
    struct apic_saved saved;

    (void)state;
    firmware(XAPIC);
    kernel(&saved, true);
    assert_int_equal(fake.base, X2APIC);
    set(0x200 + 2 * 0x10, 1 << 4); /* vector 44H came meanwhile */
    set(0x200 + 7 * 0x10, 1 << 12); /* the kernel's */
    apic_restore(&saved, OWN);
    assert_int_equal(fake.base, XAPIC);
    assert_firmware();
    assert_int_equal(get(0xd0), 0x1000000);
    assert_int_equal(get(0xe0), 0xffffffff);
    assert_int_equal(get(0x300), 0x44044); /* to itself, again: and only this one */
}

/* AMD's */
static void extended_entries_are_restored(void **state)
{
    struct apic_saved saved;

    (void)state;
    firmware(XAPIC);
    set(0x30, 0x80060010);
    set(0x400, 0x40007);
    for (uint32_t i = 0; i < 4; i++)
        set(0x500 + i * 0x10, 0x200 + i); /* SMI */
    kernel(&saved, true);
    assert_int_equal(saved.extended_count, 4);
    apic_restore(&saved, OWN);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(get(0x500 + i * 0x10), 0x200 + i);
    set(0x30, 0x80060010);
    set(0x400, 0xff0007);
    apic_init(0xfee00000, false);
    fake.base = X2APIC;
    assert_int_equal(extended_entries(), 8);
}

static void disabled_apic_is_disabled_again(void **state)
{
    struct apic_saved saved;

    (void)state;
    for (int x2apic = 0; x2apic < 2; x2apic++) {
        firmware(DISABLED);
        kernel(&saved, x2apic);
        assert_int_equal(fake.base, x2apic ? X2APIC : XAPIC);
        apic_restore(&saved, OWN);
        assert_int_equal(fake.base, DISABLED);
    }
}

static void one_shot_goes_on_with_the_rest(void **state)
{
    struct apic_saved saved;

    (void)state;
    firmware(X2APIC);
    set(0x320, 0x20);
    kernel(&saved, true);
    apic_restore(&saved, OWN);
    assert_int_equal(get(0x320), 0x20);
    assert_int_equal(get(0x380), 400);
}

static void deadline_is_set_again(void **state)
{
    struct apic_saved saved;

    (void)state;
    firmware(X2APIC);
    set(0x320, 0x40020);
    fake.deadline = 123456;
    kernel(&saved, true);
    assert_int_equal(fake.deadline, 1000);
    apic_restore(&saved, OWN);
    assert_int_equal(get(0x320), 0x40020);
    assert_int_equal(fake.deadline, 123456);
}

/* The kernel panicked in its timer's handler, called from the firmware's. */
static void interrupts_in_service_since_then_are_ended(void **state)
{
    struct apic_saved saved;

    (void)state;
    firmware(X2APIC);
    set(0x100 + 0x10, 1); /* vector 32 */
    kernel(&saved, true);
    set(0x100 + 7 * 0x10, 1 << 12 | 1 << 14);
    apic_restore(&saved, OWN);
    assert_int_equal(fake.ended, 2);
    assert_int_equal(get(0x100 + 7 * 0x10), 0);
    assert_int_equal(get(0x100 + 0x10), 1);
}

static void nothing_is_restored_that_was_not_saved(void **state)
{
    struct apic_saved saved = {0};

    (void)state;
    firmware(X2APIC);
    apic_restore(&saved, OWN);
    assert_firmware();
}

static void other_cpus_get_their_mode_back(void **state)
{
    (void)state;
    firmware(XAPIC);
    fake.cpuid_ecx |= 1u << 21;
    apic_init(0xfee00000, false);
    uint64_t found = apic_mode();
    apic_enable(0xff);
    assert_int_equal(fake.base, X2APIC);
    apic_mode_restore(found);
    assert_int_equal(fake.base, XAPIC);
}

static void pending_interrupts_are_seen(void **state)
{
    (void)state;
    firmware(X2APIC);
    apic_init(0xfee00000, false);
    assert_false(apic_pending_from(OWN));
    set(0x200 + 6 * 0x10, 0x80000000); /* DFH */
    assert_false(apic_pending_from(OWN));
    set(0x200 + 7 * 0x10, 1);
    assert_true(apic_pending_from(OWN));
}

static void unknown_interrupts_are_ended_where_they_came_from(void **state)
{
    (void)state;
    firmware(X2APIC);
    apic_init(0xfee00000, false);
    set(0x100 + 2 * 0x10, 1);
    apic_end_unknown();
    assert_int_equal(fake.ended, 1);
    assert_int_equal(fake.pic[0][1], 0);
    apic_end_unknown(); /* spurious */
    assert_int_equal(fake.ended, 1);
    assert_int_equal(fake.pic[0][1], 0);
    fake.pic[0][0] = 1; /* IRQ 0 */
    apic_end_unknown();
    assert_int_equal(fake.pic[0][1], 0x20);
    assert_int_equal(fake.pic[1][1], 0);
    fake.pic[0][0] = 4;
    fake.pic[1][0] = 1; /* IRQ 8 */
    apic_end_unknown();
    assert_int_equal(fake.pic[1][1], 0x20);
    assert_false(fake.pic_reads_service[0]);
    assert_false(fake.pic_reads_service[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xapic_stays_xapic),
        cmocka_unit_test(x2apic_stays_x2apic),
        cmocka_unit_test(x2apic_goes_back_to_xapic_through_disabled),
        cmocka_unit_test(extended_entries_are_restored),
        cmocka_unit_test(disabled_apic_is_disabled_again),
        cmocka_unit_test(one_shot_goes_on_with_the_rest),
        cmocka_unit_test(deadline_is_set_again),
        cmocka_unit_test(interrupts_in_service_since_then_are_ended),
        cmocka_unit_test(nothing_is_restored_that_was_not_saved),
        cmocka_unit_test(other_cpus_get_their_mode_back),
        cmocka_unit_test(pending_interrupts_are_seen),
        cmocka_unit_test(unknown_interrupts_are_ended_where_they_came_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
