/* Properties of the terminal that text goes to. */
#pragma once

#include <stdbool.h>

#define COLOUR_DIM "\033[2m"
#define COLOUR_OFF "\033[0m"

/* Returns the columns of the terminal at fd, or `otherwise` if it is not a terminal or does not
 * know. */
unsigned int terminal_columns(int fd, unsigned int otherwise);

/* Likewise its lines. */
unsigned int terminal_lines(int fd, unsigned int otherwise);

/* Returns whether fd is a terminal with colours and NO_COLOR (https://no-color.org) is not set. */
bool terminal_colours(int fd);
