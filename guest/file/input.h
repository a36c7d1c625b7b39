/* The command's stdin as something that threads wait for.  Nothing is read ahead: the host is asked
 * for as much as a thread wants to read, and whether there is anything.
 *
 * Context: thread, with the kernel lock held, except where noted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/file/files.h"

/* Reads at most `bytes` bytes (SERVICE_BYTES_MAX) into service_buffer(); if `blocks`, waits for the
 * first one.  Returns their number, 0 at the end of the file, -EAGAIN or -EINTR. */
int64_t input_read(struct thread *thread, uint64_t bytes, bool blocks);

/* Returns the POLL* of stdin as far as known: after input_ask, until stdin is read. */
uint32_t input_events(void);

/* Finds out the POLL* of stdin if the file is the command's stdin, or an epoll that may watch it.
 * Releases the kernel lock while it asks. */
void input_ask(struct thread *thread, const struct file *file);

/* input_ask_watched is input_ask for the case that some epoll watches stdin; input_watched counts
 * the epolls that do: change is +1 or -1. */
void input_ask_watched(struct thread *thread);
void input_watched(const struct file *file, int change);

/* Returns true if a thread waits for stdin, so that it may be woken from outside. */
bool input_awaited(void);

/* Shared mode, while no thread can run: waits for stdin for `ns` nanoseconds of the host's clock,
 * with the workload clock stopped.  Returns true if stdin is ready and wakes those that wait for
 * it; also if the run is being stopped, or something came from the network. */
bool input_idle(uint64_t ns, uint64_t *passed_ns);

/* The host reports that these POLL* hold.  Context: service. */
void input_arrived(uint32_t events);
