/* What a run's end tells about files, a line each and only where it is likely to help. */
#ifndef HOST_RUN_RUN_HINTS_H
#define HOST_RUN_RUN_HINTS_H

#include "host/options/options.h"
#include "host/run/relay_log.h"

/* `failed`: the program did not end with status 0. */
void run_hints_print(const struct options *o, const struct relay_log *log, bool failed);

/* The caller's LD_LIBRARY_PATH is not the program's. */
void run_hints_print_libraries(const struct options *o);

#endif
