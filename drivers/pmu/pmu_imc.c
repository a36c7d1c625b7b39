/* Reads the counters of memory controllers, and finds those of clients.  Intel, "Monitoring
 * Integrated Memory Controller Requests in the 2nd, 3rd, 4th, 5th, 6th generation Intel Core
 * processors"; data sheets of the processors, volume 2, "MCHBAR".
 */
#include "drivers/pmu/pmu_imc.h"

#include "drivers/mmio.h"
#include "drivers/platform.h"
#include "drivers/pmu/pmu_umc.h"
#include "drivers/processor/processor_regs.h"
#include "lib/array.h"
#include "lib/pmu/x86_signature.h"
#include "lib/x86.h"

#define MCHBAR 0x48 /* two words; bit 0: enabled */
#define MCHBAR_ADDRESS 0x7fffff8000ull
#define COUNTERS_PAGE 0x5000u
#define COUNTERS_BYTES 4096u
#define DATA_READS 0x50u
#define DATA_WRITES 0x54u
#define FAMILY 6u
#define NOBODY UINT32_MAX

/* Host bridges: Sandy Bridge, Ivy Bridge, Haswell, Broadwell, Skylake, Kaby Lake, Coffee Lake, Ice
 * Lake.  Later ones have the counters elsewhere. */
static const uint16_t bridges[] = {
    0x0100, 0x0104, 0x0150, 0x0154, 0x0c00, 0x0c04, 0x0a04, 0x1604, 0x1900, 0x1904,
    0x190c, 0x190f, 0x1910, 0x1918, 0x191f, 0x5904, 0x590c, 0x590f, 0x5910, 0x5914,
    0x5918, 0x591f, 0x3e0f, 0x3e10, 0x3e18, 0x3e1f, 0x3e30, 0x3e31, 0x3e32, 0x3e33,
    0x3ec2, 0x3ec4, 0x3ec6, 0x3eca, 0x3ecc, 0x3ed0, 0x8a02, 0x8a12,
};

static struct pmu_imc_counters counters; /* none: not found */
static bool by_registers; /* AMD's */
static uint32_t owner = NOBODY; /* the CPU that tells them */

void pmu_imc_add(struct pmu_imc_counters *to, const volatile uint8_t *reads,
                 const volatile uint8_t *writes)
{
    if (to->count == PMU_IMC_MAX)
        return;
    to->at[to->count][false] = reads;
    to->at[to->count++][true] = writes;
}

static void find_client(void)
{
    const volatile uint8_t *page;
    struct pci_device bridge;
    uint64_t base;

    if (pci_find(PMU_IMC_INTEL, bridges, ARRAY_COUNT(bridges), &bridge) != 0 || bridge.bus != 0 ||
        bridge.slot != 0 || bridge.function != 0)
        return;
    base = pci_read32(&bridge, MCHBAR) | (uint64_t)pci_read32(&bridge, MCHBAR + 4) << 32;
    if (!(base & 1) || (base & MCHBAR_ADDRESS) == 0)
        return;
    page = platform_map_device((base & MCHBAR_ADDRESS) + COUNTERS_PAGE, COUNTERS_BYTES);
    pmu_imc_add(&counters, page + DATA_READS, page + DATA_WRITES);
}

bool pmu_imc_probe(void)
{
    struct cpuid_result leaf = x86_cpuid(1, 0);
    struct x86_signature cpu = x86_signature_parse(leaf.eax, false);

    if (by_registers || counters.count)
        return true;
    if (leaf.ecx & CPUID_1_ECX_HYPERVISOR)
        return false;
    by_registers = pmu_umc_probe();
    if (by_registers)
        return true;
    if (cpu.family == FAMILY)
        pmu_imc_find_server(cpu.model, &counters);
    if (!counters.count)
        find_client();
    return counters.count;
}

uint8_t pmu_imc_bits(void)
{
    return !by_registers && counters.access == PMU_IMC_WORD ? 32 : 48;
}

bool pmu_imc_claim(void)
{
    if (owner == NOBODY)
        owner = platform_cpu();
    return pmu_imc_tells();
}

bool pmu_imc_tells(void)
{
    return platform_cpu() == owner;
}

void pmu_imc_start(void)
{
    if (pmu_imc_claim() && by_registers)
        pmu_umc_start();
}

/* The upper half is read again, as the lower one may have passed its range in between. */
static uint64_t read_halves(const volatile uint8_t *at)
{
    uint32_t high = mmio_read32(at + 4), low, before;

    do {
        before = high;
        low = mmio_read32(at);
        high = mmio_read32(at + 4);
    } while (high != before);
    return (uint64_t)high << 32 | low;
}

static uint64_t read_one(const volatile uint8_t *at)
{
    return counters.access == PMU_IMC_WORD   ? mmio_read32(at)
           : counters.access == PMU_IMC_LONG ? mmio_read64(at)
                                             : read_halves(at);
}

uint64_t pmu_imc_read(bool writes)
{
    uint64_t lines = 0;

    if (!pmu_imc_tells())
        return 0;
    if (by_registers)
        return pmu_umc_read(writes);
    for (uint32_t i = 0; i < counters.count; i++)
        lines += read_one(counters.at[i][writes]);
    return lines;
}
