/* Tells users how to run what they gave instead of a program. */
#include "host/pack/program/pack_source.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/text.h"

static const struct language {
    const char *end; /* of the name */
    const char *name;
    const char *compile; /* "COMPILE -o PROGRAM FILE"; NULL: `interpreter` runs it */
    const char *interpreter;
} languages[] = {
    {".c", "C", "gcc -O2 -g", NULL},
    {".cc", "C++", "g++ -O2 -g", NULL},
    {".cpp", "C++", "g++ -O2 -g", NULL},
    {".cxx", "C++", "g++ -O2 -g", NULL},
    {".f90", "Fortran", "gfortran -O2 -g", NULL},
    {".go", "Go", "go build", NULL},
    {".rs", "Rust", "rustc -O -g", NULL},
    {".js", "JavaScript", NULL, "node"},
    {".lua", "Lua", NULL, "lua"},
    {".pl", "Perl", NULL, "perl"},
    {".py", "Python", NULL, "python3"},
    {".rb", "Ruby", NULL, "ruby"},
    {".sh", "shell", NULL, "sh"},
};

static const struct language *find(const char *path)
{
    const char *end = strrchr(text_base_name(path), '.');

    for (size_t i = 0; end != NULL && i < sizeof languages / sizeof languages[0]; i++)
        if (strcmp(end, languages[i].end) == 0)
            return &languages[i];
    return NULL;
}

static bool is_file(const char *path, int access_mode)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, access_mode) == 0;
}

/* `place`: the path of the file. */
static void explain_source(const struct language *l, const char *place, int exit_status,
                           struct run_failure *failure)
{
    const char *directory = strchr(place, '/') != NULL ? "" : "./";
    char program[512];

    snprintf(program, sizeof program, "%s%.*s", directory, (int)(strlen(place) - strlen(l->end)),
             place);
    if (l->compile == NULL)
        run_fail_as(failure, exit_status, "%s is %s source; run it as: hr run %s %s", place,
                    l->name, l->interpreter, place);
    else if (is_file(program, X_OK))
        run_fail_as(failure, exit_status,
                    "%s is %s source; what it was compiled to is here: hr run %s", place, l->name,
                    program);
    else
        run_fail_as(failure, exit_status, "%s is %s source; compile it first, such as: %s -o %s %s",
                    place, l->name, l->compile, program, place);
}

bool pack_source_explain(const char *path, int exit_status, struct run_failure *failure)
{
    const struct language *l = find(path);

    if (l != NULL && is_file(path, F_OK))
        explain_source(l, path, exit_status, failure);
    else if (strchr(path, '/') == NULL && is_file(path, X_OK))
        run_fail_as(failure, exit_status, "%s: not found in PATH, but it is here: hr run ./%s",
                    path, path);
    else
        return false;
    return true;
}
