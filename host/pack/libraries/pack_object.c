/* Reads the ELF files of a dynamic program. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/pack/libraries/pack_elf.h"
#include "host/pack/libraries/pack_object.h"
#include "host/pack/list/pack_path.h"

#define PLATFORM "haswell" /* the GNU C library's name of an x86-64-v3 CPU */
#define MULTIARCH "lib/x86_64-linux-gnu"

static int copy_text(char **to, const char *text)
{
    if (text == NULL)
        return 0;
    *to = strdup(text);
    return *to != NULL ? 0 : -ENOMEM;
}

static int copy_needed(struct pack_object *object, const struct pack_elf *elf)
{
    uint64_t position = 0;
    size_t count = 0;

    while (pack_elf_next_needed(elf, &position) != NULL)
        count++;
    object->needed = calloc(count + 1, sizeof *object->needed);
    if (object->needed == NULL)
        return -ENOMEM;
    position = 0;
    for (size_t i = 0; i < count; i++)
        if (copy_text(&object->needed[i], pack_elf_next_needed(elf, &position)) != 0)
            return -ENOMEM;
    return 0;
}

static int fill(struct pack_object *object, const struct pack_elf *elf, const char *path)
{
    object->no_default = elf->no_default;
    object->memory_bytes = elf->memory_bytes;
    if (copy_text(&object->path, path) != 0 || copy_text(&object->origin, path) != 0 ||
        copy_text(&object->soname, elf->soname) != 0 ||
        copy_text(&object->rpath, elf->rpath) != 0 ||
        copy_text(&object->runpath, elf->runpath) != 0)
        return -ENOMEM;
    pack_path_parent(object->origin);
    return copy_needed(object, elf);
}

static int read_mapped(int fd, const struct stat *status, const char *path,
                       struct pack_object *object)
{
    size_t bytes = (size_t)status->st_size;
    struct pack_elf elf;
    void *file;
    int result;

    if (!S_ISREG(status->st_mode) || status->st_size == 0)
        return -ENOEXEC;
    file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        return -errno;
    result = pack_elf_parse(file, bytes, &elf);
    if (result == 0)
        result = fill(object, &elf, path);
    munmap(file, bytes);
    object->device = status->st_dev;
    object->inode = status->st_ino;
    return result;
}

int pack_object_read(const char *source, const char *path, struct pack_object **object)
{
    struct stat status;
    int result;
    int fd;

    *object = NULL;
    fd = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    *object = calloc(1, sizeof **object);
    result = *object == NULL ? -ENOMEM : fstat(fd, &status) != 0 ? -errno : 0;
    if (result == 0)
        result = read_mapped(fd, &status, path, *object);
    close(fd);
    if (result == 0)
        return 0;
    pack_object_free(*object);
    *object = NULL;
    return result;
}

void pack_object_free(struct pack_object *object)
{
    if (object == NULL)
        return;
    for (char **name = object->needed; name != NULL && *name != NULL; name++)
        free(*name);
    free(object->needed);
    free(object->path);
    free(object->origin);
    free(object->soname);
    free(object->rpath);
    free(object->runpath);
    free(object);
}

/* Returns the length of the token at `text`, "$NAME" or "${NAME}"; 0 if it is not this one. */
static size_t token_bytes(const char *text, size_t bytes, const char *name)
{
    size_t length = strlen(name);

    if (bytes >= length + 1 && memcmp(text + 1, name, length) == 0)
        return length + 1;
    if (bytes >= length + 3 && text[1] == '{' && memcmp(text + 2, name, length) == 0 &&
        text[length + 2] == '}')
        return length + 3;
    return 0;
}

bool pack_object_expand(const struct pack_object *object, const char *text, size_t bytes,
                        char out[PATH_MAX])
{
    const struct {
        const char *name;
        const char *value;
    } tokens[] = {
        {"ORIGIN", object->origin},
        {"LIB", access("/usr/" MULTIARCH, F_OK) == 0 ? MULTIARCH : "lib64"},
        {"PLATFORM", PLATFORM},
    };
    size_t used = 0;

    for (size_t at = 0; at < bytes;) {
        size_t taken = 0;
        size_t i = 0;

        while (text[at] == '$' && i < sizeof tokens / sizeof tokens[0] &&
               (taken = token_bytes(text + at, bytes - at, tokens[i].name)) == 0)
            i++;
        if (used + (taken != 0 ? strlen(tokens[i].value) : 1) >= PATH_MAX)
            return false;
        if (taken != 0)
            used += (size_t)sprintf(out + used, "%s", tokens[i].value);
        else
            out[used++] = text[at];
        at += taken != 0 ? taken : 1;
    }
    out[used] = 0;
    return true;
}
