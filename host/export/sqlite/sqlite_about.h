/* The tables of `hr export sqlite` about the run as a whole: facts, events, maps, processes,
 * regions.
 */
#pragma once

#include "host/export/sqlite/sqlite_schema.h"

/* Fills them, after they were made. */
void sqlite_put_about(const struct sqlite_schema *schema);

/* Adds a row to the table run. */
void sqlite_put_number(struct database *db, const char *key, uint64_t value);

/* Writes a build-id in hexadecimal: two characters a byte. */
void sqlite_build_id(size_t bytes, const uint8_t *build_id, char *text);
