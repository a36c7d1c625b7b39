/* The texts of hr_mark(): each is stored once, and slots carry its number. */
#pragma once

#include <stdint.h>

#define MARKS_MAX 1024u /* different texts */
#define MARKS_BYTES_MAX 65536u /* of all of them */

/* Returns the number of a text of 1 .. 255 bytes, or -ENOSPC if there are too many, which is
 * counted and reported once.  Context: thread, one CPU at a time. */
int64_t marks_number(const char *text, uint32_t bytes);

/* Returns the text of a number that marks_number returned.  Context: any CPU. */
const char *marks_text(uint64_t number, uint32_t *bytes);
