/* How long threads waited, by the stack at which they began to: from HR_SAMPLE_WAITING to the
 * HR_REC_SWITCH that brings the thread back.
 *
 * The two may be in chunks of different CPUs, in any order, so both are kept until off_cpu_settle.
 * Never prints.
 */
#pragma once

#include "host/scan/trace_scan.h"

struct off_cpu { /* all zero at first */
    struct off_cpu_event {
        uint64_t time;
        uint32_t tid;
        uint16_t cpu; /* of a wait, as the next two */
        uint32_t stack;
        uint64_t ip;
        bool wait; /* false: the thread runs again */
    } * events; /* owned */
    size_t count;
};

void off_cpu_free(struct off_cpu *off);

/* For a visitor's waits and record.  0 or -ENOMEM. */
int off_cpu_take_waits(struct off_cpu *off, const struct trace_samples *samples);
int off_cpu_take_record(struct off_cpu *off, const struct trace_record *record);

/* There are so many that off_cpu_settle should be called before the end: then a wait whose end is
 * in a chunk to come is kept. */
bool off_cpu_full(const struct off_cpu *off);

/* Calls `take` for each wait that has ended, by threads and in the order of time, until it returns
 * another value than 0, which is the result. */
int off_cpu_settle(struct off_cpu *off,
                   int (*take)(void *context, const struct off_cpu_event *wait, uint64_t ticks),
                   void *context);
