/* The sockets by which a shell or a script steers a run (hr ctl).
 *
 * Each `hr run` has one while its guest runs, named after its process, in a folder that is the
 * user's alone: microtome in $XDG_RUNTIME_DIR, or else /tmp/microtome-UID.  A request is one packet
 * of text, and so is its answer: the first byte is CTL_DONE or CTL_REFUSED, the rest is text for
 * people.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

#define CTL_PACKET_MAX 4096u
#define CTL_TEXT_MAX 255u /* bytes of a mark */
#define CTL_DONE '+'
#define CTL_REFUSED '-'

/* Stores the folder's path, and makes the folder if `make`.  Returns 0 or -errno: -EPERM if it is
 * another user's or others may write there. */
int ctl_folder(bool make, char path[sizeof((struct sockaddr_un *)NULL)->sun_path]);

/* The address of a run's socket.  0 or -errno as ctl_folder. */
int ctl_address(bool make, pid_t pid, struct sockaddr_un *address);
