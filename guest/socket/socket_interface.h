/* The one network interface, `lo`, as ioctl tells of it.  Context: thread. */
#ifndef GUEST_SOCKET_SOCKET_INTERFACE_H
#define GUEST_SOCKET_SOCKET_INTERFACE_H

#include <stdint.h>

/* Returns what an ioctl of a socket's returns: 0, -errno, or -ENOTTY for one that is not about
 * interfaces. */
int64_t socket_interface_control(uint32_t request, uint64_t user);

#endif
