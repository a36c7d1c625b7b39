/* Counts by function, added up over the runs of a sweep. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SWEEP_FUNCTIONS_MAX 4096u /* further ones are added up in one */

struct sweep_functions;

/* NULL: no memory.  `events`: in the whole sweep, the axis included. */
struct sweep_functions *sweep_functions_make(size_t events);
void sweep_functions_free(struct sweep_functions *functions);

struct sweep_profile; /* of one trace */

/* Counts a trace by function.  Returns 0 or -errno; the profile is to be freed in any case. */
int sweep_profile_read(struct sweep_profile **profile, const char *path);
void sweep_profile_free(struct sweep_profile *profile);

/* Adds a profile, whose event i is the sweep's event numbers[i].  Returns 0 or -ENOMEM. */
int sweep_functions_add(struct sweep_functions *functions, const struct sweep_profile *profile,
                        const uint32_t *numbers, uint32_t count);

typedef void sweep_functions_visit(void *context, const char *function, const char *object,
                                   uint32_t event, double sum);

/* Visits each function and event whose sum is not 0. */
void sweep_functions_each(const struct sweep_functions *functions, sweep_functions_visit *visit,
                          void *context);
