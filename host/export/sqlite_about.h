/* What a trace says about itself, as rows of the tables run, events, maps and regions. */
#pragma once

#include "host/export/sqlite_schema.h"

/* After the tables were made. */
void sqlite_about_put(const struct sqlite_schema *schema);
void sqlite_about_number(struct database *db, const char *key, uint64_t value);
