/* Reads the free-running counters of the memory controller.  Intel, "Monitoring Integrated Memory
 * Controller Requests in the 2nd, 3rd, 4th, 5th, 6th generation Intel Core processors"; data sheets
 * of the processors, volume 2, "MCHBAR".
 */
#include "drivers/pmu/pmu_imc.h"

#include <stddef.h>

#include "drivers/mmio.h"
#include "drivers/pci/pci.h"
#include "drivers/platform.h"
#include "lib/array.h"
#include "lib/x86.h"

#define INTEL 0x8086u
#define MCHBAR 0x48 /* two words; bit 0: enabled */
#define MCHBAR_ADDRESS 0x7fffff8000ull
#define COUNTERS_PAGE 0x5000u
#define COUNTERS_BYTES 4096u
#define DATA_READS 0x50u
#define DATA_WRITES 0x54u
#define CPUID_1_ECX_HYPERVISOR (1u << 31)
#define NOBODY UINT32_MAX

/* Host bridges: Sandy Bridge, Ivy Bridge, Haswell, Broadwell, Skylake, Kaby Lake, Coffee Lake, Ice
 * Lake.  Later ones have the counters elsewhere. */
static const uint16_t bridges[] = {
    0x0100, 0x0104, 0x0150, 0x0154, 0x0c00, 0x0c04, 0x0a04, 0x1604, 0x1900, 0x1904,
    0x190c, 0x190f, 0x1910, 0x1918, 0x191f, 0x5904, 0x590c, 0x590f, 0x5910, 0x5914,
    0x5918, 0x591f, 0x3e0f, 0x3e10, 0x3e18, 0x3e1f, 0x3e30, 0x3e31, 0x3e32, 0x3e33,
    0x3ec2, 0x3ec4, 0x3ec6, 0x3eca, 0x3ecc, 0x3ed0, 0x8a02, 0x8a12,
};

static const volatile uint8_t *counters; /* NULL: none */
static uint32_t owner = NOBODY; /* the CPU that tells them */

bool pmu_imc_probe(void)
{
    struct pci_device bridge;
    uint64_t base;

    if (counters != NULL)
        return true;
    if (x86_cpuid(1, 0).ecx & CPUID_1_ECX_HYPERVISOR ||
        pci_find(INTEL, bridges, ARRAY_COUNT(bridges), &bridge) != 0 || bridge.bus != 0 ||
        bridge.slot != 0 || bridge.function != 0)
        return false;
    base = pci_read32(&bridge, MCHBAR) | (uint64_t)pci_read32(&bridge, MCHBAR + 4) << 32;
    if (!(base & 1) || (base & MCHBAR_ADDRESS) == 0)
        return false;
    counters = platform_map_device((base & MCHBAR_ADDRESS) + COUNTERS_PAGE, COUNTERS_BYTES);
    return true;
}

void pmu_imc_start(void)
{
    if (owner == NOBODY)
        owner = platform_cpu();
}

uint32_t pmu_imc_read(bool writes)
{
    return platform_cpu() == owner ? mmio_read32(counters + (writes ? DATA_WRITES : DATA_READS)) : 0;
}
