/* ftq: fixed time quantum: counts the work done in each of many equal times; their spread is noise.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/now.h"

#define QUANTA_MAX 1000000u
#define WORK_LOOPS 50u /* one unit of work: 101 instructions */

static uint64_t clock_tsc(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static void work(void)
{
    uint32_t loops;
    __asm__ volatile("mov %1, %0\n"
                     "1: dec %0\n"
                     "jnz 1b"
                     : "=&r"(loops)
                     : "i"(WORK_LOOPS)
                     : "cc");
}

/* Fills units[] with the units of work that fitted into each quantum of `quantum` clock ticks. */
static void measure(uint64_t (*clock)(void), uint64_t quantum, uint32_t *units, uint32_t count)
{
    uint64_t end = clock() + quantum;
    for (uint32_t i = 0; i < count; i++, end += quantum) {
        uint32_t done = 0;
        for (; clock() < end; done++)
            work();
        units[i] = done;
    }
}

static uint64_t number(const char *text, uint64_t maximum)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*end || value == 0 || value > maximum) {
        fputs("usage: ftq [-t] [QUANTUM [COUNT]]\n"
              "QUANTUM: microseconds (default 100); with -t thousands of TSC ticks\n"
              "COUNT: quanta to measure (default 1000)\n",
              stderr);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    uint64_t (*clock)(void) = now_ns;
    int next = 1;
    if (next < argc && strcmp(argv[next], "-t") == 0) {
        clock = clock_tsc;
        next++;
    }
    uint64_t quantum = next < argc ? number(argv[next++], 1000000) : 100;
    uint32_t count = next < argc ? (uint32_t)number(argv[next++], QUANTA_MAX) : 1000;
    uint32_t *units = malloc(count * sizeof(*units));
    if (!units) {
        fputs("ftq: out of memory\n", stderr);
        return 1;
    }
    memset(units, 0xff, count * sizeof(*units)); /* touch the pages before the clock runs */
    measure(clock, quantum * 1000, units, count);

    uint32_t minimum = UINT32_MAX, maximum = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        minimum = units[i] < minimum ? units[i] : minimum;
        maximum = units[i] > maximum ? units[i] : maximum;
        sum += units[i];
    }
    /* Work lost to disturbances, as a share of what the best quantum managed. */
    double noise = maximum ? 100.0 * (1.0 - (double)sum / count / maximum) : 0.0;
    printf("ftq: %u quanta, units of work: min %u mean %.1f max %u, noise %.3f%%\n", count, minimum,
           (double)sum / count, maximum, noise);
    free(units);
    return 0;
}
