/* The private directory through which a guest of libvirt gets its files and its ports.
 *
 * There the emulator runs as another user: only that user may reach the contents of the directory,
 * by name.  The directory is removed as soon as the guest has started, or this process ends.
 */
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "host/launch/launch.h"
#include "host/launch/launch_guard.h"

struct launch_directory {
    char path[PATH_MAX]; /* empty: there is none */
    int listeners[LAUNCH_PORTS];
    struct launch_guard guard; /* the child that removes it */
};

/* Makes the directory with copies of the kernel and the archive, and a socket for each port
 * that the run has.  Returns 0, or -1 with the failure filled; call
 * launch_directory_remove in either case.
 */
int launch_directory_make(struct launch_directory *d, const char *kernel, int archive_fd,
                          const bool has_port[LAUNCH_PORTS], struct run_failure *failure);

/* Accepts the emulator's connections, which must all come from one process of root, libvirt or our
 * user; others are refused.  Stores the process.  Returns 0, or -1 with the failure filled. */
int launch_directory_accept(struct launch_directory *d, int ports[LAUNCH_PORTS], pid_t *emulator,
                            struct run_failure *failure);

void launch_directory_remove(struct launch_directory *d);
