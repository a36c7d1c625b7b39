/* What a trace says about itself: machine, clock, events, program, load map, how it ended.
 *
 * Filled from META, END and HOST chunks while a reader walks over the file.  Counts and lengths
 * are bounded; strings are raw (escape them before they reach a terminal).
 */
#ifndef HOST_TRACE_TRACE_INFO_H
#define HOST_TRACE_TRACE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/trace/selection.h"
#include "host/trace/trace_file.h"
#include "host/trace/trace_regions.h"

#define TRACE_INFO_TEXTS_MAX 1024
#define TRACE_INFO_MAPS_MAX 4096
#define TRACE_INFO_STREAMS_MAX 4096
#define TRACE_INFO_MACHINES_MAX 4096
#define TRACE_INFO_BUILD_ID_MAX 64

struct trace_event {
    char name[64];
    struct hr_meta_event meta;
    uint64_t total; /* from HR_REC_TOTAL */
    bool has_total;
};

struct trace_map {
    struct hr_meta_map meta;
    uint8_t build_id[TRACE_INFO_BUILD_ID_MAX];
    char *path;
};

struct trace_text {
    char *key; /* one allocation: the value follows the key's NUL */
    char *value;
};

struct trace_nmis { /* summed over the CPUs' HR_REC_NMI */
    uint64_t samples;
    uint64_t spurious;
    uint64_t unknown;
    uint64_t repeated; /* records of a CPU that had one; not added */
    uint8_t cpus[65536 / 8]; /* which CPUs had one, a bit each */
};

struct trace_activity { /* summed over the CPUs' HR_REC_ACTIVITY */
    struct hr_rec_activity sum;
    uint8_t cpus[65536 / 8]; /* which CPUs had one, a bit each; the first counts */
};

struct trace_share { /* over the CPUs' HR_REC_SHARE */
    uint64_t skipped; /* their sum; saturates */
    uint64_t stolen_ns; /* their sum; saturates */
    uint64_t spacing_ticks; /* the largest */
    bool steal_known; /* a hypervisor counts what it steals */
    uint8_t cpus[65536 / 8]; /* which CPUs had one, a bit each; the first counts */
};

struct trace_info {
    bool has_clock;
    bool has_sampling;
    bool has_calibration;
    bool has_exit;
    bool has_host_end;
    bool has_fault;
    bool has_nmis;
    bool has_activity;
    bool has_share;
    bool has_stacks; /* samples have call stacks */
    bool knows_events; /* event_count is what the trace said first; it must not say another one */
    bool has_exact; /* the emulator counted: event_count is that of these counts */
    struct hr_meta_clock clock; /* 10^9 ticks a second from 0 until HR_META_CLOCK came */
    struct hr_meta_sampling sampling;
    struct hr_meta_calibration calibration;
    struct hr_meta_stacks stacks;
    struct hr_host_exact exact;
    struct hr_rec_exit exit;
    struct hr_host_end host_end;
    struct hr_rec_fault fault; /* the last one of the trace */
    char host_message[256];
    uint32_t event_count;
    uint32_t described; /* events that have been, a bit each */
    struct trace_event events[HR_EVENTS_MAX];
    struct trace_map *maps;
    size_t map_count;
    struct trace_text *texts;
    size_t text_count;
    struct hr_rec_stream *streams;
    size_t stream_count;
    struct hr_rec_machine_cpu *machines; /* of each CPU, the first one that says it */
    size_t machine_count;
    struct trace_regions regions;
    struct trace_nmis nmis;
    struct trace_activity activity;
    struct trace_share share;
    uint64_t ignored; /* records beyond the bounds above */
};

void trace_info_init(struct trace_info *info);
void trace_info_free(struct trace_info *info);

/* Takes one META, END or HOST chunk.  TRACE_OK, or TRACE_BAD_RECORD / TRACE_BAD_LENGTH when a
 * record contradicts the format (the rest of the chunk is not looked at).  *error is set to
 * -ENOMEM when memory ran out, otherwise left alone.
 */
enum trace_status trace_info_chunk(struct trace_info *info, const struct trace_chunk *chunk,
                                   int *error);

/* Without its META chunk a trace still decodes: the base of the first DATA chunk says the number of
 * events, before anybody sees a sample.  False when it does not.
 */
bool trace_info_learn_events(struct trace_info *info, const struct trace_chunk *chunk);

/* The first value of a key of HR_META_INFO, or `otherwise`. */
const char *trace_info_text(const struct trace_info *info, const char *key, const char *otherwise);

/* A difference of times in nanoseconds; saturates. */
uint64_t trace_info_ns(const struct trace_info *info, uint64_t ticks);

/* The sampling interval, rounded to what was asked for: 10 us are no whole number of ticks on most
 * machines; saturates.
 */
uint64_t trace_info_interval_ns(const struct trace_info *info);

/* Time since the program's start in nanoseconds; 0 for times before. */
uint64_t trace_info_time_ns(const struct trace_info *info, uint64_t time);

/* An event's name; "event3" when the trace does not name it.  Raw: escape it for a terminal. */
const char *trace_info_event_name(const struct trace_info *info, uint32_t event, char room[16]);

/* The same for a column of csv, which has no other place to say that it was not measured:
 * "cycles(stub)".  Raw. */
#define TRACE_INFO_COLUMN_BYTES 80
char *trace_info_event_column(const struct trace_info *info, uint32_t event,
                              char text[TRACE_INFO_COLUMN_BYTES]);

/* The event of that name, which may leave out the :suffix; -1 when there is none. */
int trace_info_find_event(const struct trace_info *info, const char *name);

/* The names of all events, ", " before each; raw.  Returns `room`. */
#define TRACE_INFO_NAMES_BYTES (HR_EVENTS_MAX * 66 + 1)
const char *trace_info_event_names(const struct trace_info *info,
                                   char room[TRACE_INFO_NAMES_BYTES]);

/* What a sample's weight counts: "samples", or "instructions" where the emulator counted all. */
const char *trace_info_weight_word(const struct trace_info *info);

/* Why a profile of these counts cannot be shown; NULL: it can.  They have no times. */
const char *trace_info_exact_problem(const struct trace_info *info,
                                     const struct selection *selection);

/* Words for people. */
/* An event's name for sentences: without ":u", which goes without saying.  Raw. */
const char *trace_info_event_word(const struct trace_info *info, uint32_t event, char room[64]);
const char *trace_info_source(enum hr_source source); /* "pmu", "icount", "stub", "none" */
/* What to say beside an event's figures: "" for a counter's, "exact, from virtual time" ... */
const char *trace_info_source_words(const struct trace_info *info, uint32_t event);
const char *trace_info_mode(uint32_t mode);
const char *trace_info_clock_method(uint32_t method);
const char *trace_info_host_reason(uint32_t reason);

/* Why samples are lost: "the ring was full"; of `lost` of them, whatever the CPU. */
const char *trace_info_loss_words(const struct trace_info *info, uint64_t lost);

#endif
