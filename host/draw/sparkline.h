/* Bars of one character each, for distributions and rates on a terminal. */
#ifndef HOST_DRAW_SPARKLINE_H
#define HOST_DRAW_SPARKLINE_H

/* UTF-8 for a bar that is `share` (0 to 1) of a line high: a low one for 0. */
const char *sparkline_bar(double share);

/* The columns of the terminal at standard output, or those of $COLUMNS, or 80; 40 to 1000. */
unsigned sparkline_columns(void);

#endif
