/* Fills a finding of hr doctor.  Text may come from a hostile file: it is escaped here, once. */
#ifndef HOST_DOCTOR_DOCTOR_FINDING_H
#define HOST_DOCTOR_DOCTOR_FINDING_H

#include "host/doctor/doctor.h"

/* State and what was found; the effect on a run; the remedy, as a command for a shell or in words.
 * Each replaces what was there.
 */
void doctor_finding_set(struct doctor_finding *f, enum doctor_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void doctor_finding_effect(struct doctor_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void doctor_finding_command(struct doctor_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void doctor_finding_advice(struct doctor_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "unknown": the file could not be read or makes no sense. */
void doctor_finding_unreadable(struct doctor_finding *f, const char *path, int error);

/* The remedy: parameters on the kernel's command line, the way this distribution sets them. */
void doctor_finding_kernel_parameters(const struct doctor_host *host, struct doctor_finding *f,
                                      const char *parameters);

/* The remedy: parameter=1 of a module, which `loaded_by` pulls in (or is the same). */
void doctor_finding_module_parameter(const struct doctor_host *host, struct doctor_finding *f,
                                     const char *module, const char *loaded_by,
                                     const char *parameter);

#endif
