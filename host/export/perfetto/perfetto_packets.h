/* The packets of a Perfetto trace: tracks, events on them, counters, samples with call stacks.
 *
 * All packets are of one sequence.  Names, functions and call stacks are interned: written when
 * they are first asked for, in packets of their own.  Times are nanoseconds since the program's
 * start, which stand for Perfetto's default clock.
 */
#pragma once

#include "host/export/common/export.h"
#include "host/export/common/numbers.h"
#include "host/export/common/proto.h"
#include "host/scan/row_team.h"

enum perfetto_event {
    PERFETTO_SLICE_BEGIN = 1,
    PERFETTO_SLICE_END = 2,
    PERFETTO_INSTANT = 3,
    PERFETTO_COUNTER = 4,
};

enum perfetto_track { /* kinds of tracks; a track is a kind and a number */
                      PERFETTO_PROCESS = 1,
                      PERFETTO_THREAD = 2,
                      PERFETTO_CPU = 3,
                      PERFETTO_GAPS = 4, /* of a CPU */
                      PERFETTO_RATE = 5, /* CPU * HR_EVENTS_MAX + event */
                      PERFETTO_WORK = 6, /* of a thread: the requests that it works for */
                      PERFETTO_REQUESTS = 7, /* requests that do not overlap */
                      PERFETTO_STACK = 8, /* of a thread: another stack */
};

static inline uint64_t perfetto_packets_uuid(enum perfetto_track kind, uint32_t number)
{
    return (uint64_t)kind << 32 | number;
}

struct perfetto_packets {
    struct export *e;
    struct row_team *team; /* that packets are given to; owned */
    struct proto message; /* that is being built */
    struct numbers names, callstacks;
    struct numbers threads; /* that have a track */
    uint32_t frames; /* functions whose frame was written */
    struct numbers processes; /* likewise, by number in the trace's table */
    struct numbers tracks; /* other tracks that perfetto_packets_once made */
    struct numbers arguments; /* their names */
    uint32_t pid; /* of the first process; where the trace does not say it: its first thread */
    bool begun;
};

/* 0 or -ENOMEM; to be freed in both cases. */
int perfetto_packets_init(struct perfetto_packets *packets, struct export *e);
void perfetto_packets_free(struct perfetto_packets *packets);

/* Once, before all others: the clock and the load maps. */
void perfetto_packets_head(struct perfetto_packets *packets);

/* Makes a thread's track known, as it is at a time, and its process's. */
void perfetto_packets_thread(struct perfetto_packets *packets, uint32_t tid, uint64_t time);

/* Makes the track of a process known, which the trace's table has; returns its uuid. */
uint64_t perfetto_packets_process(struct perfetto_packets *packets, uint32_t process);

/* A track under another one, or 0 under none; `rate`: of a counter. */
void perfetto_packets_track(struct perfetto_packets *packets, uint64_t uuid, uint64_t parent,
                            const char *name, bool rate);

/* Likewise, unless it was made. */
void perfetto_packets_once(struct perfetto_packets *packets, uint64_t uuid, uint64_t parent,
                           const char *name);

struct perfetto_details { /* of an event */
    const struct perfetto_argument {
        const char *name;
        const char *text; /* NULL: it is a number */
        uint64_t number;
    } * arguments;
    uint32_t count;
    uint64_t flow; /* an arrow between the events with this number; 0: none */
    bool flow_ends; /* here */
};

void perfetto_packets_detailed(struct perfetto_packets *packets, uint64_t ns,
                               enum perfetto_event type, uint64_t uuid, const char *name,
                               const struct perfetto_details *details);

/* An event on a track; name NULL: none. */
void perfetto_packets_event(struct perfetto_packets *packets, uint64_t ns, enum perfetto_event type,
                            uint64_t uuid, const char *name);
void perfetto_packets_rate(struct perfetto_packets *packets, uint64_t ns, uint64_t uuid,
                           double value);
void perfetto_packets_sample(struct perfetto_packets *packets, uint32_t cpu,
                             const struct trace_slot *sample, uint32_t stack);

/* Between host/export/perfetto/perfetto_packets.c and perfetto_events.c: a packet's message, and an
 * entry of interned data that is a number and a text. */
size_t perfetto_packets_begin(struct perfetto_packets *packets);
size_t perfetto_packets_begin_message(struct proto *message, bool first);
void perfetto_packets_end(struct perfetto_packets *packets, size_t mark);
void perfetto_packets_string(struct perfetto_packets *packets, uint32_t field, uint64_t iid,
                             const char *text);

enum perfetto_row { /* what a row of the team is */
                    PERFETTO_ROW_SAMPLE,
                    PERFETTO_ROW_RATE,
};

enum { /* its words, after its kind and its time; of a sample, and of a rate */
       PERFETTO_ROW_CPU = 2,
       PERFETTO_ROW_PID,
       PERFETTO_ROW_TID,
       PERFETTO_ROW_CALLSTACK,
       PERFETTO_ROW_FLAGS,
       PERFETTO_ROW_WORDS,
       PERFETTO_ROW_TRACK = PERFETTO_ROW_CPU,
       PERFETTO_ROW_VALUE, /* as a double */
};

/* The words of the next row, with kind and time filled in. */
uint64_t *perfetto_packets_add(struct perfetto_packets *packets, uint64_t ns,
                               enum perfetto_row kind);
row_team_format perfetto_packets_row;
