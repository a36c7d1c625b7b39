/* What a socket has received and not yet handed out: a list of packets.
 *
 * A packet of a stream is up to a page of bytes, to which more may be added; one of datagrams is
 * one datagram, after the name of its sender.  Memory is taken as data comes.  All of it together
 * is limited: above a part of the machine's memory each stream may keep little only
 * (socket_queue_scarce), and the last part of memory is left to the program.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;

#define SOCKET_DATAGRAM_COST 512u /* counts in addition to the bytes of a datagram */
#define SOCKET_RIGHTS_MAX 253u /* SCM_MAX_FD: files in one message */

/* What comes with bytes: open files and who sent them. */
struct socket_rights {
    uint32_t pid; /* 0: not known */
    uint32_t count;
    struct file **files; /* held; an array of the heap's */
};

struct socket_packet {
    struct socket_packet *next;
    uint32_t size; /* of `data` */
    uint32_t start, end; /* of what is left in it */
    uint16_t name_bytes; /* of the sender's name, at the start of `data` */
    bool whole; /* nothing is added to it: a datagram, or there are files */
    struct socket_rights rights;
    uint8_t data[];
};

struct socket_queue {
    struct socket_packet *first, *last;
    uint32_t bytes; /* left in all packets */
    uint32_t packets;
};

/* Makes a packet with room for at least one byte, at most `bytes` bytes are wanted: of a stream one
 * of at most a page, else one with room for all.  NULL: no memory. */
struct socket_packet *socket_packet_new(uint32_t bytes, bool stream);

/* Frees a packet that is in no queue; drops its files, which may wait. */
void socket_packet_free(struct socket_packet *packet);

void socket_queue_add(struct socket_queue *q, struct socket_packet *packet);
struct socket_packet *socket_queue_take(struct socket_queue *q); /* the first; NULL: none */

/* For streams: add bytes, 0 or -ENOBUFS; take `bytes` <= q->bytes out. */
int socket_queue_put(struct socket_queue *q, const uint8_t *from, uint32_t bytes);
void socket_queue_get(struct socket_queue *q, uint8_t *to, uint32_t bytes);

/* Takes one byte out, after `ahead` < q->bytes others.  Drops the files of a packet that is then
 * empty, which may wait. */
void socket_queue_drop(struct socket_queue *q, uint32_t ahead);

bool socket_queue_scarce(void); /* all sockets together have much */
