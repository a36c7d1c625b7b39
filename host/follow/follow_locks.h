/* Names of the locks that threads waited for, each looked up once while there is room. */
#pragma once

#include "host/follow/follow.h"
#include "host/symbols/wait_name.h"

#define FOLLOW_LOCKS_ROOM 4096u /* names; another one takes the place of an older one */

struct follow_locks {
    struct symbols *symbols;
    const struct trace_info *info;
    struct follow_lock {
        uint64_t address;
        uint32_t space; /* that the address is in */
        char name[WAIT_NAME_BYTES];
    } * all; /* owned */
};

/* Returns 0 or -ENOMEM. */
int follow_locks_init(struct follow_locks *locks, struct symbols *symbols,
                      const struct trace_info *info);
void follow_locks_free(struct follow_locks *locks);

/* Returns the name of the futex that a wait was for, NULL if it was for another thing or is not
 * known.  Raw; valid until the next call. */
const char *follow_locks_name(struct follow_locks *locks, const struct follow_wait *wait);
