/* The options that an archive depends on: hr run, hr pack and hr usb take them. */
#ifndef HOST_OPTIONS_OPTIONS_ARCHIVE_H
#define HOST_OPTIONS_OPTIONS_ARCHIVE_H

#include <argp.h>

#include "host/options/options.h"

/* What the parsers below take as their input. */
struct options_parsing {
    struct options *options;
    struct run_failure *failure;
    const char *event_list;
    const char *given; /* the first option that an archive that is made already cannot heed */
};

/* Events, sampling, CPUs, memory, files, environment; and the program with its arguments.  Argp
 * children: each command has options of its own beside them.
 */
extern const struct argp options_archive_argp;

/* What only an archive that is kept needs: nobody is there when it runs.  hr pack, hr usb. */
extern const struct argp options_kept_argp;

/* Defaults. */
void options_init(struct options_parsing *parsing, struct options *o, struct run_failure *failure);

/* After parsing: what the options make together.  0, or -1 with the failure filled. */
int options_finish(struct options_parsing *parsing);

int options_set_timeout(struct options *o, const char *text, struct run_failure *failure);

#endif
