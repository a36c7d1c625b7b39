/* Counts by function, added up over the runs of a sweep. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SWEEP_FUNCTIONS_MAX 4096u /* further ones are added up in one */

struct sweep_functions;

/* NULL: no memory.  `events`: in the whole sweep, the axis included. */
struct sweep_functions *sweep_functions_make(size_t events);
void sweep_functions_free(struct sweep_functions *functions);

/* Adds a trace, whose event i is the sweep's event numbers[i].  Returns 0 or -errno. */
int sweep_functions_add(struct sweep_functions *functions, const char *path,
                        const uint32_t *numbers, uint32_t count);

typedef void sweep_functions_visit(void *context, const char *function, const char *object,
                                   uint32_t event, double sum);

/* Visits each function and event whose sum is not 0. */
void sweep_functions_each(const struct sweep_functions *functions, sweep_functions_visit *visit,
                          void *context);
