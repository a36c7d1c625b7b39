/* Names that the program looked for but did not find, for --missing. */
#pragma once

#include "guest/fs/fs.h"

#define FS_MISSING_MAX 4096u /* names */
#define FS_MISSING_RECENT 64u
#define FS_MISSING_RECENT_BYTES 256u /* longer names are not among the recent ones */

struct fs_kept_buffer;

void fs_missing_start(void); /* notes names from now on */

/* Notes that `path`, relative to `base`, does not exist. */
void fs_missing_note(const struct fs_entry *base, const char *path);

/* Adds a message for each noted name that still does not exist.  Returns how many lookups were not
 * noted for lack of room. */
uint64_t fs_missing_add(struct fs_kept_buffer *buffer);

/* Logs files that were written and dropped, and names that were not found.  Context: service, after
 * the program has ended. */
void fs_missing_log(void);
