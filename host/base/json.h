/* JSON values for jansson, from data of a trace. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Returns an integer, or a real above INT64_MAX.  NULL if out of memory. */
json_t *json_number(uint64_t value);

/* Returns a string; invalid UTF-8 and control characters are escaped.  NULL if out of memory. */
json_t *json_text(const char *text);

/* Prints an object and a newline, and gives the object back.  Returns 0 or -ENOMEM, for NULL, too.
 */
int json_print(FILE *out, json_t *object);
