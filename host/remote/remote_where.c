/* Options that name other machines. */
#include "host/remote/remote_where.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_HOSTS = 0x2000, KEY_SLURM, KEY_SSH, KEY_HR };

void remote_where_free(struct remote_where *where)
{
    free(where->hosts);
    free(where->slurm);
    free(where->ssh);
    free(where->hr);
    *where = (struct remote_where){0};
}

bool remote_where_is(const struct remote_where *where)
{
    return where->hosts != NULL || where->slurm != NULL;
}

static error_t take(char **field, const char *argument)
{
    free(*field);
    *field = strdup(argument != NULL ? argument : "");
    return *field != NULL ? 0 : ENOMEM;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct remote_where *where = state->input;

    switch (key) {
    case KEY_HOSTS:
        return take(&where->hosts, argument);
    case KEY_SLURM:
        return take(&where->slurm, argument);
    case KEY_SSH:
        return take(&where->ssh, argument);
    case KEY_HR:
        return take(&where->hr, argument);
    case ARGP_KEY_END:
        if (where->hosts != NULL && where->slurm != NULL)
            argp_error(state, "--hosts and --slurm: choose one of them");
        if (where->hr != NULL && strchr(where->hr, '\'') != NULL)
            argp_error(state, "--hr: a path with a quotation mark");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option table[] = {
    {0, 0, 0, 0, "On other machines, to which the program goes with its files:", 1},
    {"hosts", KEY_HOSTS, "LIST", 0, "perform the runs on these machines, by ssh", 1},
    {"slurm", KEY_SLURM, "OPTIONS", OPTION_ARG_OPTIONAL,
     "perform the runs as job arrays of Slurm; OPTIONS are for sbatch", 1},
    {"ssh", KEY_SSH, "COMMAND", 0, "with --hosts: in place of ssh -o BatchMode=yes", 1},
    {"hr", KEY_HR, "PATH", 0,
     "hr there (default: with --hosts hr, with --slurm the path of this one)", 1},
    {0},
};

const struct argp remote_where_argp = {.options = table, .parser = parse};
