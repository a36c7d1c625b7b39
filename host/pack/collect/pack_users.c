/* Packs /etc/passwd and /etc/group: the host's, after the program's own user. */
#include <stdio.h>
#include <string.h>

#include "host/pack/collect/pack_collect.h"

#define NAME                                                 \
    "user" /* of user and group 1000, which programs run as: \
              guest/syscall/process/syscall_identity.c */

/* A file that the user gave is not changed. */
static int add(struct pack_collector *c, const char *path, const char *line)
{
    if (pack_list_find(&c->pack->list, path) != NULL)
        return 0;
    if (pack_collect_path(c, path, false, NULL, "programs look users up") != 0)
        return -1;
    if (pack_list_put_before(&c->pack->list, path, line) != 0)
        return run_fail(c->failure, "out of memory; end other programs");
    return 0;
}

int pack_collect_users(struct pack_collector *c)
{
    const char *home = pack_environment_get(&c->pack->environment, "HOME");
    char line[PATH_MAX + 64];

    if (home == NULL || home[0] != '/' || strlen(home) >= PATH_MAX || strpbrk(home, ":\n") != NULL)
        home = "/";
    snprintf(line, sizeof line, NAME ":x:1000:1000::%s:/bin/sh\n", home);
    return add(c, "/etc/passwd", line) != 0 ? -1 : add(c, "/etc/group", NAME ":x:1000:\n");
}
