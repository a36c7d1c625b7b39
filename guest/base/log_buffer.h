/* The log's buffer, between the writers of lines and the code that sends them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Gives the buffered bytes to `sink`, oldest first, and empties the buffer.  Service context. */
void log_buffer_take(void (*sink)(const char *bytes, size_t count));
bool log_buffer_empty(void);
