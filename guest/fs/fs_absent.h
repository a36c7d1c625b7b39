/* Names that are not in their directory although the host may have them: names that it was found to
 * lack, which need not be asked for again, and names that the program removed.
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>

#include "guest/vm/inode.h"

#define FS_ABSENT_LACKING_MAX 65536u /* names that the host lacks; then they are forgotten */

bool fs_absent_find(const struct inode *directory, const char *name);

/* Notes a name; `removed`: for good.  Without memory, the name may be asked for again. */
void fs_absent_note(const struct inode *directory, const char *name, bool removed);
