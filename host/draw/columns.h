/* A table for people that fits the terminal: columns are left out and texts are cut, but never
 * numbers. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define COLUMNS_MAX 20u
#define COLUMNS_CELL_BYTES 4096u

struct column {
    char title[72];
    unsigned int width; /* least width of a text, if there is room */
    bool number; /* aligned to the right and never cut */
    unsigned int rank; /* order of leaving out in a narrow terminal: highest first; 0: never */
    bool shown;
    bool function; /* a function's name: parameters and template arguments go before it is cut */
};

struct columns {
    struct column all[COLUMNS_MAX];
    unsigned int count;
    char cells[COLUMNS_MAX][COLUMNS_CELL_BYTES]; /* of the line to print, safe for a terminal */
    bool fitted; /* fitted to a terminal: texts are cut */
    bool full_names; /* names of functions are not cut */
    const char *colour; /* colour of the line's first cell; NULL: none */
    bool dim; /* dims the whole line instead */
};

/* Adds a column and returns its number, which is that of its cell. */
unsigned int columns_add(struct columns *columns, const char *title, unsigned int width,
                         bool number, unsigned int rank);

/* Chooses what is shown on a terminal of that width; PAGER_NO_TERMINAL: everything. */
void columns_fit(struct columns *columns, unsigned int terminal);

/* Print the titles as a comment, and the cells of a line. */
void columns_print_titles(FILE *out, const struct columns *columns);
void columns_print(FILE *out, const struct columns *columns);

/* columns_width returns the columns that a text takes on a terminal; columns_cut cuts it to `width`
 * of them, with "..." at its end. */
unsigned int columns_width(const char *text);
void columns_cut(char *text, unsigned int width);

/* As columns_cut for a function's name: drops its parameters first, then template arguments. */
void columns_cut_function(char *name, unsigned int width);

/* Prints a long comment in lines that fit. */
void columns_note(FILE *out, unsigned int terminal, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
