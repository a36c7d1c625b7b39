/* Finds the memory controllers of Intel's servers, and has two counters of each channel count.
 *
 * Intel Xeon Processor Scalable Memory Family Uncore Performance Monitoring Reference Manual
 * (336274): "Memory Controller (IMC) Performance Monitoring".  3rd Gen Intel Xeon Scalable
 * Processors, Codename Ice Lake, Uncore Performance Monitoring (639778): "IMC Free-Running
 * Counters".  4th Gen ..., Codename Sapphire Rapids (779667, 642245): "Uncore Performance
 * Monitoring Discovery".
 */
#include <stddef.h>

#include "drivers/mmio.h"
#include "drivers/pci/pci.h"
#include "drivers/pci/pci_config.h"
#include "drivers/platform.h"
#include "drivers/pmu/pmu_imc.h"
#include "lib/array.h"

#define MODEL_SKYLAKE 0x55u /* Cascade Lake and Cooper Lake are, too */
#define MODEL_ICE_LAKE 0x6au
#define MODEL_ICE_LAKE_D 0x6cu
#define MODEL_SAPPHIRE_RAPIDS 0x8fu
#define MODEL_EMERALD_RAPIDS 0xcfu

/* Skylake: functions of a channel, and their registers. */
enum {
    CHANNEL_0 = 0x2042,
    CHANNEL_1 = 0x2046,
    CHANNEL_2 = 0x204a,
    CHANNEL_COUNTER = 0xa0, /* eight bytes each */
    CHANNEL_SELECT = 0xd8, /* four bytes each */
    CHANNEL_CONTROL = 0xf4,
    CONTROL_RESET = 1 << 0 | 1 << 1, /* of selects, of counters */
    SELECT_ENABLE = 1 << 22,
    CAS_READS = 0x0304, /* unit mask and event: column accesses, of 64 bytes */
    CAS_WRITES = 0x0c04,
};

/* Ice Lake: the function that says where controllers are, and counters that run freely. */
enum {
    CONTROLLERS = 0x3451,
    CONTROLLERS_BASE = 0xd0,
    CONTROLLERS_MEMORY = 0xd8, /* four */
    CONTROLLERS_COUNT = 4,
    FREE_PAGE = 0x2000,
    FREE_READS = 0x290,
    FREE_WRITES = 0x298,
};

/* Sapphire Rapids: the table that lists units, and those of its units that are channels. */
enum {
    DISCOVERY = 0x09a7,
    CAPABILITIES = 0x100,
    CAPABILITIES_LAST = 0xff0,
    CAPABILITIES_MAX = 240, /* 16 bytes each: more is a loop */
    CAPABILITY_VENDOR = 0x23,
    CAPABILITY_ID = 0x8,
    CAPABILITY_BAR = 0xc,
    ID_UNITS = 1,
    BAR_HIGH = 4, /* in bits 2:1: 64 bits */
    UNIT_CHANNEL = 6,
    UNIT_BYTES = 24,
    ACCESS_MEMORY = 1,
    UNIT_MAPPED = 4096,
    UNIT_RESET = 1 << 8 | 1 << 9,
    UNIT_READS = 0xcf05,
    UNIT_WRITES = 0xf005,
};

static void add_skylake(const struct pci_device *device, struct pmu_imc_counters *counters)
{
    volatile uint8_t *page;

    if (device->device_id != CHANNEL_0 && device->device_id != CHANNEL_1 &&
        device->device_id != CHANNEL_2)
        return;
    page = pci_config_map(device);
    if (page == NULL)
        return;
    mmio_write32(page + CHANNEL_CONTROL, CONTROL_RESET);
    mmio_write32(page + CHANNEL_SELECT, CAS_READS | SELECT_ENABLE);
    mmio_write32(page + CHANNEL_SELECT + 4, CAS_WRITES | SELECT_ENABLE);
    mmio_write32(page + CHANNEL_CONTROL, 0);
    pmu_imc_add(counters, page + CHANNEL_COUNTER, page + CHANNEL_COUNTER + 8);
}

static void add_ice_lake(const struct pci_device *device, struct pmu_imc_counters *counters)
{
    uint64_t base;

    if (device->device_id != CONTROLLERS)
        return;
    base = (uint64_t)(pci_read32(device, CONTROLLERS_BASE) & 0x1fffffff) << 23;
    for (uint8_t i = 0; i < CONTROLLERS_COUNT && base != 0; i++) {
        uint32_t memory = pci_read32(device, (uint8_t)(CONTROLLERS_MEMORY + 4 * i));
        const volatile uint8_t *page;

        if (memory == 0 || memory == UINT32_MAX)
            continue;
        page = platform_map_device((base | (uint64_t)(memory & 0x7ff) << 12) + FREE_PAGE, 4096);
        pmu_imc_add(counters, page + FREE_READS, page + FREE_WRITES);
    }
}

/* A unit's three words: number and places of its registers; the address of its control; its type.
 */
static void add_unit(const uint64_t unit[3], struct pmu_imc_counters *counters)
{
    uint8_t selects = unit[0] >> 8 & 0xff, values = unit[0] >> 24 & 0xff;
    volatile uint8_t *page;

    if (unit[0] == 0 || unit[0] == UINT64_MAX || unit[1] == 0 || unit[1] == UINT64_MAX ||
        (unit[2] & 0xffff) != UNIT_CHANNEL || unit[0] >> 62 != ACCESS_MEMORY || selects == 0 ||
        values == 0)
        return;
    page = platform_map_device(unit[1], UNIT_MAPPED);
    mmio_write32(page, UNIT_RESET);
    mmio_write32(page + selects, UNIT_READS);
    mmio_write32(page + selects + 4, UNIT_WRITES);
    mmio_write32(page, 0);
    pmu_imc_add(counters, page + values, page + values + 8);
}

static void read_units(uint64_t table_address, struct pmu_imc_counters *counters)
{
    const volatile uint8_t *table = platform_map_device(table_address, UNIT_BYTES);
    uint64_t head = mmio_read64(table);
    uint32_t stride = (head >> 8 & 0xff) * 8, units = head >> 16 & 0x3ff;

    if (head == UINT64_MAX || stride < UNIT_BYTES)
        return;
    table = platform_map_device(table_address, (size_t)(1 + units) * stride);
    for (uint32_t i = 1; i <= units; i++) {
        const volatile uint8_t *at = table + (size_t)i * stride;
        const uint64_t unit[3] = {mmio_read64(at), mmio_read64(at + 8), mmio_read64(at + 16)};

        add_unit(unit, counters);
    }
}

/* Returns the address in the base register that a capability names; 0: it names none. */
static uint64_t units_address(const volatile uint8_t *page, uint32_t capability)
{
    uint32_t bar = mmio_read32(page + capability + CAPABILITY_BAR), low;

    if (bar > 5)
        return 0;
    low = mmio_read32(page + PCI_BAR_0 + 4 * bar);
    if (low & 1 || bar + ((low & BAR_HIGH) != 0) > 5)
        return 0;
    return (low & ~0xfull) |
           (low & BAR_HIGH ? (uint64_t)mmio_read32(page + PCI_BAR_0 + 4 * bar + 4) << 32 : 0);
}

static void add_sapphire_rapids(const struct pci_device *device, struct pmu_imc_counters *counters)
{
    const volatile uint8_t *page = device->device_id == DISCOVERY ? pci_config_map(device) : NULL;
    uint32_t at = CAPABILITIES;

    for (uint32_t i = 0; page != NULL && i < CAPABILITIES_MAX; i++) {
        uint32_t head = mmio_read32(page + at);
        uint64_t address;

        if (head == 0 || head == UINT32_MAX)
            return;
        if ((head & 0xffff) == CAPABILITY_VENDOR &&
            (mmio_read32(page + at + CAPABILITY_ID) & 0xffff) == ID_UNITS) {
            address = units_address(page, at);
            if (address != 0)
                read_units(address, counters);
        }
        at = head >> 20 & 0xffc;
        if (at < CAPABILITIES || at > CAPABILITIES_LAST)
            return;
    }
}

static const struct {
    uint32_t model;
    enum pmu_imc_access access;
    void (*add)(const struct pci_device *device, struct pmu_imc_counters *counters);
} servers[] = {
    {MODEL_SKYLAKE, PMU_IMC_HALVES, add_skylake},
    {MODEL_ICE_LAKE, PMU_IMC_LONG, add_ice_lake},
    {MODEL_ICE_LAKE_D, PMU_IMC_LONG, add_ice_lake},
    {MODEL_SAPPHIRE_RAPIDS, PMU_IMC_LONG, add_sapphire_rapids},
    {MODEL_EMERALD_RAPIDS, PMU_IMC_LONG, add_sapphire_rapids},
};

void pmu_imc_find_server(uint32_t model, struct pmu_imc_counters *counters)
{
    for (size_t i = 0; i < ARRAY_COUNT(servers); i++) {
        struct pci_device device = {0};

        if (servers[i].model != model)
            continue;
        counters->access = servers[i].access;
        while (pci_next(&device))
            if (device.vendor_id == PMU_IMC_INTEL)
                servers[i].add(&device, counters);
        if (!counters->count)
            counters->access = PMU_IMC_WORD;
        return;
    }
}
