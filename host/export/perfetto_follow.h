/* What `hr export perfetto` shows of probes, waits and requests. */
#pragma once

#include "host/export/perfetto_packets.h"
#include "host/follow/follow_requests.h"

/* Walks over the trace once more, unless it has none of these.  Returns 0 or -errno. */
int perfetto_follow(struct perfetto_packets *packets, struct follow_requests *requests);
