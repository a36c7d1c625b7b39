/* The machines of runs that are not for this one, as options say.  Never prints. */
#pragma once

#include <argp.h>
#include <stdbool.h>

struct remote_where { /* all NULL: here; owned */
    char *hosts; /* to be reached by ssh: a list */
    char *slurm; /* options for sbatch */
    char *ssh; /* in place of SSH_DEFAULT */
    char *hr; /* there */
};

void remote_where_free(struct remote_where *where);

/* Returns whether runs are for other machines. */
bool remote_where_is(const struct remote_where *where);

/* A child for a command's argp: --hosts, --slurm, --ssh and --hr, shown as group 1.  Its input is a
 * struct remote_where: the command sets state->child_inputs at ARGP_KEY_INIT. */
extern const struct argp remote_where_argp;
