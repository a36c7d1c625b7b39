/* drivers/pmu/pmu_imc.c: where the memory controller's counters are, and whose they are. */
#include "tests/unit/drivers/fake_mmio.h"
#include "tests/unit/drivers/fake_x86.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/test.h"

#include "drivers/pmu/pmu_imc.c"

static uint32_t cpu, hypervisor;
static struct pci_device bridge;
static uint16_t bridge_id;
static uint64_t mchbar, mapped;
static uint8_t page[4096];

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf)
{
    assert_int_equal(leaf, 1);
    assert_int_equal(subleaf, 0);
    return (struct cpuid_result){.eax = 0x506e3, .ecx = hypervisor}; /* family 6, model 5EH */
}

/* ---- controllers of other processors ---- */

static bool has_umc;
static unsigned umc_starts;
static struct pmu_imc_counters servers;

bool pmu_umc_probe(void)
{
    return has_umc;
}

void pmu_umc_start(void)
{
    umc_starts++;
}

uint64_t pmu_umc_read(bool writes)
{
    return writes ? 0x888888888888 : 0x777777777777;
}

void pmu_imc_find_server(uint32_t model, struct pmu_imc_counters *found)
{
    assert_int_equal(model, 0x5e);
    *found = servers;
}

uint32_t platform_cpu(void)
{
    return cpu;
}

int pci_find(uint16_t vendor_id, const uint16_t *device_ids, size_t count, struct pci_device *out)
{
    assert_int_equal(vendor_id, 0x8086);
    *out = bridge;
    for (size_t i = 0; i < count; i++)
        if (device_ids[i] == bridge_id)
            return 0;
    return -ENODEV;
}

uint32_t pci_read32(const struct pci_device *device, uint8_t offset)
{
    assert_int_equal(device->slot, bridge.slot);
    assert_true(offset == 0x48 || offset == 0x4c);
    return (uint32_t)(mchbar >> (offset == 0x48 ? 0 : 32));
}

volatile void *platform_map_device(uint64_t physical, size_t bytes)
{
    mapped = physical;
    assert_int_equal(bytes, sizeof page);
    return page;
}

static uint32_t upper_after; /* what a counter's upper half becomes after it was read */

uint32_t mmio_read32(const volatile void *at)
{
    uint32_t value = *(const volatile uint32_t *)at;

    if (upper_after && at == page + 4) {
        memcpy(page + 4, &upper_after, sizeof upper_after);
        upper_after = 0;
    }
    return value;
}

uint64_t mmio_read64(const volatile void *at)
{
    return *(const volatile uint64_t *)at;
}

static void begin(void)
{
    counters = (struct pmu_imc_counters){0};
    servers = counters;
    by_registers = has_umc = false;
    umc_starts = 0;
    owner = NOBODY;
    mapped = 0;
    hypervisor = 0;
    bridge = (struct pci_device){0};
    bridge_id = 0x191f; /* Skylake */
    mchbar = 0x12fed10001;
}

static void is_behind_the_host_bridge(void **state)
{
    (void)state;
    begin();
    assert_true(pmu_imc_probe());
    assert_int_equal(mapped, 0x12fed15000);
    mapped = 0;
    assert_true(pmu_imc_probe()); /* again */
    assert_int_equal(mapped, 0);
}

static void nothing_is_mapped_elsewhere(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 5; wrong++) {
        begin();
        if (wrong == 0)
            hypervisor = 1u << 31;
        else if (wrong == 1)
            bridge_id = 0x29c0; /* QEMU's q35 */
        else if (wrong == 2)
            bridge.slot = 3;
        else
            mchbar = wrong == 3 ? 0x12fed10000 : 1; /* disabled; without an address */
        assert_false(pmu_imc_probe());
        assert_int_equal(mapped, 0);
    }
}

static void the_first_cpu_tells_the_counts(void **state)
{
    const uint32_t reads = 0xfffffff0, writes = 77;

    (void)state;
    begin();
    assert_true(pmu_imc_probe());
    assert_int_equal(pmu_imc_bits(), 32);
    memcpy(page + 0x50, &reads, sizeof reads);
    memcpy(page + 0x54, &writes, sizeof writes);
    cpu = 2;
    pmu_imc_start();
    assert_int_equal(pmu_imc_read(false), reads);
    assert_int_equal(pmu_imc_read(true), writes);
    cpu = 3;
    pmu_imc_start();
    assert_int_equal(pmu_imc_read(false), 0);
    cpu = 2;
    pmu_imc_start(); /* again */
    assert_int_equal(pmu_imc_read(true), writes);
}

static void servers_have_several(void **state)
{
    const uint64_t values[4] = {0xff0000000001, 5, 0x20, 7};

    (void)state;
    begin();
    servers.access = PMU_IMC_LONG;
    for (uint32_t i = 0; i < PMU_IMC_MAX + 1; i++)
        pmu_imc_add(&servers, page + 16 * (i % 2), page + 16 * (i % 2) + 8);
    assert_int_equal(servers.count, PMU_IMC_MAX);
    servers.count = 2;
    assert_true(pmu_imc_probe());
    assert_int_equal(mapped, 0); /* the host bridge is not asked */
    assert_int_equal(pmu_imc_bits(), 48);
    memcpy(page, values, sizeof values);
    pmu_imc_start();
    assert_int_equal(pmu_imc_read(false), 0xff0000000021);
    assert_int_equal(pmu_imc_read(true), 12);
}

static void halves_belong_together(void **state)
{
    const uint64_t value = 0x1fffffff0;

    (void)state;
    begin();
    servers.access = PMU_IMC_HALVES;
    pmu_imc_add(&servers, page, page);
    assert_true(pmu_imc_probe());
    memcpy(page, &value, sizeof value);
    pmu_imc_start();
    assert_int_equal(pmu_imc_read(false), value);
    upper_after = 2;
    assert_int_equal(pmu_imc_read(false), 0x2fffffff0);
}

static void registers_are_read_by_their_driver(void **state)
{
    (void)state;
    begin();
    has_umc = true;
    assert_true(pmu_imc_probe());
    assert_true(pmu_imc_probe());
    assert_int_equal(pmu_imc_bits(), 48);
    cpu = 1;
    pmu_imc_start();
    assert_int_equal(pmu_imc_read(false), 0x777777777777);
    assert_int_equal(pmu_imc_read(true), 0x888888888888);
    cpu = 2;
    pmu_imc_start();
    assert_int_equal(pmu_imc_read(true), 0);
    assert_int_equal(umc_starts, 1);
    begin();
    has_umc = true;
    hypervisor = 1u << 31;
    assert_false(pmu_imc_probe());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_behind_the_host_bridge),
        cmocka_unit_test(nothing_is_mapped_elsewhere),
        cmocka_unit_test(the_first_cpu_tells_the_counts),
        cmocka_unit_test(servers_have_several),
        cmocka_unit_test(halves_belong_together),
        cmocka_unit_test(registers_are_read_by_their_driver),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
