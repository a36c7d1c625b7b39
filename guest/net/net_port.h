/* What lwIP needs of the kernel: memory, time, random numbers.  Context: service CPU. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Gives net_port_allocate `bytes` bytes at `memory`, aligned to 16, to allocate from. */
void net_port_init(void *memory, size_t bytes);

/* Allocates blocks of powers of two, aligned to 16; returns NULL if none of the size is left. */
void *net_port_allocate(size_t bytes);
void *net_port_allocate_zeroed(size_t count, size_t bytes);
void net_port_free(void *block);

/* Returns milliseconds since about boot.  lwIP gets the lower half, from sys_now. */
uint64_t net_port_ms(void);

/* In virtual time halts for so many milliseconds, which take no time of the emulator: half a second
 * of polling would be half a billion instructions.  Otherwise returns at once. */
void net_port_pass(uint32_t ms);

uint32_t net_port_random(void);

/* Panics: lwIP found itself inconsistent. */
void net_port_assert(const char *text) __attribute__((noreturn));
