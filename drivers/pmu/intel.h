/* What the parts of the Intel driver share. */
#pragma once

#include "drivers/pmu/pmu.h"

#define INTEL_FIXED_MAX 16 /* FIXED_CTR_CTRL has four bits for each */

/* A copy of the capabilities, for start and stop, which are not given them. */
extern struct pmu_caps intel_caps;

/* Where the counters are: PERFEVTSELx and PMCx (the full-width aliases A_PMCx where they exist), or
 * the one block of registers that version 6 has for each. */
struct intel_registers {
    uint32_t select, counter, fixed;
    uint32_t stride;
};
extern struct intel_registers intel_registers;

/* Counters can be told to rest while the firmware handles an SMI; it would count as ring 0. */
extern bool intel_smm_freeze;

/* What the firmware had in registers that are not one counter's. */
struct intel_found {
    uint64_t global_control, debug_control;
};
extern struct intel_found intel_found;

/* PEBS: fills caps from IA32_PERF_CAPABILITIES; without PEBS says why. */
void intel_pebs_probe(struct pmu_caps *caps, uint64_t capabilities);

/* Whether records are adaptive, which events' selects and FIXED_CTR_CTRL say as well. */
bool intel_pebs_adaptive(void);

int intel_pebs_start(const struct pmu_session *session, struct pmu_precise *area);
void intel_pebs_stop(const struct pmu_session *session);
void intel_pebs_served(void);
void intel_pebs_reset(void); /* part of pmu_driver.reset */

/* pmu_driver.assign, start, stop and reset. */
int intel_assign(const struct pmu_caps *caps, struct pmu_session *session,
                 struct pmu_refusal *refusal);
int intel_start(const struct pmu_session *session);
void intel_stop(const struct pmu_session *session);
void intel_reset(void);
