/* Sends to the files port what the program made of the tree, for --keep-files, and the names that
 * it looked for but did not find, for --missing.  See include/run_ports.h. */
#pragma once

#include "guest/fs/fs.h"
#include "guest/thread/thread.h"

/* Call before the program starts: reads keep-files and missing. */
void fs_kept_start(const struct process *process);

/* Call before an entry leaves its place: notes the path if the archive had it. */
void fs_kept_removed(struct fs_entry *entry);

/* Call after the program wrote to a file, or closed it: may send what the host does not have yet,
 * off the workload clock.  Waits.  The caller holds the inode. */
void fs_kept_written(struct inode *inode);
void fs_kept_closed(struct inode *inode);

/* Returns how many files with contents the program made or changed that --keep-files does not keep,
 * and the path of the first, empty if it does not fit.  Call after the program has ended. */
uint64_t fs_kept_dropped(char *first, size_t room);

/* Visits each entry that is new or changed, parents before children.  Context: as fs_kept_finish.
 */
typedef void fs_kept_visit(void *context, const struct fs_entry *entry);
void fs_kept_walk(fs_kept_visit *visit_entry, void *context);

/* Sends the rest and the names through `buffer` (SERVICE_BYTES_MAX bytes; NULL: there was no
 * program).  Context: service, after the program has ended. */
typedef void fs_kept_send(const void *bytes, size_t count);
void fs_kept_finish(void *buffer, fs_kept_send *send);

/* guest/fs/fs_kept_message.c: collects messages in a buffer, which is sent when it is full. */
struct fs_kept_buffer {
    uint8_t *bytes;
    size_t used;
    fs_kept_send *send; /* NULL: filling ends when the buffer is full */
    uint8_t *last; /* the last message, if it is data: more may follow it */
};
void fs_kept_flush(struct fs_kept_buffer *buffer);

/* Adds the inode's pages from *index on that the host does not have; with `last` also those that
 * mapped areas may have written.  Returns true if there are more than fit. */
bool fs_kept_add_pages(struct fs_kept_buffer *buffer, struct inode *inode, uint64_t *index,
                       bool last);

/* Adds all contents of the inode. */
void fs_kept_add_contents(struct fs_kept_buffer *buffer, struct inode *inode);

/* Adds a message about an inode with the entry's path, and with the target if it is a link. */
void fs_kept_add_entry(struct fs_kept_buffer *buffer, uint32_t type, const struct fs_entry *entry);
void fs_kept_add_text(struct fs_kept_buffer *buffer, uint32_t type, const char *text);
void fs_kept_add_end(struct fs_kept_buffer *buffer, uint64_t left_out);
