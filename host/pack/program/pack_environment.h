/* The environment of the program. */
#pragma once

#include <stddef.h>

#include "host/options/options.h"
#include "host/pack/program/pack_program.h"

#define PACK_ENVIRONMENT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct pack_environment {
    char **settings; /* K=V, each name once */
    size_t count;
};

/* Combines the defaults (docs/hr.1, ENVIRONMENT), the settings of a script's first line, and --env.
 * Returns 0, or -1 if out of memory. */
int pack_environment_make(struct pack_environment *e, const struct options *o,
                          const struct pack_program *program);
void pack_environment_free(struct pack_environment *e);

/* Returns the value of a variable, or NULL. */
const char *pack_environment_get(const struct pack_environment *e, const char *name);

/* Returns a mask: bit N is set if standard stream N should be a terminal for the program. */
int pack_environment_terminals(const struct options *o);
