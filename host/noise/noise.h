/* The times in which the program did not run or was disturbed: what `hr noise` shows.
 *
 * One pass, bounded memory: all are counted by cause, the longest are kept.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/noise/waits.h"
#include "host/scan/trace_scan.h"

#define NOISE_KEPT_MAX 65536u

enum noise_cause {
    NOISE_SLEEP, /* the program's own waits: HR_REC_GAP */
    NOISE_INPUT,
    NOISE_OUTPUT,
    NOISE_WAIT,
    NOISE_STEAL, /* a hypervisor ran something else on the CPU */
    NOISE_OTHER_GAP, /* of a reason that is not known here */
    NOISE_IDLE, /* the CPU had no thread; others may have run elsewhere */
    NOISE_KERNEL, /* a sample came late because of a system call: the kernel takes no interrupts */
    NOISE_LATE, /* a sample came late, and nothing in the trace says why */
    NOISE_READING, /* reading the counters took longer than it should: SMI, VM exit, steal */
    NOISE_LOST, /* samples were dropped: what happened is not known */
    NOISE_CAUSES,
};

struct noise_span {
    uint64_t time; /* ticks, when it began */
    uint64_t ticks;
    uint64_t detail; /* KERNEL: number of the system call; LOST: samples; otherwise 0 */
    uint32_t tid;
    uint16_t cpu;
    uint8_t cause; /* enum noise_cause */
};

struct noise_sum {
    uint64_t count;
    uint64_t ticks; /* in all; saturates */
    uint64_t longest;
};

struct noise_cpu;

struct noise {
    const struct trace_info *info;
    const struct selection *selection;
    uint64_t least_ns; /* shorter ones are counted nowhere: set after noise_init */
    uint64_t least_ticks; /* least_ns, once the metadata say how long a tick is */
    uint64_t spacing; /* the least time between samples that is to be expected; of a run */
    struct noise_sum sums[NOISE_CAUSES];
    struct noise_span *kept; /* the longest, in order after noise_finish; owned */
    uint32_t kept_count;
    uint64_t dropped; /* that were not kept */
    uint64_t skipped; /* points at which the sampler left the program its share; saturates */
    uint64_t period_changes; /* of overflow sampling */
    uint32_t cpu_count; /* that samples came from */
    uint64_t time_last;
    struct waits waits;
    struct noise_cpu *cpus; /* 65536, untouched pages cost nothing; owned */
};

extern const struct trace_visitor noise_visitor; /* its context: struct noise */

/* 0 or -ENOMEM; noise_free after either. */
int noise_init(struct noise *noise, const struct trace_scan *scan);
void noise_free(struct noise *noise);

/* After the walk: sorts what was kept, longest first. */
void noise_finish(struct noise *noise);

/* A word for csv, JSON and tables. */
const char *noise_cause_name(enum noise_cause cause);

/* The run was on the emulator's own clock: the machine can disturb nothing. */
bool noise_is_virtual(const struct trace_info *info);
