/* Writes an image to a device. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/base/run_failure.h"

/* Copies the used parts of the sparse image `from`, `bytes` long, to the start of `to`, and reads
 * them back from the device: everything from the start to the last data before the second partition
 * table, and that table's megabyte.  `path` names the device; `progress` shows a bar on a terminal.
 * Stores in *written how much was copied.  Returns 0, or -1 with the failure filled. */
int usb_write(int from, int to, uint64_t bytes, const char *path, bool progress, uint64_t *written,
              struct run_failure *failure);
