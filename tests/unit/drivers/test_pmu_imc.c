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
    return (struct cpuid_result){.ecx = hypervisor};
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

uint32_t mmio_read32(const volatile void *at)
{
    return *(const volatile uint32_t *)at;
}

static void begin(void)
{
    counters = NULL;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_behind_the_host_bridge),
        cmocka_unit_test(nothing_is_mapped_elsewhere),
        cmocka_unit_test(the_first_cpu_tells_the_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
