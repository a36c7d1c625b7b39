/* The syntax of an event as -e takes it: a name, raw bits or cpu/.../, and the rings to count in.
 */
#ifndef HOST_EVENTS_EVENTS_SPEC_H
#define HOST_EVENTS_EVENTS_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"

#define EVENTS_NAME_MAX 63 /* bytes of an event as given; a trace holds no longer one */

/* Bits of an event select register: Intel SDM volume 3, "Architectural Performance Monitoring
 * Version 1", IA32_PERFEVTSELx; AMD APM volume 2, "Performance Event-Select Registers".
 */
#define EVENTS_SELECT_USR (1ull << 16)
#define EVENTS_SELECT_OS (1ull << 17)
#define EVENTS_SELECT_INT (1ull << 20)
#define EVENTS_SELECT_EN (1ull << 22)

struct events_spec {
    char name[EVENTS_NAME_MAX + 1]; /* without the suffix; empty for raw bits */
    uint64_t select; /* raw bits without rings */
    uint64_t companion; /* value of the companion register, raw events only */
    uint64_t rings; /* EVENTS_SELECT_USR, EVENTS_SELECT_OS or both */
};

/* Splits an event into its parts.  0, or -1 with the failure filled. */
int events_spec_parse(const char *text, struct events_spec *spec, struct run_failure *failure);

/* The length of the first event of a comma-separated list: commas between the slashes of cpu/.../
 * are the event's own.
 */
size_t events_spec_length(const char *list);

#endif
