/* Makes the time-stamp counters of a processor package agree, where the firmware has moved some.
 *
 * All counters of a package count from one reset; a CPU's reads that count plus its IA32_TSC_ADJUST
 * (SDM volume 3B, "IA32_TSC_ADJUST MSR"), which every write of the counter moves as well.  So CPUs
 * of one package with different values have been set apart, and with equal ones are together again.
 * Packages may have been reset at different times: there different values can be right.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tsc_adjust { /* of one CPU */
    bool known;
    bool apart; /* it differed from the reference, */
    bool corrected; /* and is equal now */
    uint64_t found, value; /* at boot, now */
};

/* Reads the calling CPU's.  Not known without the register, nor under a hypervisor, which manages
 * it. */
void tsc_adjust_read(struct tsc_adjust *own);

/* Gives the calling CPU the value of another one of its package. */
void tsc_adjust_follow(struct tsc_adjust *own, const struct tsc_adjust *reference);

/* Returns how many ticks a CPU's counter was off from the reference, in either direction. */
uint64_t tsc_adjust_distance(const struct tsc_adjust *own, const struct tsc_adjust *reference);

/* Restores the calling CPU's value at boot. */
void tsc_adjust_restore(struct tsc_adjust *own);
