/* Lines of Python's code objects: the location table of CPython 3.11 and later.  Hostile input. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the line of the instruction at `offset` (bytes from the first one); 0: it has none, or
 * the table does not say. */
uint32_t symbols_python_line(const uint8_t *table, size_t bytes, uint32_t first_line,
                             uint32_t offset);
