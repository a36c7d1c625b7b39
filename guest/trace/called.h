/* Numbers of the functions and call sites of instrumented programs, and their records.
 *
 * A point is a function with a call site, in one address space.  Context: of every function but
 * called_space_ends, one CPU at a time: the one that records hits.
 */
#pragma once

#include <stdint.h>

#include "include/hr_format.h"

struct vm_space;

#define CALLED_FUNCTIONS_MAX 16384u
#define CALLED_POINTS_MAX 65536u
#define CALLED_NONE UINT32_MAX

extern struct hr_rec_calls called_sums; /* for the trace's end */

/* Takes memory for the tables; boot. */
void called_start(void);

/* Says in the trace that there may be hits; when it has begun. */
void called_announce(void);

/* Returns the number of a point, new if it must be, or CALLED_NONE if there are too many.  `tid`
 * and `time` say whose the addresses are. */
uint32_t called_point(const struct vm_space *space, uint64_t function, uint64_t call_site,
                      uint32_t tid, uint64_t time);

/* A process gives up this memory: its addresses may become those of something else. */
void called_space_ends(const struct vm_space *space);

/* Sends the numbers that the trace does not know yet, before the hits that have them.  Context:
 * service. */
void called_send(void);
