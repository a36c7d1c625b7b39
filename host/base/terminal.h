/* What is known of the terminal that text goes to. */
#ifndef HOST_BASE_TERMINAL_H
#define HOST_BASE_TERMINAL_H

#include <stdbool.h>

#define COLOUR_DIM "\033[2m"
#define COLOUR_OFF "\033[0m"

/* Columns of the terminal at fd; `otherwise` when it is none, or does not say. */
unsigned int terminal_columns(int fd, unsigned int otherwise);

/* Whether fd is a terminal that shows colours, and NO_COLOR (https://no-color.org) is not set. */
bool terminal_colours(int fd);

#endif
