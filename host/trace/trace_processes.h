/* The processes of a trace: who made whom, what each ran when, and whose a thread is.
 *
 * A trace of one process says nothing about it: then there are no processes here, and every thread
 * is of the first one.  Otherwise number 0 is the first process.  Bounded; every record is hostile.
 * Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/trace/trace_spaces.h"
#include "include/hr_format.h"
#include "lib/trace/trace_reader.h"

#define TRACE_PROCESSES_MAX 65536u
#define TRACE_PROCESSES_THREADS_MAX (1u << 20)
#define TRACE_PROCESSES_PATHS_MAX 262144u
#define TRACE_PROCESS_EXECS_MAX 4096u /* of one process */
#define TRACE_PROCESS_NONE UINT32_MAX

struct trace_process {
    uint32_t pid;
    uint32_t parent; /* number of the process that made it, always a lower one, or
                        TRACE_PROCESS_NONE */
    uint32_t parent_tid; /* 0: unknown */
    bool known; /* the trace says when it started; always for the first process */
    bool ended; /* `end` and `status` are known */
    uint64_t start; /* times, in ticks; the first process's start is 0 */
    uint64_t end;
    uint32_t status; /* as wait4 gives it */
    uint32_t first_path, last_path; /* in `paths`; TRACE_PROCESS_NONE: there is none */
    uint32_t space; /* what it has mapped now, in `spaces` */
    uint32_t first_space;
    uint32_t execs;
};

struct trace_process_path { /* what a process runs from a time on */
    uint64_t time;
    char *path; /* owned; raw */
    uint32_t next; /* of the same process */
    bool exec;
};

struct trace_process_thread {
    uint64_t time; /* from when on the tid is this thread's */
    uint32_t tid;
    uint32_t process;
    uint32_t before; /* the entry with the same tid before; TRACE_PROCESS_NONE: there is none */
    uint32_t uses; /* of the tid, this one included */
};

struct trace_processes {
    struct trace_process *all; /* owned, as the next three; in the order in which they started */
    struct trace_process_path *paths;
    struct trace_process_thread *threads;
    uint32_t *index; /* hash table of the latest entry of each tid, number + 1; 0: free */
    uint32_t count, path_count, thread_count;
    uint32_t index_bits;
    struct trace_spaces spaces;
    /* what contradicts the format */
    uint64_t last_time;
    uint64_t repeated_starts; /* of a process that runs, and threads that have a process */
    uint64_t unknown_parents;
    uint64_t unknown_pids; /* execs, exits, threads and maps of processes without a start */
    uint64_t after_exit; /* records of a process that has ended, further exits among them */
    uint64_t early; /* records with an earlier time than the one before */
    uint64_t ignored; /* beyond the bounds above */
};

void trace_processes_free(struct trace_processes *p);

/* Take a record.  Return TRACE_OK, or TRACE_BAD_RECORD; *error becomes -ENOMEM without memory. */
enum trace_status trace_processes_take(struct trace_processes *p, const struct trace_record *record,
                                       int *error);
enum trace_status trace_processes_take_thread(struct trace_processes *p,
                                              const struct trace_record *record, int *error);
enum trace_status trace_processes_take_map(struct trace_processes *p,
                                           const struct trace_record *record, int *error);

/* Call it before any of these: makes the first process, unless it is there.  -ENOMEM. */
int trace_processes_begin(struct trace_processes *p);

/* A HR_META_MAP of the trace.  -ENOMEM. */
int trace_processes_first_map(struct trace_processes *p, const struct hr_meta_map *map,
                              const uint8_t *build_id, const char *path);

/* Whether the trace tells of processes. */
static inline bool trace_processes_any(const struct trace_processes *p)
{
    return p->count != 0;
}

/* The number of the process of a thread at a time; 0 for those that the trace does not name. */
uint32_t trace_processes_of(const struct trace_processes *p, uint32_t tid, uint64_t time);

/* Likewise its pid, HR_FIRST_PID in a trace without processes. */
uint32_t trace_processes_pid(const struct trace_processes *p, uint32_t tid, uint64_t time);

/* The path of what a process ran at a time (UINT64_MAX: at last); NULL: unknown.  Raw. */
const char *trace_processes_path(const struct trace_processes *p, uint32_t process, uint64_t time);

/* What the trace says that cannot be, in all; an order that is odd is not among it. */
uint64_t trace_processes_contradictions(const struct trace_processes *p);

/* Gives samples of a run, which are in the order of time, addresses that mean the same in every
 * process (host/trace/trace_spaces.h). */
void trace_processes_place(const struct trace_processes *p, struct trace_slot *slots,
                           uint32_t count);

/* The space of a process at a time, and until when it is its space. */
uint32_t trace_processes_space(const struct trace_processes *p, uint32_t process, uint64_t time,
                               uint64_t *until);

/* Likewise one address of a thread's code at a time. */
uint64_t trace_processes_address(const struct trace_processes *p, uint32_t tid, uint64_t time,
                                 uint64_t address);
