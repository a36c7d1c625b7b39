/* What lwIP needs of the kernel: memory, time, random numbers.  Service CPU only. */
#ifndef GUEST_NET_NET_PORT_H
#define GUEST_NET_NET_PORT_H

#include <stddef.h>
#include <stdint.h>

/* Takes `bytes` bytes at `memory`, aligned to 16, for all that net_port_allocate gives. */
void net_port_init(void *memory, size_t bytes);

/* Blocks of powers of two, aligned to 16; NULL when there is none of the size left. */
void *net_port_allocate(size_t bytes);
void *net_port_allocate_zeroed(size_t count, size_t bytes);
void net_port_free(void *block);

/* Milliseconds since boot or so.  lwIP has their lower half: sys_now. */
uint64_t net_port_ms(void);

uint32_t net_port_random(void);

/* lwIP found itself inconsistent. */
void net_port_assert(const char *text) __attribute__((noreturn));

#endif
