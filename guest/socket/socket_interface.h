/* The interfaces that programs see: lo, and with an outside of sockets eth0.  Linux's names,
 * numbers and routes for what guest/socket/socket_inet.c does.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SOCKET_INTERFACE_QUEUE 1000 /* packets that wait to be sent */
#define SOCKET_INTERFACE_BYTES 6u /* of a hardware address */

struct socket_interface {
    char name[8];
    uint32_t flags; /* IFF_* */
    uint16_t type; /* ARPHRD_* */
    uint32_t mtu, mtu_least, mtu_most;
    uint32_t operation; /* IF_OPER_* */
    char queue[12]; /* how it orders packets */
    uint8_t hardware[SOCKET_INTERFACE_BYTES], broadcast[SOCKET_INTERFACE_BYTES];
};

/* Returns interface 1, 2 ...; NULL: there is none with this number. */
const struct socket_interface *socket_interface_at(uint32_t index);

/* Returns the number of an interface; 0: there is none with this name. */
uint32_t socket_interface_find(const char *name, uint32_t bytes);

/* ioctl: SIOCGIF*.  Returns 0 or -errno. */
int64_t socket_interface_control(uint32_t request, uint64_t user);
