/* Writes a run's archive: the manifest first, then probes and the listed files.
 *
 * The contents of files of a page or more lie on multiples of a page, so that the kernel can map
 * them in place.  Inode numbers, owners and order do not depend on the host, so that equal input
 * gives equal archives.
 */
#pragma once

#include <stddef.h>

#include "host/base/run_failure.h"
#include "host/pack/collect/pack_contents.h"

#define PACK_ARCHIVE_ALIGNMENT 4096u

/* Writes to `fd` from its start.  Returns 0, or -1 with the failure filled. */
int pack_archive_write(const struct pack *pack, const void *manifest, size_t manifest_bytes, int fd,
                       struct run_failure *failure);
