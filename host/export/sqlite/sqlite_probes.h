/* The tables of `hr export sqlite` that need a walk in the order of time: what was probed,
 * invocations, waits, requests. */
#pragma once

#include "host/export/common/export.h"
#include "host/export/sqlite/sqlite_schema.h"

/* Fills them, if there are probes or `any` requests or waits.  Returns 0 or -errno; a failure of
 * the database is noted there. */
int sqlite_probes_fill(struct export *e, struct sqlite_schema *schema, bool any);
