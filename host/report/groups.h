/* What samples are told apart by in addition to their place: CPU, process, thread and section, as
 * one number. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GROUPS_MAX 65536u
#define GROUPS_OTHERS 0u /* the group of everything that does not fit */

struct group { /* fields that are not requested are 0 */
    uint32_t cpu;
    uint32_t process; /* number in the trace's table */
    uint32_t tid;
    uint32_t section; /* as in host/report/sections.h */
};

struct groups {
    struct group *all; /* starts with GROUPS_OTHERS; owned */
    uint32_t *index; /* hash table of numbers, 0: free; owned */
    uint32_t count;
    bool full; /* a group did not fit */
};

/* Returns 0 or -ENOMEM. */
int groups_init(struct groups *groups);
void groups_free(struct groups *groups);

uint32_t groups_find(struct groups *groups, struct group group);
