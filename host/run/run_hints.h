/* Hints about files at the end of a run: one line each, and only if likely to help. */
#pragma once

#include "host/options/options.h"
#include "host/run/relay_log.h"

/* `failed`: the program did not end with status 0. */
void run_hints_print(const struct options *o, const struct relay_log *log, bool failed);

/* Says that the program does not get the caller's LD_LIBRARY_PATH. */
void run_hints_print_libraries(const struct options *o);
