/* hr doctor: what this host gives a run, as one table of checks.
 *
 * Everything that is read from the host comes either from a file below `root` (doctor_read.h) or
 * from struct doctor_facts, so that another host can be put in their place.  Files are hostile:
 * they may be missing, huge or binary, and their text is escaped before it is shown.
 */
#ifndef HOST_DOCTOR_DOCTOR_H
#define HOST_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "host/doctor/doctor_facts.h"

#define DOCTOR_FOUND_BYTES 256
#define DOCTOR_EFFECT_BYTES 400
#define DOCTOR_REMEDY_BYTES 600
#define DOCTOR_VERDICT_BYTES 800
#define DOCTOR_CHECKS_MAX 32

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_WARNING, /* a faithful run is possible, but this disturbs it */
    DOCTOR_PROBLEM, /* no faithful run */
    DOCTOR_UNKNOWN,
};

struct doctor_host {
    const char *root; /* before every path; "" is this machine */
    struct doctor_facts facts;
};

struct doctor_finding {
    enum doctor_state state;
    char found[DOCTOR_FOUND_BYTES];
    char effect[DOCTOR_EFFECT_BYTES]; /* on a run */
    char remedy[DOCTOR_REMEDY_BYTES]; /* empty: nothing to mend, or no way */
    bool remedy_is_command; /* for a shell; otherwise words */
};

struct doctor_check {
    const char *id; /* in JSON: stable */
    const char *title;
    bool essential; /* unless it is known to be in order there is no faithful run */
    bool needed_always; /* if it is a problem there is no run at all, not even an emulated one */
    const char *otherwise; /* what the verdict says when it is a problem */
    void (*look)(const struct doctor_host *host, struct doctor_finding *finding);
};

struct doctor_report {
    size_t count;
    const struct doctor_check *checks;
    struct doctor_finding findings[DOCTOR_CHECKS_MAX]; /* one a check */
    bool faithful; /* runs read this CPU's counters, at its speed */
    char verdict[DOCTOR_VERDICT_BYTES]; /* which runs are possible here */
};

/* Looks at everything, in the order of the table, and judges. */
void doctor_examine(const struct doctor_host *host, struct doctor_report *report);

/* "ok", "warning", "problem", "unknown" */
const char *doctor_state_name(enum doctor_state state);

/* The report as a table of `columns` columns; `details` shows the effect of what is in order, too.
 */
void doctor_print_table(FILE *out, const struct doctor_report *report, unsigned int columns,
                        bool colours, bool details);

/* The report as a JSON object.  0, or -ENOMEM. */
int doctor_print_json(FILE *out, const struct doctor_report *report);

#endif
