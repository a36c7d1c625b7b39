/* Text for people: escaping of untrusted strings, and quantities with units.
 *
 * Every function but the last writes a NUL-terminated string into the caller's buffer and returns
 * the buffer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_QUANTITY_BYTES 32 /* room that suffices for each quantity below */

/* Copies a string as valid UTF-8 without control characters: these, and bytes that are not UTF-8,
 * become \xNN.  Cuts a text that does not fit and ends it in "..."; room is at least 8. */
char *text_escape(char *out, size_t room, const char *text);

/* Escapes a text in half of the room, and puts it between backticks as code of Markdown: what would
 * end that is replaced, and in a cell of a table a bar as well. */
char *text_code(char *out, size_t room, const char *text, bool cell);

/* "950 ns", "12.35 us", "1.204 ms", "3.100 s" */
char *text_time(char *out, double ns);

/* "64 bytes", "1.50 KB", "2.31 MB" in powers of 1000 */
char *text_bytes(char *out, uint64_t bytes);

/* "1,234,567" */
char *text_count(char *out, uint64_t count);

/* The part of a path that follows its last slash, or all of it. */
const char *text_base_name(const char *path);
