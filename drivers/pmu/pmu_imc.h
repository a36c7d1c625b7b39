/* The memory controllers' own counters: cache lines that they read and wrote for anybody, cores,
 * graphics and devices alike.  They are the machine's (AMD: the processor's), not a CPU's: the CPU
 * that starts first tells them, on all others they are 0.  Nothing is touched in a virtual machine,
 * or on processors that are not named here:
 *
 * Intel's client processors up to Ice Lake, by the host bridge (pmu_imc.c); servers of Skylake,
 * Cascade Lake, Cooper Lake, Ice Lake, Sapphire Rapids and Emerald Rapids (pmu_imc_server.c); AMD's
 * from Zen 4 on (pmu_umc.h).  They count from the probe on, and are left counting.
 *
 * probe: boot.  start: on the CPU concerned, by one at a time.  read: any context, NMI included.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/pci/pci.h"

/* Returns whether the machine has the counters; maps them. */
bool pmu_imc_probe(void);

/* Returns how many bits the counts have.  After a probe that found them. */
uint8_t pmu_imc_bits(void);

void pmu_imc_start(void);

/* Returns lines of 64 bytes: written ones, or read ones.  After start. */
uint64_t pmu_imc_read(bool writes);

/* Of whom the counts are: the first CPU that called this tells them. */
bool pmu_imc_claim(void);
bool pmu_imc_tells(void);

/* For pmu_imc_server.c. */
#define PMU_IMC_INTEL 0x8086u
#define PMU_IMC_MAX 64u /* memory controllers, or channels, of a machine */
enum pmu_imc_access {
    PMU_IMC_WORD, /* 32 bits */
    PMU_IMC_LONG, /* 48, by one access */
    PMU_IMC_HALVES, /* 48, by two */
};
struct pmu_imc_counters {
    enum pmu_imc_access access;
    uint32_t count;
    const volatile uint8_t *at[PMU_IMC_MAX][2]; /* of reads, of writes */
};

/* Adds a pair of counters, if there is room. */
void pmu_imc_add(struct pmu_imc_counters *counters, const volatile uint8_t *reads,
                 const volatile uint8_t *writes);

/* Finds the counters of a server processor of this model, family 6, and starts them. */
void pmu_imc_find_server(uint32_t model, struct pmu_imc_counters *counters);
