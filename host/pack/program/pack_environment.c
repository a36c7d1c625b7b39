/* Makes the program's environment. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/pack/list/pack_path.h"
#include "host/pack/program/pack_environment.h"

int pack_environment_terminals(const struct options *o)
{
    return o->unattended ? 0 : isatty(0) | isatty(1) << 1 | isatty(2) << 2;
}

/* Returns the position of a variable; e->count: it is not set. */
static size_t position(const struct pack_environment *e, const char *name, size_t bytes)
{
    size_t i = 0;

    while (i < e->count &&
           (strncmp(e->settings[i], name, bytes) != 0 || e->settings[i][bytes] != '='))
        i++;
    return i;
}

const char *pack_environment_get(const struct pack_environment *e, const char *name)
{
    size_t bytes = strlen(name);
    size_t i = position(e, name, bytes);

    return i < e->count ? e->settings[i] + bytes + 1 : NULL;
}

/* A later setting of a name replaces an earlier one, and comes last. */
static int set(struct pack_environment *e, const char *setting)
{
    size_t i = position(e, setting, strcspn(setting, "="));
    char *copy = strdup(setting);
    char **grown;

    if (copy == NULL)
        return -1;
    if (i < e->count) {
        free(e->settings[i]);
        memmove(e->settings + i, e->settings + i + 1, (--e->count - i) * sizeof *e->settings);
    }
    grown = realloc(e->settings, (e->count + 1) * sizeof *grown);
    if (grown == NULL) {
        free(copy);
        return -1;
    }
    e->settings = grown;
    grown[e->count++] = copy;
    return 0;
}

static bool is_default(const char *directory)
{
    size_t bytes = strlen(directory);

    for (const char *at = PACK_ENVIRONMENT_PATH; at != NULL; at = strchr(at, ':')) {
        at += *at == ':';
        if (strncmp(at, directory, bytes) == 0 && (at[bytes] == 0 || at[bytes] == ':'))
            return true;
    }
    return false;
}

/* Puts the directory of a program that was found in the user's PATH before the guest's: programs
 * look for their own files where a program of their name is. */
static int set_path(struct pack_environment *e, const struct pack_program *program)
{
    char directory[PATH_MAX];
    char path[PATH_MAX + sizeof PACK_ENVIRONMENT_PATH + 8];

    snprintf(directory, sizeof directory, "%s", program->found);
    pack_path_parent(directory);
    snprintf(path, sizeof path, "PATH=%s", PACK_ENVIRONMENT_PATH);
    if (program->searched && !is_default(directory))
        snprintf(path, sizeof path, "PATH=%s:%s", directory, PACK_ENVIRONMENT_PATH);
    return set(e, path);
}

int pack_environment_make(struct pack_environment *e, const struct options *o,
                          const struct pack_program *program)
{
    static const char *const defaults[] = {"HOME=/root", "LANG=C.UTF-8", "TZ=UTC0"};
    const char *kind = getenv("TERM");
    char terminal[128];
    int result;

    *e = (struct pack_environment){0};
    result = set_path(e, program);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0] && result == 0; i++)
        result = set(e, defaults[i]);
    if (pack_environment_terminals(o) != 0 && kind != NULL && result == 0) {
        snprintf(terminal, sizeof terminal, "TERM=%s", kind);
        result = set(e, terminal);
    }
    for (size_t i = 0; i < o->environment.count && result == 0; i++)
        result = set(e, o->environment.items[i]);
    for (size_t i = 0; i < program->setting_count && result == 0; i++)
        result = set(e, program->settings[i]);
    return result;
}

void pack_environment_free(struct pack_environment *e)
{
    for (size_t i = 0; i < e->count; i++)
        free(e->settings[i]);
    free(e->settings);
    *e = (struct pack_environment){0};
}
