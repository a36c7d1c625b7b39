/* What a trace says about itself, gathered before its samples are read: through the index where
 * there is one, else by reading the file once.  Never prints. */
#pragma once

#include "host/trace/trace_info.h"

/* Fills an info that trace_info_init() made; the caller frees it.  0 or -errno as trace_file_open.
 * Damage is passed over. */
int about_read(struct trace_info *info, const char *path);
