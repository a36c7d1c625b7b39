/* The environment that the program gets. */
#ifndef HOST_PACK_PACK_ENVIRONMENT_H
#define HOST_PACK_PACK_ENVIRONMENT_H

#include <stddef.h>

#include "host/options/options.h"
#include "host/pack/pack_program.h"

struct pack_environment {
    char **settings; /* K=V, each name once */
    size_t count;
};

/* The defaults (docs/hr.1, ENVIRONMENT), what a script's first line says, what --env says.  0, or
 * -1: out of memory.
 */
int pack_environment_make(struct pack_environment *e, const struct options *o,
                          const struct pack_program *program);
void pack_environment_free(struct pack_environment *e);

/* The value of a variable, or NULL. */
const char *pack_environment_get(const struct pack_environment *e, const char *name);

/* Bit N is set when the program is to take standard stream N for a terminal. */
int pack_environment_terminals(const struct options *o);

#endif
