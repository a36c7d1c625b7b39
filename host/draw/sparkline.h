/* Bars of one character each, for distributions and rates on a terminal. */
#pragma once

/* Returns the UTF-8 bar for a height of `share` (0 to 1); a low bar for 0. */
const char *sparkline_bar(double share);

/* Returns the columns of the terminal at standard output, or $COLUMNS, or 80; within 40 to 1000. */
unsigned sparkline_columns(void);
