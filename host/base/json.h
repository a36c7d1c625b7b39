/* JSON values for jansson, from data of a trace. */
#pragma once

#include <jansson.h>
#include <stdint.h>

/* Returns an integer, or a real above INT64_MAX.  NULL if out of memory. */
json_t *json_number(uint64_t value);

/* Returns a string; invalid UTF-8 and control characters are escaped.  NULL if out of memory. */
json_t *json_text(const char *text);
