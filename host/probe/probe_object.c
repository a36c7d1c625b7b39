/* Selects objects by name. */
#include "host/probe/probe_object.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/text.h"

/* Returns the file of that path, a new one if needed; NULL: out of memory. */
static struct probe_file *get_file(struct probe *p, const char *path, const char *place)
{
    struct probe_file *file;

    for (size_t i = 0; i < p->file_count; i++)
        if (strcmp(p->files[i]->path, path) == 0)
            return p->files[i];
    if (array_grow(&p->files, p->file_count, sizeof(struct probe_file *)) != 0)
        return NULL;
    file = probe_file_new(path, place);
    if (file != NULL)
        p->files[p->file_count++] = file;
    return file;
}

int probe_object_open_all(struct probe *p)
{
    for (size_t i = 0; i < p->wish->object_count; i++)
        if (get_file(p, p->wish->objects[i].path, p->wish->objects[i].place) == NULL)
            return -ENOMEM;
    return 0;
}

bool probe_object_is_called(const char *path, const char *name)
{
    const char *base = text_base_name(path);
    size_t bytes = strlen(name);

    if (fnmatch(name, base, 0) == 0)
        return true;
    return (strncmp(name, "lib", 3) == 0 || strncmp(name, "ld", 2) == 0) &&
           strncmp(base, name, bytes) == 0 && (base[bytes] == '.' || base[bytes] == '-');
}

static bool is_vdso(const char *name)
{
    return strncmp(name, "linux-vdso", 10) == 0 || strncmp(name, "linux-gate", 10) == 0 ||
           strcmp(name, "[vdso]") == 0 || strcmp(name, "vdso") == 0 || strcmp(name, "vdso.so") == 0;
}

static int add(struct probe *p, struct probe_file ***files, size_t *count, const char *path,
               const char *place)
{
    struct probe_file *file = get_file(p, path, place);

    if (file == NULL || array_grow(files, *count, sizeof(struct probe_file *)) != 0)
        return run_fail(p->failure, "out of memory; end other programs");
    for (size_t i = 0; i < *count; i++)
        if ((*files)[i] == file)
            return 0;
    (*files)[(*count)++] = file;
    return 0;
}

int probe_object_select(struct probe *p, const struct probe_spec *spec, struct probe_file ***files,
                        size_t *count)
{
    char path[PATH_MAX], place[PATH_MAX];

    if (spec->object != NULL && is_vdso(spec->object))
        return run_fail(p->failure,
                        "--probe %s: the vDSO belongs to the kernel and is no file, so it has no "
                        "probes; probe the C library's function, such as libc:clock_gettime",
                        spec->text);
    for (size_t i = 0; i < p->wish->object_count; i++) {
        const struct probe_object *object = &p->wish->objects[i];

        if (spec->object != NULL && !probe_object_is_called(object->path, spec->object) &&
            (object->name == NULL || !probe_object_is_called(object->name, spec->object)))
            continue;
        if (add(p, files, count, object->path, object->place) != 0)
            return -1;
    }
    if (*count != 0)
        return 0;
    if (p->wish->find(p->wish->context, spec->object, path, place, p->failure) != 0)
        return -1;
    return add(p, files, count, path, place);
}
