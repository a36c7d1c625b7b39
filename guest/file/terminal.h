/* Whose terminal is whose: sessions and their terminals, foreground and background.
 *
 * A terminal is the command's, which belongs to the session of the first process, or a pseudo
 * terminal (guest/file/pty.h).  Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process;
struct thread;

/* Returns true if the command has a terminal and the process's session has it. */
bool terminal_is_command(const struct process *process);

/* Returns the device number (major << 8 | minor) of the process's terminal, and its foreground
 * group; 0: it has none. */
uint32_t terminal_device(const struct process *process, uint32_t *foreground);

/* Whether an ioctl changes a terminal, and so stops a process of the background. */
bool terminal_changes(uint32_t request);

/* What a process of the background may do with its terminal: returns 0, -EIO, or -EINTR after it
 * has sent SIGTTIN or SIGTTOU to the process's group. */
int64_t terminal_check(const struct thread *thread, uint32_t foreground, uint32_t signal);

/* TIOCSPGRP for a terminal of the caller's session: reads the group, and checks it.  0 or -errno.
 */
int64_t terminal_read_group(const struct thread *thread, uint32_t foreground, uint64_t user,
                            uint32_t *group);
