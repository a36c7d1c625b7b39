/* Chooses two CPUs of this machine by what they share. */
#pragma once

#include <sched.h>

enum pair_kind {
    PAIR_SMT, /* one core */
    PAIR_L2, /* a second-level cache, and no core */
    PAIR_L3, /* a third-level cache, and no smaller one */
    PAIR_SOCKET, /* memory alone: two sockets */
    PAIR_KINDS
};
extern const char *const pair_kind_names[PAIR_KINDS];
extern const char *const pair_kind_words[PAIR_KINDS];

struct pair_place {
    int cpus[2];
    cpu_set_t others; /* for all else: those that share least with the two; may be empty */
};

/* Finds two of the usable CPUs of that kind, without CPU 0 where possible, which serves most
 * interrupts.  /sys is below `root`.  Returns 0, or -ENOENT: there are none. */
int pair_place_find(const char *root, const cpu_set_t *usable, enum pair_kind kind,
                    struct pair_place *place);
