/* Collects what the options name: --file and --root. */
#include <string.h>

#include "host/pack/collect/pack_collect.h"
#include "host/pack/list/pack_path.h"
#include "host/pack/program/pack_root.h"

static int add_file(struct pack_collector *c, const char *path)
{
    struct pack_list *list = &c->pack->list;
    char absolute[PATH_MAX];
    char name[PATH_MAX];
    char bad[PATH_MAX] = "";
    struct stat status;
    int result = pack_path_absolute(path, NULL, absolute);

    if (result == 0)
        result = pack_list_begin(list, absolute, false, "--file");
    if (result == 0)
        result = pack_list_add_path(list, absolute, name);
    if (result == 0 && stat(absolute, &status) == 0 && S_ISDIR(status.st_mode))
        result = pack_list_add_tree(list, absolute, name, NULL, bad);
    if (result == 0)
        return 0;
    return run_fail(c->failure, "--file %s: %s%s%s", path, bad, bad[0] != 0 ? ": " : "",
                    strerror(-result));
}

static int add_root(struct pack_collector *c, const char *root)
{
    struct pack_list *list = &c->pack->list;
    char bad[PATH_MAX] = "";
    struct stat status;
    int result;

    if (stat(root, &status) != 0 || !S_ISDIR(status.st_mode))
        return run_fail(c->failure, "--root %s: not a directory", root);
    result = pack_list_begin(list, root, false, "--root");
    if (result == 0)
        result = pack_list_add_tree(list, root, "", NULL, bad);
    if (result == 0)
        return 0;
    return run_fail(c->failure, "--root %s: %s: %s", root, bad, strerror(-result));
}

int pack_collect_given(struct pack_collector *c)
{
    for (size_t i = 0; i < c->options->files.count; i++)
        if (add_file(c, c->options->files.items[i]) != 0)
            return -1;
    if (c->options->root == NULL || pack_root_of(c->options) != NULL)
        return 0;
    return add_root(c, c->options->root);
}
