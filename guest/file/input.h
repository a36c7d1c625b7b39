/* The command's stdin as something that threads wait for.
 * Nothing is read ahead: the host is asked for as much as a thread wants to read, and whether there
 * is anything.  Thread context, by the kernel lock's holder, except where noted.
 */
#ifndef GUEST_FILE_INPUT_H
#define GUEST_FILE_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/file/files.h"

/* Reads at most `bytes` bytes (SERVICE_BYTES_MAX) into service_buffer(); waits for the first one if
 * it may.  Their number, 0 at the end of file, -EAGAIN, -EINTR. */
int64_t input_read(struct thread *thread, uint64_t bytes, bool blocks);

/* POLL* of stdin, as far as known: after input_ask, until somebody reads. */
uint32_t input_events(void);

/* Finds that out, if the file is the command's stdin, or an epoll that may watch it; lets go of the
 * kernel lock meanwhile. */
void input_ask(struct thread *thread, const struct file *file);

/* The same, when an epoll watches stdin; and who does: +1, -1. */
void input_ask_watched(struct thread *thread);
void input_watched(const struct file *file, int change);

/* Some thread waits for stdin: what it waits for may come from outside. */
bool input_awaited(void);

/* Shared mode, when nothing else can run: waits for stdin as long as the host's clock takes for
 * `ns` nanoseconds, the workload clock stopped.  True: it is ready, and who waits for it is woken.
 */
bool input_idle(uint64_t ns);

/* Service context: the host says that these POLL* hold. */
void input_arrived(uint32_t events);

#endif
