/* Names that the program looked for in vain, for --missing. */
#ifndef GUEST_FS_FS_MISSING_H
#define GUEST_FS_FS_MISSING_H

#include "guest/fs/fs.h"

#define FS_MISSING_MAX 4096u /* names */
#define FS_MISSING_RECENT 64u
#define FS_MISSING_RECENT_BYTES 256u /* longer ones are not among the recent */

struct fs_kept_buffer;

void fs_missing_start(void); /* from now on they are noted */

/* `path` does not exist, relative to `base`. */
void fs_missing_note(const struct fs_entry *base, const char *path);

/* The Nth of the last names that were looked for in vain, whether or not --missing wants them all,
 * oldest first; NULL: there are no more.
 */
const char *fs_missing_recent(uint32_t n);

/* Adds a message for each that still does not exist: the number of those that were too many. */
uint64_t fs_missing_add(struct fs_kept_buffer *buffer);

/* Service context, when the program runs no more: logs files that were written and dropped, and
 * names that were not found. */
void fs_missing_log(void);

#endif
