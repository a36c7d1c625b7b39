/* Readiness of files: asks for it, and tells of changes.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/file/files.h"
#include "guest/thread/wait.h"

#define POLL_READABLE 0x41u /* POLLIN | POLLRDNORM */
#define POLL_WRITABLE 0x104u /* POLLOUT | POLLWRNORM */
#define POLL_PEER_ENDED 0x2000u /* POLLRDHUP */
#define POLL_ALWAYS 0x18u /* POLLERR | POLLHUP: reported even if not asked for */

/* Returns the POLL* that hold now.  If the command's stdin may be among the files, call input_ask
 * (guest/file/input.h) first. */
uint32_t poll_events(struct thread *thread, struct file *file);

/* Call when some of these POLL* may now hold for a file: wakes threads that poll, and tells its
 * watches. */
void poll_changed(struct file *file, uint32_t events);

/* poll_changed for a file without watches. */
void poll_changed_elsewhere(void);

/* Returns the number of such changes so far.  After releasing the kernel lock while looking at
 * several files, look again if it has grown. */
uint64_t poll_changes(void);
bool poll_waits(void); /* returns true if a thread is in poll_wait */

/* Waits for such a change of any file, until the deadline. */
enum wait_end poll_wait(struct thread *thread, uint64_t deadline, const char *what);

/* A watch is told of changes as long as the file is open: an entry of an epoll. */
struct poll_watch {
    struct file *file;
    struct poll_watch *next;
    struct poll_watch *previous;
    void (*changed)(struct poll_watch *watch, uint32_t events);
    void (*gone)(struct poll_watch *watch); /* the file was released; the watch is off its list */
};
void poll_watch(struct poll_watch *watch, struct file *file);
void poll_unwatch(struct poll_watch *watch);
void poll_file_gone(struct file *file); /* for guest/file/files.c */

/* Deadlines of waits, in nanoseconds since the program started; WAIT_FOREVER: none. */
uint64_t poll_deadline(uint64_t ns);
uint64_t poll_left(uint64_t deadline);

/* Sets the signal mask of ppoll and similar calls, until poll_end_mask.  `user` may be 0: no mask.
 * Returns 0, -EINVAL or -EFAULT. */
int poll_begin_mask(struct thread *thread, uint64_t user, uint64_t bytes, bool *changed);
void poll_end_mask(struct thread *thread, bool changed, int64_t result);
