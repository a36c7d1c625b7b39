/* What happened in each slice of time: on every CPU, or to every thread or process.
 *
 * A sample's counts belong to the time since the sample before on that CPU, less the time in which
 * nothing ran there: they are split over the bins in proportion, in whole numbers, so that the bins
 * add up to the total.  Memory is bounded; groups that find no room share one.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/scan/trace_scan.h"

#define TIMELINE_CELLS_MAX (1u << 24) /* of 8 bytes */
#define TIMELINE_GROUPS_MAX 4096u
#define TIMELINE_REST UINT32_MAX /* the key of the group of those that found no room */

enum timeline_word {
    TIMELINE_SAMPLES,
    TIMELINE_LOST,
    TIMELINE_SKIPPED,
    TIMELINE_RUN_TICKS,
    TIMELINE_EVENTS
};

enum timeline_per { TIMELINE_PER_CPU, TIMELINE_PER_THREAD, TIMELINE_PER_PROCESS };

struct timeline_group {
    uint32_t key; /* CPU, thread, or number of a process in the trace's table */
    uint64_t *words; /* TIMELINE_EVENTS + event_count for each bin; owned */
};

struct timeline_stretch { /* of time, in ticks */
    uint64_t from;
    uint64_t to;
};

struct timeline_cpu;

struct timeline {
    const struct trace_info *info;
    const struct selection *selection;
    enum timeline_per per; /* losses belong to no thread, and are counted by CPU alone */
    bool any_skipped; /* samples were left out so that the program kept its share */
    uint64_t last; /* ticks: of the trace */
    uint64_t bin_ns;
    uint64_t bins;
    uint64_t begin; /* ticks: of the first bin */
    uint64_t end; /* ticks: of the last bin, which may be shorter than the others */
    uint32_t words; /* of a bin */
    uint32_t event_count;
    struct timeline_group *groups; /* in the order of keys after timeline_finish */
    uint32_t group_count;
    uint64_t cells; /* in use */
    uint32_t *index; /* hash table of group numbers + 1 */
    struct timeline_cpu *cpus; /* of timeline_count.c: 65536, untouched pages cost nothing */
    uint32_t cpu_end; /* those from here on did nothing */
    uint64_t unplaced[HR_EVENTS_MAX]; /* counted after the last samples of several CPUs */
};

/* The bins that cover what is selected of a trace that ends at `last` ticks: each bin_ns, or, where
 * that is 0, a round time that makes at most bins_wanted.  The metadata has been read.  0, -ENOMEM,
 * or -E2BIG: timeline_bin_least() says which bins would do. */
int timeline_init(struct timeline *t, const struct trace_scan *scan, enum timeline_per per,
                  uint64_t last, uint64_t bin_ns, uint64_t bins_wanted);
void timeline_free(struct timeline *t);

struct timeline_wish { /* as for timeline_init */
    enum timeline_per per;
    uint64_t bin_ns;
    uint64_t bins;
    /* Sees each record of DATA chunks, too; may be NULL. */
    int (*record)(void *context, const struct trace_chunk *chunk,
                  const struct trace_record *record);
    void *context;
};

/* Reads a trace into a timeline of zeros, whose info remains NULL when there is no data.  Returns
 * 0, -errno, -E2BIG as timeline_init, or what `record` returned other than 0. */
int timeline_read(struct timeline *t, struct trace_scan *scan, const struct timeline_wish *wish);

/* The smallest round time for bins that fit into memory. */
uint64_t timeline_bin_least(const struct timeline *t);

/* The group of a key; that of the rest when there is no room, NULL when there is no memory. */
struct timeline_group *timeline_group(struct timeline *t, uint32_t key);

/* The bin of a time; times outside belong to the first or the last. */
uint64_t timeline_bin_of(const struct timeline *t, uint64_t time);

/* Splits an amount over the bins of a stretch of time that is not empty; what lies outside of the
 * selected time is not counted. */
void timeline_spread(struct timeline *t, struct timeline_group *group, uint32_t word,
                     struct timeline_stretch time, uint64_t amount);

/* Puts an amount where it ended: no stretch of time is known, or one that was counted before. */
void timeline_put(struct timeline *t, struct timeline_group *group, uint32_t word, uint64_t time,
                  uint64_t amount);

/* `amount` * `ticks` / `of` without overflow. */
static inline uint64_t timeline_part(uint64_t amount, uint64_t ticks, uint64_t of)
{
    return (uint64_t)((unsigned __int128)amount * ticks / of);
}

/* timeline_count.c: what the callbacks of a walk do.  Room for the CPUs' state; 0 or -ENOMEM. */
int timeline_count_init(struct timeline *t);

/* Callbacks' work: a chunk begins (`continues` as in struct trace_visitor), samples, a record. */
void timeline_chunk(struct timeline *t, const struct trace_chunk *chunk, bool continues);
void timeline_samples(struct timeline *t, const struct trace_samples *samples);
void timeline_record(struct timeline *t, const struct trace_chunk *chunk,
                     const struct trace_record *record);

/* After the last one: what ran and was counted up to the program's end. */
void timeline_finish(struct timeline *t);

/* The pid of a process of the trace's table. */
static inline uint32_t timeline_pid(const struct timeline *t, uint32_t process)
{
    return process < t->info->processes.count ? t->info->processes.all[process].pid : HR_FIRST_PID;
}

/* The figures of a bin of a group. */
static inline const uint64_t *timeline_bin(const struct timeline *t,
                                           const struct timeline_group *group, uint64_t bin)
{
    return group->words + bin * t->words;
}

/* Where a bin begins, in ticks and in nanoseconds since the program's start; that of bin `bins` is
 * the end of the last one. */
uint64_t timeline_bin_ticks(const struct timeline *t, uint64_t bin);
uint64_t timeline_bin_start_ns(const struct timeline *t, uint64_t bin);
