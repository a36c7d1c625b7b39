/* What a trace says about itself: machine, clock, events, program, load map, how it ended.
 *
 * It is filled from META, END and HOST chunks while a reader walks over the file.  Counts and
 * lengths are bounded; strings are raw (escape them before printing to a terminal).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/trace/selection.h"
#include "host/trace/trace_file.h"
#include "host/trace/trace_files.h"
#include "host/trace/trace_names.h"
#include "host/trace/trace_points.h"
#include "host/trace/trace_processes.h"
#include "host/trace/trace_regions.h"
#include "host/trace/trace_thread_stacks.h"

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

struct trace_nmis { /* sum over the CPUs' HR_REC_NMI */
    uint64_t samples;
    uint64_t spurious;
    uint64_t unknown;
    uint64_t repeated; /* further records of a CPU; not added */
    uint8_t cpus[65536 / 8]; /* CPUs with a record, a bit each */
};

struct trace_activity { /* sum over the CPUs' HR_REC_ACTIVITY */
    struct hr_rec_activity sum;
    uint8_t cpus[65536 / 8]; /* CPUs with a record, a bit each; their first one counts */
};

struct trace_share { /* summary of the CPUs' HR_REC_SHARE */
    uint64_t skipped; /* sum; saturates */
    uint64_t stolen_ns; /* sum; saturates */
    uint64_t spacing_ticks; /* maximum */
    bool steal_known; /* a hypervisor reports stolen time */
    uint8_t cpus[65536 / 8]; /* CPUs with a record, a bit each; their first one counts */
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
    bool has_accesses; /* samples have accesses */
    bool has_calls;
    bool knows_events; /* event_count is set, and the trace must not give another one */
    bool has_exact; /* the emulator counted; event_count is that of its counts */
    struct hr_meta_clock clock; /* 10^9 ticks a second from 0, until HR_META_CLOCK arrives */
    struct hr_meta_sampling sampling;
    struct hr_meta_calibration calibration;
    struct hr_meta_stacks stacks;
    struct hr_meta_accesses accesses;
    struct hr_host_exact exact;
    struct hr_rec_exit exit;
    struct hr_host_end host_end;
    struct hr_rec_fault fault; /* the last one of the trace */
    char host_message[256];
    uint32_t event_count;
    uint32_t described; /* events with a description, a bit each */
    struct trace_event events[HR_EVENTS_MAX];
    struct trace_map *maps;
    size_t map_count;
    struct trace_text *texts;
    size_t text_count;
    struct hr_rec_stream *streams;
    size_t stream_count;
    struct hr_rec_machine_cpu *machines; /* the first record of each CPU */
    size_t machine_count;
    struct trace_regions regions;
    struct trace_files files;
    struct trace_points points;
    struct trace_thread_stacks thread_stacks;
    struct trace_names *names; /* of code that is in no file; held; NULL: nothing is known of any */
    struct trace_processes processes;
    struct trace_nmis nmis;
    struct trace_activity activity;
    struct trace_share share;
    struct hr_rec_calls calls; /* the first record of the trace */
    uint64_t ignored; /* records beyond the bounds above */
};

void trace_info_init(struct trace_info *info);
void trace_info_free(struct trace_info *info);

/* Takes one META, END or HOST chunk.  Returns TRACE_OK, or TRACE_BAD_RECORD / TRACE_BAD_LENGTH if a
 * record contradicts the format (the rest of the chunk is then skipped).  Sets *error to -ENOMEM if
 * memory runs out, and otherwise leaves it unchanged. */
enum trace_status trace_info_chunk(struct trace_info *info, const struct trace_chunk *chunk,
                                   int *error);

/* Without its META chunk a trace still decodes: the base of the first DATA chunk says the number of
 * events, before anybody sees a sample.  False when it does not. */
bool trace_info_learn_events(struct trace_info *info, const struct trace_chunk *chunk);

/* Fills a map of the tagged addresses of a view (host/trace/trace_spaces.h), which keeps the path.
 */
void trace_info_view(const struct trace_info *info, uint32_t view, struct trace_map *map);

/* Returns the name of what a process runs at a time (UINT64_MAX: at last): its file's.  Raw. */
const char *trace_info_process_name(const struct trace_info *info, uint32_t process, uint64_t time);

/* Whether a selection has a thread and its process at a time (UINT64_MAX: at last). */
bool trace_info_selects(const struct trace_info *info, const struct selection *selection,
                        uint32_t tid, uint64_t time);

/* Returns how a process ended, from a status as wait4 gives it: "exit 1", "signal 9 (KILL)". */
#define TRACE_INFO_STATUS_BYTES 40
char *trace_info_status(uint32_t status, char text[TRACE_INFO_STATUS_BYTES]);

/* Returns the first value of a key of HR_META_INFO, or `otherwise` if there is none. */
const char *trace_info_text(const struct trace_info *info, const char *key, const char *otherwise);

/* Whether hits come from the observer, which sees a call up to a scan late: the thread may be away
 * by then. */
static inline bool trace_info_observed(const struct trace_info *info)
{
    return trace_points_called(&info->points) && (info->sampling.flags & HR_SAMPLING_SHARED) == 0;
}

/* Converts a difference of times to nanoseconds; saturates. */
uint64_t trace_info_ns(const struct trace_info *info, uint64_t ticks);

/* Returns the sampling interval, rounded to the requested value, because 10 us are not a whole
 * number of ticks on most machines; saturates. */
uint64_t trace_info_interval_ns(const struct trace_info *info);

/* Converts a time to nanoseconds since the program's start; 0 for earlier times. */
uint64_t trace_info_time_ns(const struct trace_info *info, uint64_t time);

/* Returns an event's name, or "event3" if the trace does not name it.  Raw: escape it for a
 * terminal. */
const char *trace_info_event_name(const struct trace_info *info, uint32_t event, char room[16]);

/* Returns the name for a column of CSV, which can only say there that the event was not measured:
 * "cycles(stub)".  Raw. */
#define TRACE_INFO_COLUMN_BYTES 80
char *trace_info_event_column(const struct trace_info *info, uint32_t event,
                              char text[TRACE_INFO_COLUMN_BYTES]);

/* Returns the event of that name, which may omit the :suffix; -1 if there is none. */
int trace_info_find_event(const struct trace_info *info, const char *name);

/* Writes the names of all events, each after ", "; raw.  Returns `room`. */
#define TRACE_INFO_NAMES_BYTES (HR_EVENTS_MAX * 66 + 1)
const char *trace_info_event_names(const struct trace_info *info,
                                   char room[TRACE_INFO_NAMES_BYTES]);

/* Returns what a sample's weight counts: "samples", or "instructions" if the emulator counted them
 * all. */
const char *trace_info_weight_word(const struct trace_info *info);

/* Returns why a profile of an exact trace cannot be shown for the selection (its counts have no
 * times), or NULL. */
const char *trace_info_exact_problem(const struct trace_info *info,
                                     const struct selection *selection);

/* Texts for people. */
/* Returns an event's name for sentences, without the default suffix ":u".  Raw. */
const char *trace_info_event_word(const struct trace_info *info, uint32_t event, char room[64]);
const char *trace_info_source(enum hr_source source); /* "pmu", "icount", "stub", "none" */
/* Returns a remark for an event's figures: "" for a performance counter, "exact, from virtual time"
 * ... */
const char *trace_info_source_words(const struct trace_info *info, uint32_t event);
const char *trace_info_mode(uint32_t mode);
const char *trace_info_clock_method(uint32_t method);
const char *trace_info_host_reason(uint32_t reason);

/* Returns why `lost` samples, on whatever CPU, were lost: "the ring was full". */
const char *trace_info_loss_words(const struct trace_info *info, uint64_t lost);
