/* Between libhr's C and its assembly; not installed, and none of these names leaves the library. */
#pragma once

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#pragma GCC visibility push(default) /* these alone leave the library */
#include "include/hr.h"
#pragma GCC visibility pop
#include "include/hr_abi.h"

/* Does not use the C library: one archive serves all of them, and errno stays as it is. */
static inline long libhr_call(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

static inline void *libhr_allocate(size_t bytes)
{
    register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS;
    register long fd __asm__("r8") = -1;
    register long offset __asm__("r9") = 0;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_mmap), "D"(0), "S"(bytes), "d"(PROT_READ | PROT_WRITE), "r"(flags),
                       "r"(fd), "r"(offset)
                     : "rcx", "r11", "memory");
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

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

/* libhr_hooks.S and libhr_shadow.c: what is in programs with -finstrument-functions alone. */
extern uint32_t libhr_calls_mode; /* enum hr_abi_calls_mode; 0: not known yet */

/* A call that the hook does not record itself.  Returns HR_ABI_CALLS_TOLD if the kernel is to be
 * told. */
uint32_t libhr_enter_rare(uint64_t function, uint64_t call_site);

/* A return, likewise. */
void libhr_leave_rare(uint64_t function, uint64_t call_site);
