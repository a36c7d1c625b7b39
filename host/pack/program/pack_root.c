/* Finds what is in a tree that takes the place of /. */
#include "host/pack/program/pack_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/pack/program/pack_environment.h"

const char *pack_root_of(const struct options *o)
{
    return o->serve ? o->root : NULL;
}

/* The kernel follows the links; the descriptor's own link names what it found. */
static int resolve(int tree, const char *path, char place[PATH_MAX])
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                                 .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, tree, path, &how, sizeof how);
    char link[64];
    ssize_t bytes;
    int error;

    if (fd < 0)
        return -errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    bytes = readlink(link, place, PATH_MAX);
    error = bytes < 0 ? -errno : bytes == PATH_MAX ? -ENAMETOOLONG : 0;
    close(fd);
    if (error == 0)
        place[bytes] = 0;
    return error;
}

int pack_root_place(const char *root, const char *path, char place[PATH_MAX])
{
    int tree, error;

    if (root == NULL)
        return (size_t)snprintf(place, PATH_MAX, "%s", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
    tree = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (tree < 0)
        return -errno;
    error = resolve(tree, path, place);
    close(tree);
    return error;
}

void pack_root_name(const char *root, const char *place, char name[PATH_MAX])
{
    char tree[PATH_MAX];
    size_t bytes = root != NULL && realpath(root, tree) != NULL ? strlen(tree) : 0;

    if (bytes > 1 && strncmp(place, tree, bytes) == 0)
        place += bytes;
    snprintf(name, PATH_MAX, "%s", place[0] != 0 ? place : "/");
}

int pack_root_search(const char *root, const char *name, char found[PATH_MAX],
                     struct run_failure *failure)
{
    char place[PATH_MAX];
    struct stat status;

    if (stat(root, &status) != 0 || !S_ISDIR(status.st_mode))
        return run_fail(failure, "--root %s: not a directory", root);
    for (const char *at = PACK_ENVIRONMENT_PATH; at != NULL; at = strchr(at, ':')) {
        at += *at == ':';
        if (snprintf(found, PATH_MAX, "%.*s/%s", (int)strcspn(at, ":"), at, name) < PATH_MAX &&
            pack_root_place(root, found, place) == 0 && stat(place, &status) == 0 &&
            S_ISREG(status.st_mode) && access(place, X_OK) == 0)
            return 0;
    }
    return run_fail_as(failure, RUN_EXIT_NOT_FOUND, "%s: not found below --root %s in %s", name,
                       root, PACK_ENVIRONMENT_PATH);
}
