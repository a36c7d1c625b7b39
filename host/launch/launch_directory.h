/* The private directory through which a guest of libvirt gets its files and its ports.
 *
 * The emulator runs as another user there: only that user may reach what is in the directory, by
 * name, and it is removed as soon as the guest has started, or this process ends.
 */
#ifndef HOST_LAUNCH_LAUNCH_DIRECTORY_H
#define HOST_LAUNCH_LAUNCH_DIRECTORY_H

#include <limits.h>
#include <sys/types.h>

#include "host/launch/launch.h"
#include "host/launch/launch_guard.h"

struct launch_directory {
    char path[PATH_MAX]; /* empty: there is none */
    int listeners[LAUNCH_PORTS];
    struct launch_guard guard; /* which removes it */
};

/* Makes the directory with a copy of the kernel, of the archive, and a socket a port, the one for
 * files if the run has it.  0, or -1
 * with the failure filled; then, too, launch_directory_remove is due.
 */
int launch_directory_make(struct launch_directory *d, const char *kernel, int archive_fd,
                          bool has_files, struct run_failure *failure);

/* Takes the connections that the emulator has made, all of one process of root, libvirt's or our
 * user; others are turned away.  Stores the process.  0, or -1 with the failure filled.
 */
int launch_directory_accept(struct launch_directory *d, int ports[LAUNCH_PORTS], pid_t *emulator,
                            struct run_failure *failure);

void launch_directory_remove(struct launch_directory *d);

#endif
