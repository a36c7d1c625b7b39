/* The private system call between libhr (workloads/libhr.c) and the kernel
 * (guest/syscall/syscall_hr.c).
 *
 *   rax = HR_ABI_SYSCALL, rdi = enum hr_abi_operation, rsi and rdx its arguments; rax returns 0 or
 *   a negative errno.  Linux has no such call and returns -ENOSYS, which tells libhr where it runs.
 *
 * Programs use include/hr.h.  workloads/libhr_counters.S and libhr_hooks.S repeat these numbers.
 */
#ifndef INCLUDE_HR_ABI_H
#define INCLUDE_HR_ABI_H

#include <stddef.h>
#include <stdint.h>

#define HR_ABI_SYSCALL 0x4872u
#define HR_ABI_VERSION 1u
#define HR_ABI_EVENTS_MAX 13u /* HR_EVENTS_MAX of the trace */
#define HR_ABI_NAME_MAX 255u /* bytes of a mark's or a region's name, without a NUL */
#define HR_ABI_REGIONS_MAX 255u /* of one program */

enum hr_abi_operation {
    HR_ABI_INFO = 0, /* rsi: struct hr_abi_info * to fill, rdx: its size */
    HR_ABI_POLL = 1, /* rsi: enum hr_abi_scope */
    HR_ABI_READ = 2, /* rsi: uint64_t[1 + event_count]: time in ticks, then the counters */
    HR_ABI_START = 3,
    HR_ABI_PAUSE = 4,
    HR_ABI_LOG = 5,
    HR_ABI_MARK = 6, /* rsi: text without a NUL, rdx: its bytes */
    HR_ABI_REGION = 7, /* rsi: struct hr_abi_region *, where a thread keeps its sums */
    HR_ABI_REQUEST = 8, /* rsi: enum hr_abi_request, rdx: the request */
    HR_ABI_CALLS = 9, /* returns enum hr_abi_calls_mode; rsi: struct hr_abi_calls *, the thread's
                         shadow stack, or NULL to ask */
    HR_ABI_ENTER = 10, /* rsi: a function that begins, rdx: where it was called */
    HR_ABI_LEAVE = 11, /* likewise, one that returns */
};

enum hr_abi_request { /* as enum hr_request_kind of the trace */
                      HR_ABI_REQUEST_BEGIN = 1,
                      HR_ABI_REQUEST_END = 2,
                      HR_ABI_REQUEST_JOIN = 3,
                      HR_ABI_REQUEST_LEAVE = 4,
                      HR_ABI_REQUEST_BLOCK = 5,
};

enum hr_abi_scope { HR_ABI_THIS_CPU = 0, HR_ABI_ALL_CPUS = 1 };

enum { /* hr_abi_info.flags */
       HR_ABI_USER_COUNTERS = 1, /* RDPMC reads the counters in ring 3 */
       HR_ABI_USER_CLOCK = 2, /* RDTSC reads the trace's clock without a trap */
};

struct hr_abi_info {
    uint32_t version; /* HR_ABI_VERSION */
    uint32_t flags;
    uint32_t event_count;
    uint32_t reserved;
    uint64_t ticks_per_second;
    uint32_t counters[HR_ABI_EVENTS_MAX]; /* RDPMC's ECX */
    uint8_t widths[HR_ABI_EVENTS_MAX]; /* bits of each counter */
    uint8_t padding[7];
    char names[HR_ABI_EVENTS_MAX][64]; /* with NUL */
};
_Static_assert(offsetof(struct hr_abi_info, counters) == 24, "hr_abi_info");
_Static_assert(offsetof(struct hr_abi_info, names) == 96, "hr_abi_info");
_Static_assert(sizeof(struct hr_abi_info) == 928, "hr_abi_info");

/* What one event, or time, counted in a region in one thread.  It stays in the program's memory
 * until the run ends.  Buckets are those of HR_REC_REGION (include/hr_format.h). */
#define HR_ABI_BUCKETS 252u

struct hr_abi_aggregate {
    uint64_t passes;
    uint64_t sum;
    uint64_t min; /* meaningless while passes is 0 */
    uint64_t max;
    uint64_t buckets[HR_ABI_BUCKETS];
};
_Static_assert(sizeof(struct hr_abi_aggregate) == 2048, "hr_abi_aggregate");

struct hr_abi_region {
    uint64_t name; /* user address of the text, which has no NUL */
    uint64_t name_bytes; /* 1 .. HR_ABI_NAME_MAX */
    uint64_t aggregates; /* user address of hr_abi_aggregate[1 + event_count]: time, then events */
    uint64_t count; /* 1 + event_count */
};
_Static_assert(sizeof(struct hr_abi_region) == 32, "hr_abi_region");

/* Programs that were built with -finstrument-functions; docs/architecture/instrumented.md. */
enum hr_abi_calls_mode {
    HR_ABI_CALLS_IGNORED = 1, /* this run records no calls */
    HR_ABI_CALLS_TOLD = 2, /* each entry and return is to be told: HR_ABI_ENTER, HR_ABI_LEAVE */
    HR_ABI_CALLS_OBSERVED = 3, /* each thread is to keep a shadow stack */
};

#define HR_ABI_SHADOW_ENTRIES 1024u /* of a thread */

struct hr_abi_shadow_entry { /* a call; written by its thread alone */
    uint64_t generation; /* twice the number of calls that had this place; odd while it changes */
    uint64_t function;
    uint64_t call_site;
    uint64_t reserved;
};
_Static_assert(sizeof(struct hr_abi_shadow_entry) == 32, "libhr_hooks.S");

struct hr_abi_shadow { /* in the thread's own storage */
    uint64_t top; /* user address of the next free entry */
    uint64_t limit; /* that of the first entry that there is none of; 0: no stack yet */
    uint64_t deep; /* open calls that have no entry */
    uint64_t beyond; /* calls that got none */
};

struct hr_abi_calls {
    uint64_t shadow; /* user address of a struct hr_abi_shadow */
    uint64_t entries; /* user address of HR_ABI_SHADOW_ENTRIES entries */
};
_Static_assert(sizeof(struct hr_abi_calls) == 16, "hr_abi_calls");

static inline uint32_t hr_abi_bucket(uint64_t value)
{
    uint32_t exponent;

    if (value < 8)
        return (uint32_t)value;
    exponent = 63 - (uint32_t)__builtin_clzll(value);
    return 8 + 4 * (exponent - 3) + (uint32_t)(value >> (exponent - 2) & 3);
}

static inline void hr_abi_add(struct hr_abi_aggregate *to, uint64_t value)
{
    if (to->passes == 0 || value < to->min)
        to->min = value;
    if (value > to->max)
        to->max = value;
    to->sum += value;
    to->buckets[hr_abi_bucket(value)]++;
    to->passes++; /* last: the kernel may look at any time */
}

/* Adds the counts of another thread, whose memory may hold anything. */
static inline void hr_abi_merge(struct hr_abi_aggregate *to, const struct hr_abi_aggregate *from)
{
    if (from->passes == 0)
        return;
    if (to->passes == 0 || from->min < to->min)
        to->min = from->min;
    if (from->max > to->max)
        to->max = from->max;
    to->sum += from->sum;
    to->passes += from->passes;
    for (uint32_t i = 0; i < HR_ABI_BUCKETS; i++)
        to->buckets[i] += from->buckets[i];
}

#endif
