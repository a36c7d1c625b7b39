/* Parts of /proc that come and go: guest/proc/fs_proc.c, fs_proc_descriptors.c.
 *
 * The context of their inodes is the pid in bits 63:32, and below it a tid, a descriptor or 0.
 * Context: thread, with the kernel lock held. */
#pragma once

#include "guest/fs/fs.h"

enum fs_proc_kind { /* in inode numbers */
                    FS_PROC_PROCESS = 1,
                    FS_PROC_TASK,
                    FS_PROC_DESCRIPTOR,
                    FS_PROC_NOTE,
                    FS_PROC_PTY,
                    FS_PROC_SPECIAL /* and up */
};

/* Returns a decimal number without a sign or leading zeros; UINT32_MAX: it is none. */
uint32_t fs_proc_number(const char *name);

/* Gives an inode its number and context; NULL stays NULL. */
struct inode *fs_proc_numbered(struct inode *inode, uint32_t kind, uint64_t context);

/* Lists `number` as a name.  Returns true. */
bool fs_proc_list(uint32_t kind, uint64_t context, uint32_t number, uint32_t mode,
                  struct fs_listed *listed);

/* fs_path for the text of a link. */
int64_t fs_proc_entry_text(const struct fs_entry *entry, char *out, uint64_t room);

extern const struct fs_special fs_proc_descriptors; /* /proc/PID/fd */
extern const struct fs_special fs_proc_descriptor_notes; /* /proc/PID/fdinfo */
