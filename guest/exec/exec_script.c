/* The first line of a script, as Linux takes it apart. */
#include "guest/exec/exec_script.h"

#include <errno.h>
#include <stdbool.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Returns the first byte of at..end-1 that is not blank, or `end`. */
static char *skip_blanks(char *at, char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Returns the first byte of at..end-1 that is blank or NUL, or `end`. */
static char *find_blank(char *at, char *end)
{
    while (at < end && !is_blank(*at) && *at)
        at++;
    return at;
}

/* Returns the line's end, or NULL if it may be cut within the interpreter's path. */
static char *find_end(char *at, char *end)
{
    char *start;

    for (char *c = at; c < end; c++)
        if (*c == '\n')
            return c;
    start = skip_blanks(at, end);
    if (start == end || find_blank(start, end) == end)
        return NULL;
    return end - 1;
}

int exec_script_parse(struct exec_script *script)
{
    char *name = script->line + 2, *end, *after;

    if (script->line[0] != '#' || script->line[1] != '!')
        return 1;
    end = find_end(name, script->line + sizeof script->line);
    if (end == NULL)
        return -ENOEXEC;
    while (end > name && is_blank(end[-1]))
        end--;
    name = skip_blanks(name, end);
    if (name == end)
        return -ENOEXEC;
    after = find_blank(name, end);
    script->interpreter = name;
    script->argument = NULL;
    *end = '\0';
    if (after < end && *after)
        script->argument = skip_blanks(after, end);
    *after = '\0';
    return 0;
}
