/* Fills a finding of hr doctor.  Text may come from a hostile file: these functions escape it. */
#pragma once

#include "host/doctor/doctor.h"

/* Set the state, the effect on a run (NULL: leave it) and what was found; the effect alone; the
 * remedy, as a shell command or in words.  Each replaces the earlier text. */
void doctor_finding_set(struct doctor_finding *f, enum doctor_state state, const char *effect,
                        const char *found, ...) __attribute__((format(printf, 4, 5)));
void doctor_finding_effect(struct doctor_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void doctor_finding_command(struct doctor_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void doctor_finding_advice(struct doctor_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets "unknown", because the file could not be read or is malformed. */
void doctor_finding_unreadable(struct doctor_finding *f, const char *path, int error);

/* Sets a remedy: parameters on the kernel's command line, set in the way of this distribution. */
void doctor_finding_kernel_parameters(const struct doctor_host *host, struct doctor_finding *f,
                                      const char *parameters);

/* Sets a remedy: parameter=1 of a module, which `loaded_by` loads (may be the module itself). */
void doctor_finding_module_parameter(const struct doctor_host *host, struct doctor_finding *f,
                                     const char *module, const char *loaded_by,
                                     const char *parameter);
