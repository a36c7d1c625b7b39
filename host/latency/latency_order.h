/* Hits of probes and what else happens to threads, in the order of time over all CPUs.
 *
 * A trace of one CPU is read as it is, unless its functions get numbers as the program runs.  Of
 * several CPUs, the chunks are read a second time, those of each CPU one after another, and merged:
 * a thread's entry may be in one CPU's chunks and its return in another's.  Memory is that of a
 * chunk for each CPU.  Never prints.
 */
#pragma once

#include "host/scan/trace_scan.h"

struct latency_sink {
    void *context;
    void (*hit)(void *context, const struct trace_hit *hit);
    /* HR_REC_SWITCH, HR_REC_SYSCALL, HR_REC_WAIT, HR_REC_WAKE, HR_REC_REQUEST, or HR_REC_GAP for
     * a file, whole.  A system call and a gap come when they end. */
    void (*record)(void *context, uint8_t type, const void *body);
    /* Hits are missing here: dropped, or in chunks that did not come. */
    void (*loss)(void *context, uint64_t time);
    /* Nothing is missing up to the end of the program, and that is selected. */
    void (*exit)(void *context);
};

/* Returns how many counters a hit has.  What the emulator counts at the end of a run, in mode
 * exact, is not in hits. */
static inline uint32_t latency_order_events(const struct trace_info *info)
{
    return info->has_sampling ? info->sampling.event_count : info->event_count;
}

/* Reads the trace to its end.  `begin` is called once, before anything else, when what the trace
 * says about itself is known.  Returns 0 or -errno, or what `begin` returned. */
int latency_order_run(struct trace_scan *scan, int (*begin)(void *owner), void *owner,
                      const struct latency_sink *sink);
