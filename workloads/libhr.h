/* Between libhr's C and its assembly; not installed, and none of these names leaves the library. */
#ifndef WORKLOADS_LIBHR_H
#define WORKLOADS_LIBHR_H

#pragma GCC visibility push(default) /* these alone leave the library */
#include "include/hr.h"
#pragma GCC visibility pop
#include "include/hr_abi.h"

/* One region in one thread.  libhr_counters.S knows the offsets. */
struct libhr_slot {
    uint64_t start[1 + HR_ABI_EVENTS_MAX]; /* time, then the counters, at begin */
    uint64_t stop[1 + HR_ABI_EVENTS_MAX];
    uint32_t open; /* between begin and end */
    uint32_t reserved[7];
    struct hr_abi_aggregate aggregates[]; /* time, then events */
};
_Static_assert(offsetof(struct libhr_slot, stop) == 112, "libhr_counters.S");
_Static_assert(offsetof(struct libhr_slot, open) == 224, "libhr_counters.S");
_Static_assert(offsetof(struct hr_region, id) == 8, "libhr_counters.S");

/* This thread's slots by region id; never NULL, and its first entry always is. */
extern __thread struct libhr_slot **libhr_slots;

/* hr_read, hr_region_begin and hr_region_end continue here.  Set once it is known where the program
 * runs and whether the kernel reads the counters. */
typedef void libhr_code(void); /* entered by a jump, whatever it takes and returns */
extern uint32_t libhr_counters[HR_ABI_EVENTS_MAX]; /* RDPMC's ECX */
extern libhr_code *libhr_read_entry, *libhr_begin_entry, *libhr_end_entry;
extern libhr_code *libhr_begin_reads, *libhr_end_reads;

/* libhr_counters.S: code for the above, tables by the number of counters. */
extern libhr_code *const libhr_read_by_count[1 + HR_ABI_EVENTS_MAX];
extern libhr_code *const libhr_begin_by_count[1 + HR_ABI_EVENTS_MAX];
extern libhr_code *const libhr_end_by_count[1 + HR_ABI_EVENTS_MAX];
libhr_code libhr_begin_user;
libhr_code libhr_end_user;
libhr_code libhr_begin_kernel;
libhr_code libhr_end_kernel;

/* The assembly calls these when it needs help. */
int libhr_read_slow(uint64_t *values);
int libhr_begin_slow(struct hr_region *region);
int libhr_end_slow(struct hr_region *region);
int libhr_close(struct libhr_slot *slot);

#endif
