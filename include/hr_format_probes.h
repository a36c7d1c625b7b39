/* Records of probes, requests and waits.  Part of include/hr_format.h. */
#ifndef INCLUDE_HR_FORMAT_PROBES_H
#define INCLUDE_HR_FORMAT_PROBES_H

#include <stddef.h>
#include <stdint.h>

/* Probes.  A point is an instruction where the kernel stops the program's thread for a moment.  It
 * has a number, and belongs to a function: an invocation of a function begins at the point of its
 * first instruction and ends at one of its returns. */
#define HR_PROBE_POINTS_MAX (1u << 20)
#define HR_PROBE_ARGUMENTS_MAX 6u

struct hr_meta_probes {
    uint32_t function_count; /* numbered from 0, each described by HR_META_PROBE_FUNCTION */
    uint32_t point_count; /* numbered from 0, described by HR_META_PROBE_POINTS */
    uint32_t argument_count; /* values of each hit: 0 .. HR_PROBE_ARGUMENTS_MAX */
    uint32_t flags; /* HR_PROBES_CALLED */
};
_Static_assert(sizeof(struct hr_meta_probes) == 16, "hr_meta_probes");

enum { /* hr_meta_probes.flags */
       HR_PROBES_CALLED = 1, /* functions are those of HR_META_CALLED, and get their numbers when
                                they are first called: the counts are limits */
};

enum hr_probe_kind { /* hr_meta_probe_function.kind */
                     HR_PROBE_FUNCTION = 1, /* invocations: entries and returns */
                     HR_PROBE_PLACE = 2, /* one instruction: it is reached */
};

enum { /* hr_meta_probe_function.flags */
       HR_PROBE_LOOPS = 1, /* it jumps to its first instruction: an entry at the stack pointer of an
                              open invocation of it is no new one.  Otherwise that one was left */
       HR_PROBE_ALLOCATES = 2, /* it allocates or frees memory: hits of its points that are
                                  HR_PROBE_REACHED are calls of it.  Of a function of kind
                                  HR_PROBE_PLACE there are no others */
};

/* The values of a call of an allocator: its hit is at the return, or at the call where it only
 * frees.  Calls within another one of the same thread have none. */
enum {
    HR_ALLOCATION_ADDRESS = 0, /* what it gave; 0: nothing */
    HR_ALLOCATION_BYTES = 1, /* as asked for */
    HR_ALLOCATION_OLD = 2, /* what it took back; 0: nothing */
    HR_ALLOCATION_CALLER = 3, /* to where it returns */
    HR_ALLOCATION_VALUES = 4, /* argument_count is at least this */
};

struct hr_meta_probe_function {
    uint64_t address; /* of its first instruction, or of the place: as in the ELF file */
    uint64_t bytes; /* its size, 0 if unknown */
    uint32_t number;
    uint32_t kind; /* enum hr_probe_kind */
    uint16_t name_bytes; /* of the symbol, or of the place as it was given */
    uint16_t path_bytes; /* of the file that it is in */
    uint32_t flags; /* HR_PROBE_LOOPS, HR_PROBE_ALLOCATES */
};
_Static_assert(sizeof(struct hr_meta_probe_function) == 32, "hr_meta_probe_function");

struct hr_meta_probe_points { /* points first .. first + count - 1, in order */
    uint32_t first;
    uint32_t count;
};
_Static_assert(sizeof(struct hr_meta_probe_points) == 8, "hr_meta_probe_points");

struct hr_probe_point {
    uint64_t address; /* as in the ELF file; parts of a function may be far from its entry */
    uint32_t function;
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_probe_point) == 16, "hr_probe_point");

struct hr_meta_called { /* a function of an instrumented program; its points are call sites */
    uint64_t address; /* in the process of that thread at that time */
    uint64_t time; /* of its first call */
    uint32_t number;
    uint32_t tid;
};
_Static_assert(sizeof(struct hr_meta_called) == 24, "hr_meta_called");

enum { /* what a hit says: bits, the lowest two of its point field */
       HR_PROBE_REACHED = 0, /* a place */
       HR_PROBE_ENTERED = 1, /* an invocation begins */
       HR_PROBE_RETURNED = 2, /* an invocation ends; with ENTERED: it begins and ends here */
};

/* A run of hits of one thread, coded as a run of samples is.  The fields are:
 *   0  time:  (time - previous time) - (previous time - time before it)
 *   1  sp:    stack pointer before the instruction - previous one
 *   2  point: (4 * its number + HR_PROBE_*) - previous one
 *   3+ event: (value - previous value) - (previous value - value before it)
 *   then argument_count values: value - previous value of that field.  Of an entry they are the
 *            integer arguments rdi, rsi, rdx, rcx, r8, r9; of a return the first one is rax and
 *            the others are 0; of a place they are the registers of arguments.
 * "Previous" is the previous hit of the chunk.  For the first, the time and the events are those
 * of HR_REC_BASE, its first difference of time and those of events are 0, and all else is 0.  An
 * event's value is the count since the program's start, like a sample's. */
struct hr_rec_probes {
    uint32_t tid;
    uint16_t reserved;
    uint16_t count; /* at least 1 */
};
_Static_assert(sizeof(struct hr_rec_probes) == 8, "hr_rec_probes");

enum hr_request_kind {
    HR_REQUEST_BEGIN = 1, /* it begins, and this thread works for it */
    HR_REQUEST_END = 2, /* it ends; no thread works for it from now on */
    HR_REQUEST_JOIN = 3, /* this thread works for it from now on */
    HR_REQUEST_LEAVE = 4, /* this thread works for none from now on */
    HR_REQUEST_BLOCK = 5, /* as LEAVE, and the request waits until a thread joins it */
};

struct hr_rec_request {
    uint64_t time;
    uint64_t request; /* the program's number for it */
    uint32_t tid;
    uint32_t kind; /* enum hr_request_kind */
};
_Static_assert(sizeof(struct hr_rec_request) == 24, "hr_rec_request");

#define HR_WAIT_NO_CALL 0xffffffffu /* a signal stopped it between two instructions */

struct hr_rec_wait { /* a thread begins to wait: HR_REC_SWITCH at or soon after this time */
    uint64_t time;
    uint64_t address; /* futex: of the word, which a lock begins with; else 0 */
    uint32_t tid;
    uint32_t number; /* of the system call, or HR_WAIT_NO_CALL */
    uint32_t operation; /* futex: FUTEX_* without flags */
    uint32_t joins; /* tid of the thread for whose end it waits; 0: none is known */
};
_Static_assert(sizeof(struct hr_rec_wait) == 32, "hr_rec_wait");

struct hr_rec_wake { /* a thread that waited runs again: HR_REC_SWITCH of the same time follows */
    uint64_t time;
    uint64_t woken; /* when its wait ended: from then on it waited for a CPU */
    uint32_t tid;
    uint32_t reserved;
};
_Static_assert(sizeof(struct hr_rec_wake) == 24, "hr_rec_wake");

#endif
