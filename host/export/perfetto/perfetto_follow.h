/* What `hr export perfetto` shows of probes, waits and requests. */
#pragma once

#include "host/export/perfetto/perfetto_packets.h"

/* Walks over the trace once more if it has probes or `any` waits or requests.  Returns 0 or -errno.
 */
int perfetto_follow(struct perfetto_packets *packets, bool any);
