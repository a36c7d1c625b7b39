/* The netlink socket by which C libraries start threads for mq_notify: the kernel sends a cookie
 * of 32 bytes, and a thread that reads the socket does the rest.  Nothing else can be done with it.
 *
 * Context: thread, with the kernel lock held. */
#ifndef GUEST_IPC_MQUEUE_SOCKET_H
#define GUEST_IPC_MQUEUE_SOCKET_H

#include "guest/file/files.h"

#define MQUEUE_COOKIE_BYTES 32u
#define MQUEUE_WOKEN 1 /* a cookie's last byte: a message came, or the request was taken back */
#define MQUEUE_REMOVED 2

extern const struct file_type mqueue_socket;

/* socket(AF_NETLINK): returns a descriptor or -errno. */
int64_t mqueue_socket_new(struct process *process, uint32_t type, uint32_t protocol);

/* recvfrom: -ENOTSOCK if the descriptor is of another kind. */
struct trap_frame;
int64_t mqueue_socket_receive(struct thread *thread, const struct trap_frame *frame);

/* Sends a cookie.  As in Linux it is lost if the socket is full. */
void mqueue_socket_send(struct file *file, const uint8_t *cookie, uint8_t event);

#endif
