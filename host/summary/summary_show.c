/* Wraps the lines of a summary at words, below their own column, and colours them. */
#include "host/summary/summary_show.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/terminal.h"
#include "host/draw/columns.h"

#define COLOUR_RED "\033[31m"
#define NAME_COLUMN 22u /* of a row: SUMMARY_ROW */
#define WORDS_COLUMN 42u
#define WORDS_LEAST 24u /* columns for words; if fewer remain, they begin further left */
#define NARROW_INDENT 4u

/* Losses and damage are red, and values that are not measured are dim.  A row's words and the
 * program's arguments do not begin a line. */
static const char *colour_of(const char *line, size_t bytes)
{
    static const char *const bad[] = {" Trace: incomplete", " Warning:", " Fault:", " Run: "};
    static const char *const lost[] = {"lost ", "samples missing ", "records lost "};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (strncmp(line, bad[i], strlen(bad[i])) == 0)
            return COLOUR_RED;
    if (bytes <= WORDS_COLUMN || strncmp(line, "  ", 2) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        if (strncmp(line + NAME_COLUMN, lost[i], strlen(lost[i])) == 0)
            return strncmp(line + NAME_COLUMN - 4, " 0  ", 4) != 0 ? COLOUR_RED : NULL;
    return strncmp(line + WORDS_COLUMN, "stub:", 5) == 0 ? COLOUR_DIM : NULL;
}

static unsigned int indent_of(const char *line, size_t bytes, unsigned int columns)
{
    if (bytes > WORDS_COLUMN && strncmp(line, "  ", 2) == 0 &&
        columns >= WORDS_COLUMN + WORDS_LEAST)
        return WORDS_COLUMN;
    return NARROW_INDENT;
}

/* Prints the words of one line, and ends it. */
static void put_line(FILE *out, char *line, unsigned int columns)
{
    unsigned int indent = indent_of(line, strlen(line), columns);
    size_t spaces = strspn(line, " ");
    unsigned int at = (unsigned int)spaces;
    char *word = line + spaces;

    fprintf(out, "%*s", (int)spaces, "");
    while (*word != 0) {
        size_t bytes = strcspn(word, " "), gap = strspn(word + bytes, " ");
        char behind = word[bytes];
        unsigned int width;

        word[bytes] = 0;
        width = columns_width(word);
        if (at + width > columns && at > indent) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        fputs(word, out);
        at += width;
        word[bytes] = behind;
        if (word[bytes + gap] != 0 && at + gap < columns) {
            fprintf(out, "%*s", (int)gap, "");
            at += (unsigned int)gap;
        } else {
            at = columns; /* the next word begins a line */
        }
        word += bytes + gap;
    }
}

/* Prints a summary's lines on a terminal of `columns` columns. */
static void fit(FILE *out, const char *text, unsigned int columns, bool colours)
{
    while (*text != 0) {
        size_t bytes = strcspn(text, "\n");
        char *line = strndup(text, bytes);
        const char *colour = line != NULL && colours ? colour_of(line, bytes) : NULL;

        if (line != NULL) {
            fputs(colour != NULL ? colour : "", out);
            put_line(out, line, columns);
            fputs(colour != NULL ? COLOUR_OFF : "", out);
        }
        free(line);
        fputc('\n', out);
        text += bytes + (text[bytes] == '\n');
    }
}

void summary_show(FILE *out, const struct summary *summary)
{
    summary_show_for(out, summary, fileno(out));
}

void summary_show_for(FILE *out, const struct summary *summary, int terminal)
{
    unsigned int columns = terminal_columns(terminal, 0);
    char *text = NULL;
    size_t bytes;
    FILE *memory = columns != 0 ? open_memstream(&text, &bytes) : NULL;

    if (memory == NULL) {
        summary_print(out, summary);
        return;
    }
    summary_print(memory, summary);
    if (fclose(memory) == 0 && text != NULL)
        fit(out, text, columns, terminal_colours(terminal));
    free(text);
}
