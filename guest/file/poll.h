/* Readiness of files: who asks, and who is told of changes.
 * Thread context, by the kernel lock's holder.
 */
#ifndef GUEST_FILE_POLL_H
#define GUEST_FILE_POLL_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/file/files.h"
#include "guest/thread/wait.h"

#define POLL_READABLE 0x41u /* POLLIN | POLLRDNORM */
#define POLL_WRITABLE 0x104u /* POLLOUT | POLLWRNORM */
#define POLL_PEER_ENDED 0x2000u /* POLLRDHUP */
#define POLL_ALWAYS 0x18u /* POLLERR | POLLHUP: reported whether asked for or not */

/* POLL* that hold now.  Before that, where the command's stdin may be among the files:
 * input_ask (guest/file/input.h). */
uint32_t poll_events(struct thread *thread, struct file *file);

/* Some of these POLL* may hold for a file from now on: wakes those who poll, tells its watches. */
void poll_changed(struct file *file, uint32_t events);

/* The same for a file without watches. */
void poll_changed_elsewhere(void);

/* A number that grows with every such change: who let go of the kernel lock while it looked at
 * several files looks again when it did. */
uint64_t poll_changes(void);
bool poll_waits(void); /* some thread waits so: */

/* Waits for such a change of any file. */
enum wait_end poll_wait(struct thread *thread, uint64_t deadline, const char *what);

/* Somebody who wants to be told as long as the file is open: an entry of an epoll. */
struct poll_watch {
    struct file *file;
    struct poll_watch *next;
    struct poll_watch *previous;
    void (*changed)(struct poll_watch *watch, uint32_t events);
    void (*gone)(struct poll_watch *watch); /* its last user lets go; the watch is off the list */
};
void poll_watch(struct poll_watch *watch, struct file *file);
void poll_unwatch(struct poll_watch *watch);
void poll_file_gone(struct file *file); /* by guest/file/files.c */

/* Deadlines of waits: nanoseconds since the program started, WAIT_FOREVER: none. */
uint64_t poll_deadline(uint64_t ns);
uint64_t poll_left(uint64_t deadline);

/* The mask of ppoll and its like, in force until poll_end_mask.  `user` may be 0. */
int poll_begin_mask(struct thread *thread, uint64_t user, uint64_t bytes, bool *changed);
void poll_end_mask(struct thread *thread, bool changed, int64_t result);

#endif
