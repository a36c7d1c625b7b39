/* libpfm4's tables of events, for any CPU and not only the one that runs this.
 *
 * The first call starts the library.  If it fails to start, there are no tables.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Encodes an event by its name (EVENT.UMASK or EVENT:UMASK:MODIFIER=N) with one of the tables of
 * events_cpu_table; `rings` applies to names that do not choose them.  Returns false if there is no
 * such event. */
bool events_library_encode(const char *table, const char *name, uint64_t rings, uint64_t *select,
                           uint64_t *companion);

typedef void events_library_visit(void *context, const char *name, const char *description);

/* Calls visit for every event and unit mask of a table, written EVENT.UMASK. */
void events_library_list(const char *table, events_library_visit *visit, void *context);

/* Tells how many general and fixed counters a table's CPUs have, as libpfm4 counts them.  Returns
 * 0, or -1: no such table. */
int events_library_counters(const char *table, uint32_t *general, uint32_t *fixed);
