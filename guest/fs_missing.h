/* Names that the program looked for in vain, for --missing. */
#ifndef GUEST_FS_MISSING_H
#define GUEST_FS_MISSING_H

#include "guest/fs.h"

#define FS_MISSING_MAX 4096u /* names */

struct fs_kept_buffer;

void fs_missing_start(void); /* from now on they are noted */

/* `path` does not exist, relative to `base`. */
void fs_missing_note(const struct fs_entry *base, const char *path);

/* Adds a message for each that still does not exist: the number of those that were too many. */
uint64_t fs_missing_add(struct fs_kept_buffer *buffer);

#endif
