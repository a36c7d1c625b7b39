/* Counts by function, added up over the runs of a sweep, and by the sections between marks. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "host/report/report_marks.h"

#define SWEEP_FUNCTIONS_MAX 4096u /* further ones are added up in one */
#define SWEEP_SECTIONS_MAX 256u /* so are these */

struct sweep_functions;

/* NULL: no memory.  `events`: in the whole sweep, the axis included. */
struct sweep_functions *sweep_functions_make(size_t events);
void sweep_functions_free(struct sweep_functions *functions);

struct sweep_profile; /* of one trace */

/* Counts a trace by function and by section.  The marks are sorted, and must outlive the profile.
 * Returns 0 or -errno; the profile is to be freed in any case. */
int sweep_profile_read(struct sweep_profile **profile, const char *path,
                       struct report_marks *marks);
void sweep_profile_free(struct sweep_profile *profile);

typedef void sweep_section_visit(void *context, const char *name, uint64_t passes,
                                 const uint64_t *sums);

/* Visits each section with the sums of the trace's events, in the order in which they began; none
 * without marks. */
void sweep_profile_sections(const struct sweep_profile *profile, sweep_section_visit *visit,
                            void *context);

/* Adds a profile, whose event i is the sweep's event numbers[i].  Returns 0 or -ENOMEM. */
int sweep_functions_add(struct sweep_functions *functions, const struct sweep_profile *profile,
                        const uint32_t *numbers, uint32_t count);

typedef void sweep_functions_visit(void *context, const char *function, const char *object,
                                   uint32_t event, double sum);

/* Visits each function and event whose sum is not 0. */
void sweep_functions_each(const struct sweep_functions *functions, sweep_functions_visit *visit,
                          void *context);
