/* What the program made of the tree, for --keep-files, and the names that it looked for in vain,
 * for
 * --missing: sent to the files port.  See include/run_ports.h.
 */
#ifndef GUEST_FS_FS_KEPT_H
#define GUEST_FS_FS_KEPT_H

#include "guest/fs/fs.h"
#include "guest/thread/thread.h"

/* Before the program starts: reads keep-files and missing. */
void fs_kept_start(const struct process *process);

/* An entry is about to leave its place: a path of the archive that goes is noted. */
void fs_kept_removed(struct fs_entry *entry);

/* The program wrote to a file, or closed it: what the host does not have yet may go to it now, off
 * the workload clock.  Waits.  The inode is held by the caller. */
void fs_kept_written(struct inode *inode);
void fs_kept_closed(struct inode *inode);

/* The files with contents that the program made or changed and that nobody keeps, and the path of
 * the first, empty if it does not fit.  When the program runs no more. */
uint64_t fs_kept_dropped(char *first, size_t room);

/* Service context, when the program runs no more: sends the rest and the names, by way of `buffer`
 * (SERVICE_BYTES_MAX bytes; NULL: there was no program). */
typedef void fs_kept_send(const void *bytes, size_t count);
void fs_kept_finish(void *buffer, fs_kept_send *send);

/* guest/fs/fs_kept_message.c: messages on their way into a buffer, which is sent when it is full.
 */
struct fs_kept_buffer {
    uint8_t *bytes;
    size_t used;
    fs_kept_send *send; /* NULL: filling ends when the buffer is full */
    uint8_t *last; /* the last one, if it is data: more may follow it */
};
void fs_kept_flush(struct fs_kept_buffer *buffer);

/* Adds the inode's pages from *index on that the host does not have; with `last` also those that
 * areas may have written.  True: there is more, and no room. */
bool fs_kept_add_pages(struct fs_kept_buffer *buffer, struct inode *inode, uint64_t *index,
                       bool last);

/* Adds all of its contents. */
void fs_kept_add_contents(struct fs_kept_buffer *buffer, struct inode *inode);

/* Adds a message about an inode with the entry's path; a link's target follows it. */
void fs_kept_add_entry(struct fs_kept_buffer *buffer, uint32_t type, const struct fs_entry *entry);
void fs_kept_add_text(struct fs_kept_buffer *buffer, uint32_t type, const char *text);
void fs_kept_add_end(struct fs_kept_buffer *buffer, uint64_t left_out);

#endif
