/* Where the sockets of runs are. */
#include "host/ctl/ctl_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID_BYTES 16u /* of a name in the folder, with its slash */

int ctl_folder(bool make, char path[sizeof((struct sockaddr_un *)NULL)->sun_path])
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    size_t room = sizeof((struct sockaddr_un *)NULL)->sun_path - PID_BYTES;
    struct stat status;

    if (base == NULL || base[0] != '/' ||
        (size_t)snprintf(path, room, "%s/microtome", base) >= room || stat(base, &status) != 0)
        (void)snprintf(path, room, "/tmp/microtome-%u", (unsigned)geteuid());
    if (make && mkdir(path, 0700) != 0 && errno != EEXIST)
        return -errno;
    if (lstat(path, &status) != 0)
        return -errno;
    return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0
               ? 0
               : -EPERM;
}

int ctl_address(bool make, pid_t pid, struct sockaddr_un *address)
{
    int error;

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    error = ctl_folder(make, address->sun_path);
    if (error == 0)
        (void)snprintf(address->sun_path + strlen(address->sun_path), PID_BYTES, "/%d", (int)pid);
    return error;
}
