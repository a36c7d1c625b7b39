/* hr doctor: whether this host suits a run, as one table of checks.
 *
 * All data about the host comes either from a file below `root` (doctor_read.h) or from struct
 * doctor_facts, so that tests can replace the host.  Files are hostile: they may be missing, huge
 * or binary, and their text is escaped before it is shown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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
    DOCTOR_PROBLEM, /* no faithful run is possible */
    DOCTOR_UNKNOWN,
};

struct doctor_host {
    const char *root; /* precedes every path; "" is this machine */
    struct doctor_facts facts;
};

struct doctor_finding {
    enum doctor_state state;
    char found[DOCTOR_FOUND_BYTES];
    char effect[DOCTOR_EFFECT_BYTES]; /* effect on a run */
    char remedy[DOCTOR_REMEDY_BYTES]; /* empty: nothing to fix, or no remedy */
    bool remedy_is_command; /* a shell command; otherwise words */
};

struct doctor_check {
    const char *id; /* stable, for JSON */
    const char *title;
    bool essential; /* unless this is known to be in order, no faithful run is possible */
    bool needed_always; /* if a problem: no run at all is possible, not even an emulated one */
    const char *otherwise; /* the verdict if it is a problem */
    void (*look)(const struct doctor_host *host, struct doctor_finding *finding);
};

struct doctor_report {
    size_t count;
    const struct doctor_check *checks;
    struct doctor_finding findings[DOCTOR_CHECKS_MAX]; /* one per check */
    bool faithful; /* runs read this CPU's counters, at the CPU's speed */
    char verdict[DOCTOR_VERDICT_BYTES]; /* the runs that are possible here */
};

/* Performs all checks, in the order of the table, and derives the verdict. */
void doctor_examine(const struct doctor_host *host, struct doctor_report *report);

/* Returns "ok", "warning", "problem" or "unknown". */
const char *doctor_state_name(enum doctor_state state);

/* Prints the report as a table of `columns` columns; `details` also shows the effect of what is in
 * order. */
void doctor_print_table(FILE *out, const struct doctor_report *report, unsigned int columns,
                        bool colours, bool details);

/* Prints the report as a JSON object.  Returns 0 or -ENOMEM. */
int doctor_print_json(FILE *out, const struct doctor_report *report);
