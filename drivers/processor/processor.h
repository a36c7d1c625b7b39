/* What a processor is and how the firmware has set it up: CPUID and MSRs of the calling CPU.
 *
 * CPUID is trusted; MSRs are read with faults caught, and a value of 0 after a fault means
 * "unknown".  Changes nothing but the microcode signature register, which is meant for that.
 * Context: boot.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/pmu/x86_signature.h"

enum processor_turbo { TURBO_UNKNOWN, TURBO_NONE, TURBO_OFF, TURBO_ON };

struct processor {
    char vendor[13];
    char brand[49];
    char hypervisor[13]; /* "" without one */
    bool intel, amd; /* amd: Hygon too */
    struct x86_signature signature;
    uint32_t microcode;
    uint32_t base_mhz, max_mhz, bus_mhz; /* leaf 16H; 0: unknown */
    enum processor_turbo turbo;
    bool invariant_tsc;
    bool hwp; /* the processor chooses its P-states, as hwp_request says */
    uint64_t hwp_request; /* as the register has it */
    bool pstates; /* the next two are known */
    uint32_t pstate_wanted; /* Intel: ratio to the bus; AMD: number of the P-state */
    uint32_t pstate_now;
};

void processor_read(struct processor *out);

/* Returns whether CPUID has this leaf, standard or extended. */
bool processor_has_leaf(uint32_t leaf);

/* Returns the microcode's revision on this CPU. */
uint32_t processor_microcode(void);

/* Returns this core's kind by CPUID 1AH on a hybrid processor; otherwise 0. */
#define PROCESSOR_KIND_ATOM 0x20
#define PROCESSOR_KIND_CORE 0x40
uint8_t processor_core_kind(void);
