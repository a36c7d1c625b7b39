/* drivers/pmu/pmu_imc_server.c: where the channels of servers are found, and what is written to
 * them.
 */
#include "tests/unit/drivers/fake_mmio.h"
#include "tests/unit/drivers/fake_x86.h"

#include <string.h>

#include "tests/unit/test.h"

#include "drivers/pci/pci_config.c"
#include "drivers/pmu/pmu_imc_server.c"

#define CONFIG 0xe0000000ull
#define WRITES 64u

static struct pci_device devices[4];
static uint32_t device_count;
static uint32_t config[256]; /* what the ports read, of any device */

/* Device memory: pages that exist, by their physical address. */
static struct page {
    uint64_t at;
    uint8_t bytes[4096];
} pages[8];
static uint32_t page_count;

static struct {
    uint64_t at;
    uint32_t value;
} writes[WRITES];
static uint32_t write_count;
static struct pmu_imc_counters found;

static uint8_t *page_at(uint64_t physical)
{
    for (uint32_t i = 0; i < page_count; i++)
        if (pages[i].at == (physical & ~4095ull))
            return pages[i].bytes + (physical & 4095);
    pages[page_count].at = physical & ~4095ull;
    assert_true(page_count < 8);
    return pages[page_count++].bytes + (physical & 4095);
}

static uint64_t physical_of(const volatile void *at)
{
    for (uint32_t i = 0; i < page_count; i++)
        if ((const uint8_t *)at >= pages[i].bytes && (const uint8_t *)at < pages[i].bytes + 4096)
            return pages[i].at + (uint64_t)((const uint8_t *)at - pages[i].bytes);
    fail();
    return 0;
}

volatile void *platform_map_device(uint64_t physical, size_t bytes)
{
    assert_true(bytes > 0);
    return page_at(physical);
}

uint32_t mmio_read32(const volatile void *at)
{
    (void)physical_of(at);
    return *(const volatile uint32_t *)at;
}

uint64_t mmio_read64(const volatile void *at)
{
    (void)physical_of(at);
    return *(const volatile uint64_t *)at;
}

void mmio_write32(volatile void *at, uint32_t value)
{
    assert_true(write_count < WRITES);
    writes[write_count].at = physical_of(at);
    writes[write_count++].value = value;
}

bool pci_next(struct pci_device *device)
{
    uint32_t i = device->vendor_id == 0 ? 0 : device->function + 1u; /* its number, here */

    if (i == device_count)
        return false;
    *device = devices[i];
    return true;
}

uint32_t pci_read32(const struct pci_device *device, uint8_t offset)
{
    assert_int_equal(device->vendor_id, 0x8086);
    return config[offset];
}

void pmu_imc_add(struct pmu_imc_counters *counters, const volatile uint8_t *reads,
                 const volatile uint8_t *written)
{
    counters->at[counters->count][0] = reads;
    counters->at[counters->count++][1] = written;
}

static void put(uint64_t physical, uint64_t value, size_t bytes)
{
    memcpy(page_at(physical), &value, bytes);
}

static void add_device(uint8_t bus, uint8_t slot, uint16_t vendor, uint16_t id)
{
    devices[device_count] = (struct pci_device){.bus = bus,
                                                .slot = slot,
                                                .function = (uint8_t)device_count,
                                                .vendor_id = vendor,
                                                .device_id = id};
    device_count++;
}

static void begin(void)
{
    memset(pages, 0, sizeof pages);
    memset(config, 0, sizeof config);
    memset(&found, 0, sizeof found);
    device_count = page_count = write_count = 0;
    pci_config_set(CONFIG, 0, 0x7f);
}

static void expect_pair(uint32_t i, uint64_t reads, uint64_t written)
{
    assert_true(i < found.count);
    assert_int_equal(physical_of(found.at[i][0]), reads);
    assert_int_equal(physical_of(found.at[i][1]), written);
}

static void expect_write(uint32_t i, uint64_t at, uint32_t value)
{
    assert_true(i < write_count);
    assert_int_equal(writes[i].at, at);
    assert_int_equal(writes[i].value, value);
}

static void channels_of_skylake_are_functions(void **state)
{
    const uint64_t first = CONFIG + (0x3aull << 20) + (10 << 15),
                   second = first + (1 << 15) + 0x2000;

    (void)state;
    begin();
    add_device(0x3a, 10, 0x8086, 0x2042);
    add_device(0x3a, 10, 0x8086, 0x2043);
    add_device(0x3a, 11, 0x8086, 0x204a);
    add_device(0x80, 11, 0x8086, 0x204a); /* its bus is not in memory */
    pmu_imc_find_server(0x55, &found);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.access, PMU_IMC_HALVES);
    expect_pair(0, first + 0xa0, first + 0xa8);
    expect_pair(1, second + 0xa0, second + 0xa8);
    assert_int_equal(write_count, 8);
    expect_write(0, first + 0xf4, 3);
    expect_write(1, first + 0xd8, 0x400304);
    expect_write(2, first + 0xdc, 0x400c04);
    expect_write(3, first + 0xf4, 0);
    begin();
    pci_config_set(0, 0, 0xff);
    add_device(0x3a, 10, 0x8086, 0x2042);
    pmu_imc_find_server(0x55, &found);
    assert_int_equal(found.count | found.access, 0);
}

static void controllers_of_ice_lake_run_freely(void **state)
{
    (void)state;
    begin();
    add_device(0x7e, 0, 0x8086, 0x3451);
    add_device(0x7e, 1, 0x10ee, 0x3451); /* somebody else's */
    config[0xd0] = 0xe0000000 | 0x1fb; /* FD800000H */
    config[0xd8] = 0xfffff800 | 0x1;
    config[0xdc] = 0x20;
    config[0xe4] = UINT32_MAX;
    pmu_imc_find_server(0x6a, &found);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.access, PMU_IMC_LONG);
    expect_pair(0, 0xfd803290, 0xfd803298);
    expect_pair(1, 0xfd822290, 0xfd822298);
    assert_int_equal(write_count, 0);
    begin();
    add_device(0x7e, 0, 0x8086, 0x3451);
    config[0xd8] = 1; /* without a base */
    pmu_imc_find_server(0x6c, &found);
    assert_int_equal(found.count, 0);
}

#define TABLE 0x20f7fe00000ull
#define UNIT(type, how)                                                                         \
    {                                                                                           \
        (uint64_t)(how) << 62 | 8ull << 24 | 48ull << 16 | 0x40ull << 8 | 4, 0xd0c22800, (type) \
    }

/* The function that has the table of units, and one more capability. */
static void begin_discovery(const uint64_t (*units)[3], uint64_t count)
{
    const uint64_t page = CONFIG + (0x7eull << 20) + (3ull << 15);

    begin();
    add_device(0x7e, 3, 0x8086, 0x09a7);
    put(page + 0x100, 0x10810010, 4); /* next at 108H */
    put(page + 0x108, 0x00010023, 4);
    put(page + 0x110, 1, 4);
    put(page + 0x114, 2, 4); /* in base register 2 */
    put(page + 0x18, (TABLE & UINT32_MAX) | 0xc, 4);
    put(page + 0x1c, TABLE >> 32, 4);
    put(TABLE, count << 16 | 4 << 8 | 1, 8);
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < 3; k++)
            put(TABLE + (i + 1) * 32 + 8 * k, units[i][k], 8);
}

static void units_of_sapphire_rapids_are_listed(void **state)
{
    static const uint64_t units[5][3] = {
        UNIT(5, 1), UNIT(6, 1), UNIT(6, 0), {UINT64_MAX, UINT64_MAX, UINT64_MAX}, {0, 0, 6}};

    (void)state;
    begin_discovery(units, 5);
    pmu_imc_find_server(0x8f, &found);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.access, PMU_IMC_LONG);
    expect_pair(0, 0xd0c22808, 0xd0c22810);
    assert_int_equal(write_count, 4);
    expect_write(0, 0xd0c22800, 0x300);
    expect_write(1, 0xd0c22840, 0xcf05);
    expect_write(2, 0xd0c22844, 0xf005);
    expect_write(3, 0xd0c22800, 0);
}

static void damaged_tables_are_left_alone(void **state)
{
    static const uint64_t units[1][3] = {UNIT(6, 1)};
    const uint64_t page = CONFIG + (0x7eull << 20) + (3ull << 15);

    (void)state;
    for (int wrong = 0; wrong < 6; wrong++) {
        begin_discovery(units, 1);
        if (wrong == 0)
            put(page + 0x114, 9, 4); /* no such base register */
        else if (wrong == 1)
            put(page + 0x18, 1, 4); /* of ports */
        else if (wrong == 2)
            put(TABLE, UINT64_MAX, 8);
        else if (wrong == 3)
            put(TABLE, 1 << 16 | 2 << 8 | 1, 8); /* units are too short */
        else if (wrong == 4)
            put(page + 0x100, 0x10010010, 4); /* a list that is a loop */
        else
            put(page + 0x110, 2, 4); /* of something else */
        pmu_imc_find_server(0xcf, &found);
        assert_int_equal(found.count, 0);
        assert_int_equal(write_count, 0);
    }
    begin_discovery(units, 1);
    pmu_imc_find_server(0xad, &found); /* Granite Rapids: not known */
    assert_int_equal(found.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_of_skylake_are_functions),
        cmocka_unit_test(controllers_of_ice_lake_run_freely),
        cmocka_unit_test(units_of_sapphire_rapids_are_listed),
        cmocka_unit_test(damaged_tables_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
