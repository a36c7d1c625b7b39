/* What happened to the CPUs during a run: frequency, SMIs, throttling.  Never prints. */
#ifndef HOST_MACHINE_MACHINE_CPUS_H
#define HOST_MACHINE_MACHINE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/trace/trace_info.h"

#define MACHINE_MOVED_LEAST 0.01 /* a frequency that moved by no more stood still */
#define MACHINE_FAR_LEAST 0.1 /* a frequency that is no further from the base is near it */

/* Events that the thermal registers log and that slow a CPU down: bits of their log (SDM volume
 * 3B, "Thermal Status Information"). */
enum {
    MACHINE_HOT = 1 << 1, /* the thermal control circuit was active */
    MACHINE_PROCHOT = 1 << 3, /* somebody else asked for that */
    MACHINE_CRITICAL = 1 << 5,
    MACHINE_POWER = 1 << 11,
    MACHINE_CURRENT = 1 << 13,
    MACHINE_DOMAIN = 1 << 15, /* another part of the processor */
};
#define MACHINE_SLOWED                                                                    \
    (MACHINE_HOT | MACHINE_PROCHOT | MACHINE_CRITICAL | MACHINE_POWER | MACHINE_CURRENT | \
     MACHINE_DOMAIN)

struct machine_cpu {
    const struct hr_rec_machine_cpu *record;
    double before_hz, mean_hz, after_hz; /* 0: unknown */
    double moved; /* the largest of these over the smallest, less 1; 0: fewer than two are known */
    double of_base; /* the mean over the base frequency, which is the TSC's; 0: unknown */
    bool has_smis;
    uint32_t smis;
    bool has_thermal;
    uint32_t events; /* of MACHINE_SLOWED, of the core or its package */
    int margin; /* degrees below the limit at the end; -1: unknown */
};

struct machine_run { /* of all CPUs together */
    bool has_frequency, has_smis, has_thermal; /* of any CPU */
    uint64_t smis;
    uint32_t events;
    double least_hz, most_hz; /* of the means */
    double moved; /* of the CPU on which it moved most: */
    double moved_from_hz, moved_to_hz;
    uint16_t moved_cpu;
    double far_hz, far_of_base; /* of the CPU whose mean was furthest from the base; 0: unknown */
    uint16_t far_cpu;
};

/* Is a mean frequency far from the base, whose multiple this is? */
bool machine_is_far(double of_base);

struct machine_cpu machine_cpu(const struct trace_info *info,
                               const struct hr_rec_machine_cpu *record);
struct machine_run machine_run(const struct trace_info *info);

/* "thermal limit, power limit"; "" for none. */
#define MACHINE_EVENTS_BYTES 128
const char *machine_events(uint32_t events, char out[MACHINE_EVENTS_BYTES]);

/* "3.124 GHz"; "" for 0. */
#define MACHINE_HZ_BYTES 32
const char *machine_hz(double hz, char out[MACHINE_HZ_BYTES]);

/* What disturbed the run, in words: SMIs, throttling, a frequency that moved or was far from the
 * base.  False: nothing. */
#define MACHINE_TROUBLE_BYTES 512
bool machine_trouble(const struct trace_info *info, char out[MACHINE_TROUBLE_BYTES]);

#endif
