/* The texts of hr_mark(): each is stored once, and slots carry its number. */
#ifndef GUEST_TRACE_MARKS_H
#define GUEST_TRACE_MARKS_H

#include <stdint.h>

#define MARKS_MAX 1024u /* different texts */
#define MARKS_BYTES_MAX 65536u /* of all of them */

/* The number of a text of 1 .. 255 bytes.  -ENOSPC: too many, counted and reported once.  Thread
 * context, one CPU at a time. */
int64_t marks_number(const char *text, uint32_t bytes);

/* The text of a number that marks_number gave.  Any CPU. */
const char *marks_text(uint64_t number, uint32_t *bytes);

#endif
