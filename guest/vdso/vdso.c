/* The vDSO: clocks for the program without a system call.  It runs in ring 3, in the program's
 * address space, and is a shared object like Linux's: same names, same version
 * (guest/vdso/vdso.lds).
 */
#include <asm/unistd_64.h>
#include <linux/time.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/vdso/data.h"
#include "lib/muldiv.h"

#define NS_PER_SECOND 1000000000ull
#define CLOCK_BIT(clock) (1u << (clock))
#define COARSE_NS 4000000 /* as Linux reports with its usual tick */

/* The clocks that need nothing but the data page.  CLOCK_TAI is UTC, as on a Linux without NTP. */
#define MONOTONIC_CLOCKS                                           \
    (CLOCK_BIT(CLOCK_MONOTONIC) | CLOCK_BIT(CLOCK_MONOTONIC_RAW) | \
     CLOCK_BIT(CLOCK_MONOTONIC_COARSE) | CLOCK_BIT(CLOCK_BOOTTIME))
#define REALTIME_CLOCKS \
    (CLOCK_BIT(CLOCK_REALTIME) | CLOCK_BIT(CLOCK_REALTIME_COARSE) | CLOCK_BIT(CLOCK_TAI))
#define COARSE_CLOCKS (CLOCK_BIT(CLOCK_REALTIME_COARSE) | CLOCK_BIT(CLOCK_MONOTONIC_COARSE))

struct vdso_time { /* struct timespec, struct timeval */
    int64_t seconds;
    int64_t part;
};

struct vdso_zone { /* struct timezone */
    int32_t minutes_west;
    int32_t daylight;
};

int __vdso_clock_gettime(int clock, struct vdso_time *time);
int __vdso_clock_getres(int clock, struct vdso_time *time);
int __vdso_gettimeofday(struct vdso_time *time, struct vdso_zone *zone);
int64_t __vdso_time(int64_t *time);
int __vdso_getcpu(unsigned *cpu, unsigned *node, void *unused);

static const volatile struct vdso_data *data(void)
{
    return (const volatile struct vdso_data *)VDSO_DATA;
}

static long system_call(long number, long first, void *second)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second)
                     : "rcx", "r11", "memory");
    return result;
}

/* LFENCE: RDTSC must not run ahead of what the program read before (SDM volume 2, "RDTSC"). */
static inline uint64_t tsc(void)
{
    uint32_t low, high;

    __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

/* An interrupt between the two readings changes the offset: then reads both again.  Uses the
 * arithmetic of run_ticks_to_ns, so that program and kernel never disagree. */
static inline uint64_t monotonic_ns(void)
{
    uint64_t offset, ticks, hz = data()->ticks_per_second;

    do {
        offset = data()->clock_offset;
        ticks = tsc();
    } while (__builtin_expect(data()->clock_offset != offset, 0));
    ticks -= offset + data()->start_ticks;
    return hz == NS_PER_SECOND ? ticks : muldiv(ticks, NS_PER_SECOND, hz);
}

static inline int in(int clock, uint32_t set)
{
    return (unsigned)clock < 32 && set >> clock & 1;
}

int __vdso_clock_gettime(int clock, struct vdso_time *time)
{
    uint64_t ns;

    if (in(clock, MONOTONIC_CLOCKS))
        ns = monotonic_ns();
    else if (in(clock, REALTIME_CLOCKS))
        ns = data()->start_unix_ns + monotonic_ns();
    else
        return (int)system_call(__NR_clock_gettime, clock, time);
    time->seconds = (int64_t)(ns / NS_PER_SECOND);
    time->part = (int64_t)(ns % NS_PER_SECOND);
    return 0;
}

int __vdso_clock_getres(int clock, struct vdso_time *time)
{
    if (!in(clock, MONOTONIC_CLOCKS | REALTIME_CLOCKS))
        return (int)system_call(__NR_clock_getres, clock, time);
    if (time != NULL) {
        time->seconds = 0;
        time->part = in(clock, COARSE_CLOCKS) ? COARSE_NS : 1;
    }
    return 0;
}

int __vdso_gettimeofday(struct vdso_time *time, struct vdso_zone *zone)
{
    if (time != NULL) {
        uint64_t ns = data()->start_unix_ns + monotonic_ns();

        time->seconds = (int64_t)(ns / NS_PER_SECOND);
        time->part = (int64_t)(ns % NS_PER_SECOND / 1000);
    }
    if (zone != NULL)
        zone->minutes_west = zone->daylight = 0;
    return 0;
}

int64_t __vdso_time(int64_t *time)
{
    int64_t seconds = (int64_t)((data()->start_unix_ns + monotonic_ns()) / NS_PER_SECOND);

    if (time != NULL)
        *time = seconds;
    return seconds;
}

int __vdso_getcpu(unsigned *cpu, unsigned *node, void *)
{
    unsigned number;

    __asm__ volatile("lsl %1, %0" : "=r"(number) : "r"(VDSO_CPU_SELECTOR) : "cc");
    if (cpu != NULL)
        *cpu = number;
    if (node != NULL)
        *node = 0;
    return 0;
}

/* The names without prefix, which Linux has too. */
int clock_gettime(int clock, struct vdso_time *time)
    __attribute__((weak, alias("__vdso_clock_gettime")));
int clock_getres(int clock, struct vdso_time *time)
    __attribute__((weak, alias("__vdso_clock_getres")));
int gettimeofday(struct vdso_time *time, struct vdso_zone *zone)
    __attribute__((weak, alias("__vdso_gettimeofday")));
int64_t time(int64_t *time) __attribute__((weak, alias("__vdso_time")));
int getcpu(unsigned *cpu, unsigned *node, void *unused)
    __attribute__((weak, alias("__vdso_getcpu")));
