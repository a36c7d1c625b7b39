/* Collects the files that the program's arguments name. */
#include <errno.h>
#include <string.h>

#include "host/pack/collect/pack_collect.h"
#include "host/pack/list/pack_path.h"

#define ARGUMENT_BYTES_MAX (256ull << 20) /* a larger directory is left out, with a notice */
#define ARGUMENT_FILES_MAX 100000u

/* Directories that the guest provides itself. */
static const char *const own_directories[] = {"/dev", "/proc", "/sys"};

/* Returns 1 if the text names a file or directory that was listed, else 0. */
static int take_path(struct pack_collector *c, const char *text, bool directories)
{
    static const struct pack_tree_rules rules = {
        .bytes_max = ARGUMENT_BYTES_MAX, .files_max = ARGUMENT_FILES_MAX, .follow = true};
    char absolute[PATH_MAX];
    char parent[PATH_MAX];
    struct stat status;

    if (text[0] == 0 || strcmp(text, "-") == 0 || pack_path_absolute(text, NULL, absolute) != 0)
        return 0;
    for (size_t i = 0; i < sizeof own_directories / sizeof own_directories[0]; i++)
        if (pack_path_is_below(absolute, own_directories[i]))
            return 0;
    if (stat(absolute, &status) == 0) {
        if (!S_ISREG(status.st_mode) && !(directories && S_ISDIR(status.st_mode)))
            return 0;
        if (pack_collect_path(c, absolute, false, &rules, "an argument names it") != 0 ||
            (S_ISREG(status.st_mode) && pack_collect_siblings(c, absolute) != 0))
            return -1;
        return 1;
    }
    /* A file that the program will create needs its directory. */
    snprintf(parent, sizeof parent, "%s", absolute);
    pack_path_parent(parent);
    if (strchr(text, '/') == NULL || stat(parent, &status) != 0 || !S_ISDIR(status.st_mode))
        return 0;
    if (pack_list_add_path(&c->pack->list, parent, NULL) == -ENOMEM)
        return run_fail(c->failure, "out of memory; end other programs");
    return 0;
}

/* Handles FILE, --option=FILE, name=FILE, -xFILE and @FILE. */
static int take_argument(struct pack_collector *c, const char *text)
{
    const char *equals = strchr(text, '=');
    int result = take_path(c, text, true);

    if (result == 0 && equals != NULL)
        result = take_path(c, equals + 1, true);
    if (result == 0 && text[0] == '-' && text[1] != '-' && text[1] != 0)
        result = take_path(c, text + 2, false);
    if (result == 0 && text[0] == '@')
        result = take_path(c, text + 1, false);
    return result < 0 ? -1 : 0;
}

int pack_collect_arguments(struct pack_collector *c)
{
    const struct pack_program *program = &c->pack->program;

    for (size_t i = 1; i < program->argument_count; i++)
        if (take_argument(c, program->arguments[i]) != 0)
            return -1;
    for (size_t i = 0; i < program->script_count; i++)
        if (pack_collect_siblings(c, program->scripts[i]) != 0)
            return -1;
    return 0;
}
