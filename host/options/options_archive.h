/* The options that determine an archive: hr run, hr pack and hr usb take them. */
#pragma once

#include <argp.h>

#include "host/options/options.h"

/* The input of the parsers below. */
struct options_parsing {
    struct options *options;
    struct run_failure *failure;
    const char *event_list;
    const char *given; /* the first option that is fixed in an archive; "event" if only -e is */
};

/* Events, sampling, CPUs, memory, files, environment; and the program with its arguments.  These
 * are argp children: each command has options of its own in addition. */
extern const struct argp options_archive_argp;

/* The options for an archive that runs later, unattended: hr pack, hr usb. */
extern const struct argp options_kept_argp;

/* Sets the defaults. */
void options_init(struct options_parsing *parsing, struct options *o, struct run_failure *failure);

/* Checks and completes the options together after parsing.  Returns 0, or -1 with the failure
 * filled. */
int options_finish(struct options_parsing *parsing);

int options_set_timeout(struct options *o, const char *text, struct run_failure *failure);
