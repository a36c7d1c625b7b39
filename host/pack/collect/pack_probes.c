/* Gives probes their objects: the program, its libraries, and what else may run in the guest. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/pack/collect/pack_collect.h"
#include "host/pack/libraries/pack_object.h"
#include "host/pack/list/pack_path.h"
#include "host/pack/program/pack_root.h"
#include "host/probe/probe_object.h"

struct objects {
    struct pack_collector *collector;
    struct probe_object *all; /* owned, with its texts */
    size_t count;
};

static int out_of_memory(struct pack_collector *c)
{
    return run_fail(c->failure, "out of memory; end other programs");
}

/* Stores where the guest's `path` leads, for the guest and here.  Returns 0; -EACCES: the guest has
 * no such file, because it only has what was packed; other -errno. */
static int locate(const struct pack_collector *c, const char *path, char real[PATH_MAX],
                  char place[PATH_MAX])
{
    const struct pack_entry *entry = pack_list_find(&c->pack->list, path);
    const char *root = c->pack->program.root;
    char linked[PATH_MAX];
    int error;

    if (entry != NULL && entry->source != NULL) {
        snprintf(real, PATH_MAX, "/%s", entry->name);
        snprintf(place, PATH_MAX, "%s", entry->source);
        return 0;
    }
    error = pack_root_place(root, path, linked);
    if (error == 0 && realpath(linked, place) == NULL)
        error = -errno;
    if (error == 0 && !c->options->serve)
        error = -EACCES;
    if (error == 0)
        pack_root_name(root, place, real);
    return error;
}

/* Adds the object that `path` leads to, if there is one and it is not there yet. */
static int add(struct objects *o, const char *path)
{
    char real[PATH_MAX], place[PATH_MAX];
    struct probe_object *added;

    if (locate(o->collector, path, real, place) != 0)
        return -ENOENT;
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->all[i].path, real) == 0)
            return 0;
    if (array_grow(&o->all, o->count, sizeof *o->all) != 0)
        return -ENOMEM;
    added = &o->all[o->count++];
    *added =
        (struct probe_object){.path = strdup(real), .place = strdup(place), .name = strdup(path)};
    return added->path != NULL && added->place != NULL && added->name != NULL ? 0 : -ENOMEM;
}

static int add_from(struct objects *o, const char *directory, const char *name)
{
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path)
        return -ENOENT;
    return add(o, path);
}

/* Adds a library of a tree: from the folders that its user names, else from the usual ones. */
static int add_needed(struct objects *o, const struct pack_object *user, const char *name)
{
    const char *folders = user->runpath != NULL ? user->runpath : user->rpath;
    const char *const *usual = pack_libraries_directories();
    char directory[PATH_MAX];
    int result = -ENOENT;

    if (name[0] == '/')
        return add(o, name) == -ENOMEM ? -ENOMEM : 0;
    for (const char *at = folders; at != NULL && result == -ENOENT;) {
        size_t bytes = strcspn(at, ":");

        if (pack_object_expand(user, at, bytes, directory))
            result = add_from(o, directory, name);
        at = at[bytes] != 0 ? at + bytes + 1 : NULL;
    }
    for (; *usual != NULL && result == -ENOENT; usual++)
        result = add_from(o, *usual, name);
    return result == -ENOENT ? 0 : result; /* the run will say that it is missing */
}

/* Adds the libraries that the environment has a tree's linker load first. */
static int add_preloaded(struct objects *o, const struct pack_object *program)
{
    const char *at = pack_environment_get(&o->collector->pack->environment, "LD_PRELOAD");
    int result = 0;

    while (at != NULL && *at != 0 && result == 0) {
        size_t bytes = strcspn(at, ": \t\n");
        char name[PATH_MAX];

        if (bytes != 0 && bytes < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)bytes, at);
            result = add_needed(o, program, name);
        }
        at += bytes + (at[bytes] != 0);
    }
    return result;
}

/* Adds all libraries of a tree's program, which is the first object. */
static int add_tree(struct objects *o)
{
    int result = 0;

    for (size_t i = 0; i < o->count && result == 0; i++) {
        struct pack_object *object;

        if (pack_object_read(o->all[i].place, o->all[i].path, &object) != 0)
            continue;
        if (i == 0)
            result = add_preloaded(o, object);
        for (char **name = object->needed; *name != NULL && result == 0; name++)
            result = add_needed(o, object, *name);
        pack_object_free(object);
    }
    return result;
}

static int add_all(struct objects *o)
{
    const struct pack_collector *c = o->collector;
    const struct pack_program *program = &c->pack->program;
    int result = add(o, program->found);
    const char *path;

    for (size_t i = 1; result == 0 && (path = pack_libraries_path(&c->libraries, i)) != NULL; i++)
        if (add(o, path) == -ENOMEM)
            result = -ENOMEM;
    if (result == 0 && program->root != NULL)
        result = add_tree(o);
    if (result == 0 && program->interpreter[0] != 0 && add(o, program->interpreter) == -ENOMEM)
        result = -ENOMEM;
    return result;
}

/* Looks for a library of that name in a directory of the guest's. */
static bool find_in(const struct pack_collector *c, const char *directory, const char *name,
                    char real[PATH_MAX], char place[PATH_MAX])
{
    char path[PATH_MAX], folder[PATH_MAX];
    struct dirent **entries = NULL;
    bool found = false;
    int count = pack_root_place(c->pack->program.root, directory, folder) == 0
                    ? scandir(folder, &entries, NULL, alphasort)
                    : 0;

    for (int i = 0; i < count; i++) {
        struct pack_object *object;

        if (!found && probe_object_is_called(entries[i]->d_name, name) &&
            (size_t)snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name) <
                sizeof path &&
            locate(c, path, real, place) == 0 && pack_object_read(place, real, &object) == 0) {
            pack_object_free(object);
            found = true;
        }
        free(entries[i]);
    }
    free(entries);
    return found;
}

static bool find_library(const struct pack_collector *c, const char *name, char real[PATH_MAX],
                         char place[PATH_MAX])
{
    const char *path = pack_environment_get(&c->pack->environment, "LD_LIBRARY_PATH");
    char directory[PATH_MAX];

    for (const char *at = path; at != NULL; at = strchr(at, ':')) {
        at += *at == ':';
        snprintf(directory, sizeof directory, "%.*s", (int)strcspn(at, ":"), at);
        if (directory[0] == '/' && find_in(c, directory, name, real, place))
            return true;
    }
    for (const char *const *usual = pack_libraries_directories(); *usual != NULL; usual++)
        if (find_in(c, *usual, name, real, place))
            return true;
    return false;
}

/* Finds what an option names: a path, a library, or a program in PATH. */
static int find_for(const struct pack_collector *c, const char *option, const char *name,
                    char real[PATH_MAX], char place[PATH_MAX], struct run_failure *failure)
{
    const char *root = c->pack->program.root;
    struct run_failure ignored = {0};
    char path[PATH_MAX];
    int error = -ENOENT;

    if (strchr(name, '/') != NULL)
        error = pack_path_absolute(name, root != NULL ? "/" : NULL, path);
    else if (find_library(c, name, real, place))
        return 0;
    else if (pack_program_search(root, name, path, &ignored) == 0)
        error = 0;
    else
        return run_fail(failure,
                        "%s: '%s' is neither the program nor a library of it, nor another "
                        "library, nor a program in PATH",
                        option, name);
    if (error == 0)
        error = locate(c, path, real, place);
    if (error == -EACCES)
        return run_fail(failure, "%s: %s is not packed; add it with --file %s", option, name, path);
    return error == 0 ? 0 : run_fail(failure, "%s: %s: %s", option, name, strerror(-error));
}

/* Fulfils struct probe_wish.find. */
static int find(void *context, const char *name, char real[PATH_MAX], char place[PATH_MAX],
                struct run_failure *failure)
{
    return find_for(context, "--probe", name, real, place, failure);
}

/* Adds the libraries that are to have allocators: nothing else tells of what dlopen will load. */
static int add_alloc_libraries(struct objects *o)
{
    struct pack_collector *c = o->collector;
    char real[PATH_MAX], place[PATH_MAX];

    for (size_t i = 0; i < c->options->alloc_libraries.count; i++) {
        const char *name = c->options->alloc_libraries.items[i];

        if (find_for(c, "--alloc-library", name, real, place, c->failure) != 0)
            return -1;
        if (add(o, real) == -ENOMEM)
            return out_of_memory(c);
        for (size_t k = 0; k < o->count; k++)
            o->all[k].allocates |= strcmp(o->all[k].path, real) == 0;
    }
    return 0;
}

static int make_table(struct pack_collector *c)
{
    struct pack *pack = c->pack;
    const struct options *o = c->options;
    struct probe *probe = &pack->probe;

    uint32_t values = o->alloc && o->probe_arguments < HR_ALLOCATION_VALUES ? HR_ALLOCATION_VALUES
                                                                            : o->probe_arguments;

    if (probe_table_write(&probe->table, values, o->probe_every, &pack->probes, &pack->probe_bytes,
                          c->failure) != 0)
        return -1;
    pack->memory_bytes += pack->probe_bytes;
    if (probe->left_out != 0)
        launch_warn(&pack->notes, "probes: %zu function%s left out, such as %s", probe->left_out,
                    probe->left_out == 1 ? " is" : "s are", probe->left_out_first);
    if (probe->overlapping != 0)
        launch_warn(&pack->notes, "probes: %zu function%s left out that share code with others",
                    probe->overlapping, probe->overlapping == 1 ? " is" : "s are");
    return 0;
}

int pack_collect_probes(struct pack_collector *c)
{
    struct objects objects = {.collector = c};
    struct probe_wish wish = {
        .specs = c->options->probes.items,
        .spec_count = c->options->probes.count,
        .alloc = c->options->alloc,
        .find = find,
        .context = c,
    };
    int result;

    if (wish.spec_count == 0 && !wish.alloc)
        return 0;
    result = add_all(&objects) == 0 ? add_alloc_libraries(&objects) : out_of_memory(c);
    wish.objects = objects.all;
    wish.object_count = objects.count;
    if (result == 0)
        result = probe_find(&c->pack->probe, &wish, c->failure);
    if (result == 0)
        result = make_table(c);
    for (size_t i = 0; i < objects.count; i++) {
        free((char *)objects.all[i].path);
        free((char *)objects.all[i].place);
        free((char *)objects.all[i].name);
    }
    free(objects.all);
    return result;
}
