/* A table for people that fits the terminal: columns are left out and texts cut, numbers never. */
#ifndef HOST_DRAW_COLUMNS_H
#define HOST_DRAW_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define COLUMNS_MAX 12u
#define COLUMNS_CELL_BYTES 4096u

struct column {
    char title[72];
    unsigned int width; /* of a text: at least, where there is room */
    bool number; /* to the right, and never cut */
    unsigned int rank; /* of what is left out in a narrow terminal: the highest first; 0: never */
    bool shown;
    bool function; /* a name that goes without parameters and template arguments before it is cut */
};

struct columns {
    struct column all[COLUMNS_MAX];
    unsigned int count;
    char cells[COLUMNS_MAX][COLUMNS_CELL_BYTES]; /* of the line to print; safe for a terminal */
    bool fitted; /* to a terminal: texts are cut */
    bool full_names; /* but not names of functions */
    const char *colour; /* of the first cell of the line; NULL: none */
    bool dim; /* the whole line, instead */
};

/* Adds a column; its cell is that number. */
unsigned int columns_add(struct columns *columns, const char *title, unsigned int width,
                         bool number, unsigned int rank);

/* Decides what is shown on a terminal of that width, PAGER_NO_TERMINAL: everything. */
void columns_fit(struct columns *columns, unsigned int terminal);

/* Prints the titles as a comment; prints the cells. */
void columns_print_titles(FILE *out, const struct columns *columns);
void columns_print(FILE *out, const struct columns *columns);

/* The columns that a text takes on a terminal; cuts it to so many, with "..." at its end. */
unsigned int columns_width(const char *text);
void columns_cut(char *text, unsigned int width);

/* The same for the name of a function: its parameters go first, then template arguments. */
void columns_cut_function(char *name, unsigned int width);

/* Prints a comment of many words, in lines that fit. */
void columns_note(FILE *out, unsigned int terminal, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
