/* Where threads waited: by the system call that they waited in, and the code that they ran before.
 *
 * A trace says when a thread left its CPU to wait, and when it came back, but not from where.  What
 * comes nearest is the last sample of the thread before the wait.  Memory is bounded.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "host/scan/trace_scan.h"
#include "host/symbols/symbols.h"

#define WAITS_TEXT_BYTES 1024u
#define WAITS_NO_CALL UINT32_MAX /* it waited otherwise, or the call's record is missing */

struct waits_row { /* waits with one call after one place, and after waits_name with one text */
    uint64_t ip; /* 0: the thread had no sample before */
    uint64_t count; /* of calls that waited; 0: a free row */
    uint64_t ticks; /* saturates */
    uint64_t longest;
    uint32_t stack; /* node of its callers */
    uint32_t call;
    char *where; /* functions, the innermost first: "lock < work < main"; owned */
};

struct waits {
    struct waits_row *rows; /* a hash table, after waits_name the first ones, longest in all first;
                               owned */
    uint32_t count;
    uint64_t least_ticks; /* shorter ones are not counted */
    uint64_t dropped; /* waits that found no room */
    struct waits_thread *threads; /* owned */
};

/* 0 or -ENOMEM; waits_free after either. */
int waits_init(struct waits *waits);
void waits_free(struct waits *waits);

void waits_take_samples(struct waits *waits, const struct trace_samples *samples);
void waits_take_switch(struct waits *waits, const struct hr_rec_switch *change,
                       const struct trace_info *info, const struct selection *selection);
void waits_take_call(struct waits *waits, const struct hr_rec_syscall *call);

/* Copies what was taken so far, before it is named.  0 or -ENOMEM; waits_free(copy) after either.
 */
int waits_copy(struct waits *copy, const struct waits *waits);

/* After the walk: gives rows their texts, joins equal ones, and sorts.  0 or -ENOMEM. */
int waits_name(struct waits *waits, struct symbols *symbols, const struct stacks *stacks);

/* Reads a trace for its waits alone, and names them.  Takes what waits_init has not seen; 0 or
 * -errno, waits_free after either. */
int waits_read(struct waits *waits, struct trace_scan *scan);

/* In steps, after waits_init, for a trace that grows: waits_walk takes what the file has
 * now, waits_now names what there is so far in a copy, and waits_end names it for good.  0 or
 * -errno; waits_free(now) after any result. */
int waits_walk(struct waits *waits, struct trace_scan *scan);
int waits_now(struct waits *now, const struct waits *waits, const struct trace_scan *scan);
int waits_end(struct waits *waits, const struct trace_scan *scan);

/* The name of a row's system call; "" without one.  Valid as long as room. */
const char *waits_call_name(uint32_t call, char room[32]);

/* Prints the table of at most `limit` places, 10 at the most unless limit is 0; nothing when no
 * thread waited. */
void waits_print(FILE *out, const struct waits *waits, const struct trace_info *info,
                 unsigned long limit);
