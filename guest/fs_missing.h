/* Names that the program looked for in vain, for --missing. */
#ifndef GUEST_FS_MISSING_H
#define GUEST_FS_MISSING_H

#include "guest/fs.h"

/* `path` does not exist, relative to `base`. */
void fs_missing_note(const struct fs_entry *base, const char *path);

#endif
