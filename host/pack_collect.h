/* The steps of collecting what goes into a run's archive, in the order of their precedence.
 *
 * Functions return 0, or -1 with the failure filled.
 */
#ifndef HOST_PACK_COLLECT_H
#define HOST_PACK_COLLECT_H

#include "host/pack.h"
#include "host/pack_libraries.h"

struct pack_collector {
    struct pack *pack;
    const struct options *options;
    const struct launch_machine *machine;
    struct run_failure *failure;
    struct pack_libraries libraries;
};

/* What --file and --root name. */
int pack_collect_given(struct pack_collector *c);

/* The program's interpreter and libraries, if it has any. */
int pack_collect_libraries(struct pack_collector *c);

#endif
