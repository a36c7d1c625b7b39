/* Finds the libraries of dynamic programs as their own dynamic linker will. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/text.h"
#include "host/pack/libraries/pack_libraries.h"
#include "host/pack/libraries/pack_object.h"
#include "host/pack/list/pack_path.h"

#define MUSL_DEFAULT_PATH "/lib:/usr/local/lib:/usr/lib"
#define OBJECTS_MAX 4096 /* real programs have fewer */

/* The default directories of the distributions' GNU linkers.  A directory that a linker does not
 * know holds no library that it would find elsewhere. */
static const char *const default_directories[] = {
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    NULL,
};

const char *const *pack_libraries_directories(void)
{
    return default_directories;
}

static const char *const cpu_directories[] = {
    "/glibc-hwcaps/x86-64-v4", /* only if any_cpu */
    "/glibc-hwcaps/x86-64-v3",
    "/glibc-hwcaps/x86-64-v2",
    "",
};

static void *map_file(const char *path, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *file = MAP_FAILED;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        *bytes = (size_t)status.st_size;
        file = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    return file != MAP_FAILED ? file : NULL;
}

/* Reads the directories, separated by line ends or colons. */
static void read_musl_path(struct pack_libraries *l)
{
    size_t bytes;
    char *text = map_file("/etc/ld-musl-x86_64.path", &bytes);

    snprintf(l->musl_path, sizeof l->musl_path, "%s", MUSL_DEFAULT_PATH);
    if (text == NULL)
        return;
    if (bytes < sizeof l->musl_path) {
        memcpy(l->musl_path, text, bytes);
        l->musl_path[bytes] = 0;
    }
    munmap(text, bytes);
}

void pack_libraries_init(struct pack_libraries *l, struct pack_list *list, const char *interpreter)
{
    *l = (struct pack_libraries){.list = list};
    l->musl = strncmp(text_base_name(interpreter), "ld-musl-", 8) == 0;
    if (l->musl) {
        read_musl_path(l);
        return;
    }
    l->cache_bytes = map_file("/etc/ld.so.cache", &l->cache_size);
    if (l->cache_bytes != NULL)
        (void)pack_ld_cache_open(&l->cache, l->cache_bytes, l->cache_size);
}

void pack_libraries_free(struct pack_libraries *l)
{
    for (size_t i = 0; i < l->count; i++)
        pack_object_free(l->objects[i]);
    for (size_t i = 0; i < l->name_count; i++)
        free((char *)l->names[i]);
    free(l->objects);
    free(l->names);
    if (l->cache_bytes != NULL)
        munmap(l->cache_bytes, l->cache_size);
    l->objects = NULL;
    l->names = NULL;
    l->cache_bytes = NULL;
    l->count = l->name_count = 0;
}

const char *pack_libraries_path(const struct pack_libraries *l, size_t index)
{
    return index < l->count ? l->objects[index]->path : NULL;
}

static int add_name(struct pack_libraries *l, const char *name)
{
    if (array_grow(&l->names, l->name_count, sizeof *l->names) != 0 ||
        (l->names[l->name_count] = strdup(name)) == NULL)
        return -ENOMEM;
    l->name_count++;
    return 0;
}

/* Returns whether the name was requested before, or is the soname of a loaded library. */
static bool is_loaded(const struct pack_libraries *l, const char *name)
{
    for (size_t i = 0; i < l->name_count; i++)
        if (strcmp(l->names[i], name) == 0)
            return true;
    for (size_t i = 0; i < l->count; i++)
        if (l->objects[i]->soname != NULL && strcmp(l->objects[i]->soname, name) == 0)
            return true;
    return false;
}

/* musl's linker is its C library, under every name that it has had. */
static bool is_part_of_musl(const char *name)
{
    static const char *const parts[] = {"c", "pthread", "rt", "m", "dl", "util", "xnet"};

    if (strncmp(name, "lib", 3) != 0)
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t bytes = strlen(parts[i]);

        if (strncmp(name + 3, parts[i], bytes) == 0 &&
            (name[3 + bytes] == '.' || strncmp(name + 3 + bytes, ".musl", 5) == 0))
            return true;
    }
    return false;
}

static int append(struct pack_libraries *l, struct pack_object *object)
{
    if (l->count == OBJECTS_MAX)
        return -E2BIG;
    if (array_grow(&l->objects, l->count, sizeof(struct pack_object *)) != 0)
        return -ENOMEM;
    l->objects[l->count++] = object;
    l->memory_bytes += object->memory_bytes;
    return 0;
}

/* Takes the file at `path` if it is a library.  Returns 0, or -ENOENT if it is not. */
static int load(struct pack_libraries *l, const char *path, struct pack_object *loader)
{
    const struct pack_entry *listed = pack_list_find(l->list, path);
    struct pack_object *object;
    int result = pack_object_read(listed != NULL && listed->source != NULL ? listed->source : path,
                                  path, &object);

    if (result != 0)
        return result == -ENOMEM ? result : -ENOENT;
    for (size_t i = 0; i < l->count; i++)
        if (l->objects[i]->inode == object->inode && l->objects[i]->device == object->device) {
            pack_object_free(object);
            return 0;
        }
    object->loader = loader;
    result = pack_list_begin(l->list, path, true, loader != NULL ? "needed by %s" : "%s",
                             loader != NULL ? text_base_name(loader->path) : "the program");
    if (result == 0)
        result = pack_list_add_path(l->list, path, NULL);
    if (result == 0)
        result = append(l, object);
    if (result != 0)
        pack_object_free(object);
    return result == -ENOMEM || result == -E2BIG ? result : result != 0 ? -ENOENT : 0;
}

/* Loads every variant that a directory has. */
static int load_from(struct pack_libraries *l, const char *directory, const char *name,
                     struct pack_object *loader)
{
    size_t variants = sizeof cpu_directories / sizeof cpu_directories[0];
    char path[PATH_MAX];
    char absolute[PATH_MAX];
    int result = -ENOENT;
    size_t i = l->any_cpu ? 0 : 1;

    if ((size_t)snprintf(path, sizeof path, "%s/glibc-hwcaps", directory) >= sizeof path)
        return -ENOENT;
    if (l->musl || access(path, F_OK) != 0)
        i = variants - 1;
    for (; i < variants; i++) {
        int loaded;

        if ((size_t)snprintf(path, sizeof path, "%s%s/%s", directory[0] != 0 ? directory : ".",
                             cpu_directories[i], name) >= sizeof path ||
            pack_path_absolute(path, NULL, absolute) != 0)
            return -ENOENT;
        if (access(absolute, F_OK) != 0 && pack_list_find(l->list, absolute) == NULL)
            continue;
        loaded = load(l, absolute, loader);
        if (loaded != -ENOENT)
            result = loaded;
        if (loaded != 0 && loaded != -ENOENT)
            break;
    }
    return result;
}

/* Searches a list of directories; `owner` provides $ORIGIN. */
static int load_from_list(struct pack_libraries *l, const char *directories, const char *separators,
                          const struct pack_object *owner, const char *name,
                          struct pack_object *loader)
{
    for (const char *at = directories; at != NULL;) {
        size_t bytes = strcspn(at, separators);
        char directory[PATH_MAX];

        if (pack_object_expand(owner, at, bytes, directory)) {
            int result = load_from(l, directory, name, loader);

            if (result != -ENOENT)
                return result;
        }
        at = at[bytes] != 0 ? at + bytes + 1 : NULL;
    }
    return -ENOENT;
}

/* Searches the RPATHs of the object that needs it, of that object's loader, and so on; then the
 * program's. */
static int load_from_rpaths(struct pack_libraries *l, const char *name, struct pack_object *loader)
{
    int result = -ENOENT;
    bool had_program = false;

    if (loader->runpath != NULL && !l->musl)
        return -ENOENT;
    for (struct pack_object *o = loader; o != NULL && result == -ENOENT; o = o->loader) {
        const char *path = o->rpath != NULL ? o->rpath : l->musl ? o->runpath : NULL;

        had_program |= o == l->objects[0];
        if (path != NULL)
            result = load_from_list(l, path, ":", o, name, loader);
    }
    if (result == -ENOENT && !had_program && l->objects[0]->rpath != NULL)
        result = load_from_list(l, l->objects[0]->rpath, ":", l->objects[0], name, loader);
    return result;
}

static int load_from_cache(struct pack_libraries *l, const char *name, struct pack_object *loader)
{
    uint32_t position = 0;
    int result = -ENOENT;
    const char *path;

    while ((path = pack_ld_cache_next(&l->cache, name, &position)) != NULL) {
        int loaded = load(l, path, loader);

        if (loaded != -ENOENT)
            result = loaded;
        if (loaded != 0 && loaded != -ENOENT)
            break;
    }
    return result;
}

static int search(struct pack_libraries *l, const char *name, struct pack_object *loader)
{
    int result = -ENOENT;

    if (l->musl && l->library_path != NULL)
        result = load_from_list(l, l->library_path, ":\n", loader, name, loader);
    if (result == -ENOENT)
        result = load_from_rpaths(l, name, loader);
    if (result == -ENOENT && !l->musl && l->library_path != NULL && l->library_path[0] != 0)
        result = load_from_list(l, l->library_path, ":;", l->objects[0], name, loader);
    if (result == -ENOENT && !l->musl && loader->runpath != NULL)
        result = load_from_list(l, loader->runpath, ":", loader, name, loader);
    if (l->musl)
        return result == -ENOENT ? load_from_list(l, l->musl_path, ":\n", loader, name, loader)
                                 : result;
    if (result != -ENOENT || loader->no_default)
        return result;
    result = load_from_cache(l, name, loader);
    for (size_t i = 0; default_directories[i] != NULL && result == -ENOENT; i++)
        result = load_from(l, default_directories[i], name, loader);
    return result;
}

static int find(struct pack_libraries *l, const char *name, struct pack_object *loader)
{
    char expanded[PATH_MAX];
    char absolute[PATH_MAX];
    int result;

    if (is_loaded(l, name) || (l->musl && is_part_of_musl(name)))
        return 0;
    if (strchr(name, '/') == NULL)
        result = search(l, name, loader);
    else if (!pack_object_expand(loader, name, strlen(name), expanded) ||
             pack_path_absolute(expanded, NULL, absolute) != 0)
        result = -ENOENT;
    else
        result = load(l, absolute, loader);
    if (result == 0)
        return add_name(l, name);
    if (result != -ENOENT)
        return result;
    if (l->missing[0] == 0) { /* the linker would name the first one */
        snprintf(l->missing, sizeof l->missing, "%s", name);
        snprintf(l->missed_by, sizeof l->missed_by, "%s", loader->path);
    }
    return -ELIBACC;
}

/* A missing library in the preload list is not a failure: the linker warns about it. */
static int preload(struct pack_libraries *l, const char *names)
{
    int result = 0;

    while (names != NULL && *names != 0 && result == 0) {
        size_t bytes = strcspn(names, ": \t\n");
        char name[PATH_MAX];

        if (bytes != 0 && bytes < sizeof name) {
            memcpy(name, names, bytes);
            name[bytes] = 0;
            result = find(l, name, l->objects[0]);
            result = result == -ELIBACC ? 0 : result;
        }
        names += bytes + (names[bytes] != 0);
    }
    return result;
}

/* Loads breadth first, like the linker, so that the first of two with one name is taken. */
static int load_needed(struct pack_libraries *l, size_t first)
{
    int missing = 0;

    for (size_t i = first; i < l->count; i++) {
        struct pack_object *object = l->objects[i];

        for (char **name = object->needed; *name != NULL; name++) {
            int result = find(l, *name, object);

            if (result == -ELIBACC)
                missing = result;
            else if (result != 0)
                return result;
        }
    }
    return missing;
}

int pack_libraries_add(struct pack_libraries *l, const char *path)
{
    size_t first = l->count;
    struct pack_object *object;
    int result = pack_object_read(path, path, &object);

    l->missing[0] = 0;
    if (result != 0)
        return result;
    object->loader = first != 0 ? l->objects[0] : NULL;
    result = append(l, object);
    if (result != 0) {
        pack_object_free(object);
        return result;
    }
    if (first == 0)
        result = preload(l, l->preload);
    return result != 0 ? result : load_needed(l, first);
}

int pack_libraries_add_name(struct pack_libraries *l, const char *name)
{
    size_t first = l->count;
    int result = l->count == 0 ? -ELIBACC : find(l, name, l->objects[0]);

    return result != 0 ? result : load_needed(l, first);
}
