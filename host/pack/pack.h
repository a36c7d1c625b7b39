/* Builds the archive of one run: the manifest, the program, and the files that it needs or was
 * given.
 *
 * Functions return 0, or -1 with the failure filled.  Only pack_print and pack_print_probes print.
 */
#pragma once

#include <stdio.h>

#include "host/base/run_failure.h"
#include "host/pack/collect/pack_contents.h"

/* Finds the program and everything that belongs to it.  Refuses, with a reason, what cannot run:
 * exit status 127 if a program, library or interpreter does not exist, 126 if Microtome cannot run
 * it or it does not fit into the guest's memory. */
int pack_collect(struct pack *pack, const struct options *o, const struct launch_machine *machine,
                 struct run_failure *failure);

/* Writes the archive to `fd` from its start. */
int pack_write(const struct pack *pack, const struct options *o,
               const struct launch_machine *machine, int fd, struct run_failure *failure);

/* Prints what was left out, and with -v what was packed. */
void pack_print(const struct pack *pack, const struct options *o, FILE *out);

/* Prints the points of probes; with -v all of them. */
void pack_print_probes(const struct pack *pack, const struct options *o, FILE *out);

void pack_free(struct pack *pack);
