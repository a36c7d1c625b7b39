/* Starts and ends a guest as a transient domain of libvirt.  For host/launch/ and host/run/. */
#pragma once

#include <stdio.h>

#include "host/launch/launch.h"

/* Writes the XML of the domain that would be started; files and sockets are in a directory that is
 * new for each run.  Returns 0, or -1 with the failure filled. */
int launch_libvirt_print(const struct options *o, const struct launch_machine *machine,
                         const struct launch_command *command, FILE *out,
                         struct run_failure *failure);

/* As launch_start.  The domain ends with this process, however that ends. */
int launch_libvirt_start(const struct options *o, const struct launch_machine *machine,
                         const struct launch_command *command, int archive_fd,
                         struct launch *launch, struct run_failure *failure);

/* Destroys the domain, for launch_kill and launch_end. */
void launch_libvirt_kill(struct launch_libvirt *domain);

/* Destroys the domain if it still exists, and frees everything. */
void launch_libvirt_end(struct launch_libvirt *domain);
