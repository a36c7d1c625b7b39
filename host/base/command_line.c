/* Parses with argp.  getopt's message about an unknown option passes through the protected stderr,
 * which asks here for the nearest options. */
#include "host/base/command_line.h"

#include <stdio.h>

#include "host/base/error.h"
#include "host/base/nearest.h"

static const struct argp *parsed;

static void offer(struct nearest *nearest, const struct argp *argp)
{
    char option[NEAREST_NAME_BYTES];

    for (const struct argp_option *o = argp->options;
         o != NULL && (o->name != NULL || o->key || o->doc != NULL); o++)
        if (o->name != NULL && !(o->flags & (OPTION_DOC | OPTION_HIDDEN))) {
            snprintf(option, sizeof option, "--%s", o->name);
            nearest_offer_as(nearest, o->name, option);
        }
    for (const struct argp_child *c = argp->children; c != NULL && c->argp != NULL; c++)
        offer(nearest, c->argp);
}

static void find_near(const char *option, char *out, size_t room)
{
    struct nearest nearest;

    nearest_init(&nearest, option);
    offer(&nearest, parsed);
    nearest_list(&nearest, out, room);
}

int command_line_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
                       void *input)
{
    int result;

    parsed = argp;
    error_find_options(find_near);
    result = argp_parse(argp, argc, argv, flags, NULL, input);
    error_find_options(NULL); /* another program's message may say the same */
    return result;
}
