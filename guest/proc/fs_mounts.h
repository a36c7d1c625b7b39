/* What the kernel adds to the tree of files: /dev, /proc, /sys, /tmp. */
#pragma once

#include "guest/fs/fs.h"
#include "guest/thread/thread.h"

/* Call before the program starts, when the CPUs are known.  Returns 0 or -ENOMEM. */
int fs_mount(const struct process *process);

/* guest/proc/fs_proc.c: of /proc */
extern const struct fs_special fs_proc_self; /* links */
extern const struct fs_special fs_proc_thread_self;
extern const struct fs_special fs_proc_processes; /* /proc itself */

extern const struct fs_special fs_pts; /* guest/proc/fs_pts.c: /dev/pts */
