/* JSON values for jansson, from what a trace says. */
#ifndef HOST_BASE_JSON_H
#define HOST_BASE_JSON_H

#include <jansson.h>
#include <stdint.h>

/* An integer, or a real above INT64_MAX.  NULL without memory. */
json_t *json_number(uint64_t value);

/* A string; invalid UTF-8 and control characters are escaped first.  NULL without memory. */
json_t *json_text(const char *text);

#endif
