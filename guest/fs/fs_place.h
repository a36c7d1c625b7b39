/* Where a process is: its working directory, and its umask.  Processes that were made with CLONE_FS
 * share them.  The first process has one that is never freed.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include "guest/thread/process.h"

struct process_place *fs_place_copy(const struct process_place *from); /* NULL: no memory */
struct process_place *fs_place_hold(struct process_place *place);
void fs_place_release(struct process_place *place); /* NULL: nothing to do */
