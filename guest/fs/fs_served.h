/* The host's files in the tree, on demand: docs/architecture/files.md.
 * Context: thread, with the kernel lock held, unless noted. */
#pragma once

#include "guest/fs/fs.h"

/* From now on names that the tree lacks are asked for; boot, when the archive and the kernel's own
 * files are in the tree.  Does nothing if the host serves no files. */
void fs_served_start(void);

/* Makes the host's file of that name an entry of the directory.  Returns it held; NULL: there is
 * none, or it cannot be had. */
struct fs_entry *fs_served_child(struct fs_entry *directory, const char *name);

/* Makes all names that the host has in the directory entries, unless the directory is one of
 * temporary files: those names depend on what else runs on the host. */
void fs_served_complete(struct fs_entry *directory);

/* Call before an entry leaves its place: the host's file of that name, if any, is hidden. */
void fs_served_removed(struct fs_entry *entry);

/* Implements inode_fetch (guest/vm/inode.h). */
int fs_served_fetch(struct inode *inode, uint64_t index);
