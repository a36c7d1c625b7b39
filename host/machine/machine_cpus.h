/* What happened to the CPUs during a run: frequency, SMIs, throttling.  Never prints. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/trace/trace_info.h"

#define MACHINE_MOVED_LEAST 0.01 /* a smaller change of a frequency counts as none */
#define MACHINE_FAR_LEAST 0.1 /* a frequency within this share of the base is near it */

/* Logged events of the thermal registers that slow a CPU down: bits of their log (SDM volume 3B,
 * "Thermal Status Information"). */
enum {
    MACHINE_HOT = 1 << 1, /* the thermal control circuit was active */
    MACHINE_PROCHOT = 1 << 3, /* an external agent requested that */
    MACHINE_CRITICAL = 1 << 5,
    MACHINE_POWER = 1 << 11,
    MACHINE_CURRENT = 1 << 13,
    MACHINE_DOMAIN = 1 << 15, /* caused by another part of the processor */
};
#define MACHINE_SLOWED                                                                    \
    (MACHINE_HOT | MACHINE_PROCHOT | MACHINE_CRITICAL | MACHINE_POWER | MACHINE_CURRENT | \
     MACHINE_DOMAIN)

struct machine_cpu {
    const struct hr_rec_machine_cpu *record;
    double before_hz, mean_hz, after_hz; /* 0: unknown */
    double moved; /* largest of these over smallest, minus 1; 0: fewer than two are known */
    double of_base; /* mean over the base frequency, which is the TSC's; 0: unknown */
    bool has_smis;
    uint32_t smis;
    bool has_thermal;
    uint32_t events; /* bits of MACHINE_SLOWED, for the core or its package */
    int margin; /* degrees below the limit at the end; -1: unknown */
};

struct machine_run { /* summary of all CPUs */
    bool has_frequency, has_smis, has_thermal; /* at least one CPU has it */
    uint64_t smis;
    uint32_t events;
    double least_hz, most_hz; /* of the CPUs' means */
    double moved; /* on the CPU with the largest change: */
    double moved_from_hz, moved_to_hz;
    uint16_t moved_cpu;
    double far_hz, far_of_base; /* on the CPU with the mean furthest from the base; 0: unknown */
    uint16_t far_cpu;
};

/* Returns whether a mean frequency, as a multiple of the base, is far from it. */
bool machine_is_far(double of_base);

struct machine_cpu machine_cpu(const struct trace_info *info,
                               const struct hr_rec_machine_cpu *record);
struct machine_run machine_run(const struct trace_info *info);

/* Writes "thermal limit, power limit"; "" for none. */
#define MACHINE_EVENTS_BYTES 128
const char *machine_events(uint32_t events, char out[MACHINE_EVENTS_BYTES]);

/* Writes "3.124 GHz"; "" for 0. */
#define MACHINE_HZ_BYTES 32
const char *machine_hz(double hz, char out[MACHINE_HZ_BYTES]);

/* Writes what disturbed the run: SMIs, throttling, a frequency that changed or was far from the
 * base.  Returns false if nothing did. */
#define MACHINE_TROUBLE_BYTES 512
bool machine_trouble(const struct trace_info *info, char out[MACHINE_TROUBLE_BYTES]);
