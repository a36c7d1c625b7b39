/* What the program made of the tree, for --keep-files.  See include/run_ports.h. */
#ifndef GUEST_FS_KEPT_H
#define GUEST_FS_KEPT_H

#include "guest/fs.h"

/* An entry is about to leave its place: a path of the archive that goes is noted. */
void fs_kept_removed(struct fs_entry *entry);

/* The program wrote to a file, or closed it: what the host does not have yet may go to it now, off
 * the workload clock.  Waits.  The inode is held by the caller. */
void fs_kept_written(struct inode *inode);
void fs_kept_closed(struct inode *inode);

#endif
