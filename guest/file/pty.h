/* Pseudo terminals: /dev/ptmx and /dev/pts/N.
 *
 * A pty has a master (one open file of /dev/ptmx, which may have several descriptors) and slaves,
 * open files of /dev/pts/N.  Everything that waits for it waits for one key, and looks again.
 * Context: thread, with the kernel lock held. */
#pragma once

#include "guest/file/files.h"
#include "guest/file/pty_line.h"

#define PTY_MOST 64u /* at a time */

struct pty {
    uint32_t number; /* of /dev/pts/N; 0 is the command's terminal, if it has one */
    struct file *files; /* open ones, by next_of_pipe; the last one to close frees it */
    uint32_t slaves; /* among them */
    bool opened; /* a slave was open */
    bool locked; /* TIOCSPTLCK: slaves cannot be opened */
    bool hung_up; /* the master was closed */
    uint32_t session, foreground; /* whose controlling terminal it is; 0: no session's */
    uint16_t window[4]; /* rows, columns, pixels */
    uint32_t waiting; /* threads */
    struct pty_line line;
};

extern const struct file_type pty_file_master; /* also /dev/ptmx, which opens as one */
extern const struct file_type pty_file_slave; /* also /dev/pts/N, by the inode's context */

struct pty *pty_at(uint32_t number); /* NULL: there is none */
struct pty *pty_of_session(uint32_t session); /* NULL: its terminal is no pty */

/* /dev/tty: makes a file one of the slaves. */
void pty_open_slave(struct pty *pty, struct file *file);

/* Makes it the controlling terminal of a session's leader, if neither has another.  Returns whether
 * it has become that. */
bool pty_take(struct pty *pty, const struct process *process);

/* ioctl of both ends. */
int64_t pty_control(struct thread *thread, struct file *file, uint32_t request, uint64_t argument);

/* Something has changed: wakes those that wait. */
void pty_changed(struct pty *pty);

/* A session has lost its leader, or the leader, which continues, has given the terminal up. */
void pty_session_ends(uint32_t session, bool continues);
