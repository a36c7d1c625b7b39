/* Finds and checks the file of a load map. */
#include "host/object/symbols_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/text.h"
#include "host/object/object_cache.h"
#include "host/object/symbols_debuginfod.h"

const char *symbols_file_program(const struct trace_info *info)
{
    for (size_t i = 0; i < info->map_count; i++)
        if ((info->maps[i].meta.flags & HR_MAP_KERNEL) == 0 && info->maps[i].path[0] == '/')
            return info->maps[i].path;
    return NULL;
}

bool symbols_file_named(const struct trace_map *map)
{
    return map->path[0] != 0 && map->path[0] != '[';
}

static int open_regular(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* the trace may give any path */
    struct stat status;

    if (fd < 0)
        return errno == ENOTDIR ? -ENOENT : -errno;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return -ENOEXEC;
    }
    return fd;
}

static int check_elf(Elf *elf, const struct trace_map *map)
{
    size_t wanted = map->meta.build_id_bytes;
    const void *own = NULL;
    GElf_Ehdr header;

    if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL ||
        header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        (header.e_type != ET_EXEC && header.e_type != ET_DYN))
        return -ENOEXEC;
    if (wanted == 0)
        return 0;
    if (dwelf_elf_gnu_build_id(elf, &own) != (ssize_t)wanted)
        return -ESTALE;
    return memcmp(own, map->build_id, wanted) == 0 ? 0 : -ESTALE;
}

/* Keeps an open file, or closes it. */
static int take(struct symbols_file *file, int fd, const char *path, const struct trace_map *map)
{
    int error;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    error = check_elf(elf, map);
    elf_end(elf);
    if (error == 0) {
        file->path = strdup(path);
        error = file->path != NULL ? 0 : -ENOMEM;
    }
    if (error == 0)
        file->fd = fd;
    else
        close(fd);
    return error;
}

static int try_path(struct symbols_file *file, const char *path, const struct trace_map *map)
{
    int fd = open_regular(path);

    return fd < 0 ? fd : take(file, fd, path, map);
}

/* Tries the copy that was kept when the file ran. */
static int try_kept(struct symbols_file *file, const struct trace_map *map)
{
    char path[PATH_MAX];
    int fd = object_cache_open(map->build_id, map->meta.build_id_bytes, path);

    return fd < 0 ? fd : take(file, fd, path, map);
}

/* Tries the place of a part of Microtome that is not where the trace says: the directory of hr, or
 * where it was installed. */
static int try_beside(struct symbols_file *file, const struct trace_map *map)
{
    static const char *const folders[] = {"", "/../lib/microtome"};
    const char *name = text_base_name(map->path);
    char self[PATH_MAX], path[PATH_MAX * 2];
    ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
    int error = -ENOENT;

    if (bytes <= 0)
        return error;
    self[bytes] = 0;
    dirname(self);
    for (size_t i = 0; i < 2 && error != 0; i++) {
        snprintf(path, sizeof path, "%s%s/%s", self, folders[i], name);
        error = try_path(file, path, map);
    }
    return error;
}

/* In a debug folder, DIR/.build-id/xx/yyyy may be the file itself. */
static int try_build_id(struct symbols_file *file, const char *folder, const struct trace_map *map)
{
    char path[PATH_MAX];
    int used = snprintf(path, sizeof path, "%s/.build-id/%02x/", folder, map->build_id[0]);

    if (used < 0 || (size_t)used + 2ul * TRACE_INFO_BUILD_ID_MAX >= sizeof path)
        return -ENOENT;
    for (size_t i = 1; i < map->meta.build_id_bytes; i++)
        used += sprintf(path + used, "%02x", map->build_id[i]);
    return try_path(file, path, map);
}

static int try_debug_dirs(struct symbols_file *file, const struct trace_map *map,
                          const struct symbols_options *options)
{
    int error = -ENOENT;

    if (map->meta.build_id_bytes < OBJECT_CACHE_ID_BYTES_MIN)
        return error;
    for (uint32_t i = 0; options != NULL && i < options->debug_dir_count && error != 0; i++)
        error = try_build_id(file, options->debug_dirs[i], map);
    if (error != 0)
        error = try_build_id(file, "/usr/lib/debug", map);
    return error;
}

static int try_server(struct symbols_file *file, const struct trace_map *map)
{
    char *path = symbols_debuginfod_executable(text_base_name(map->path), map->build_id,
                                               map->meta.build_id_bytes);
    int error = path != NULL ? try_path(file, path, map) : -ENOENT;

    free(path);
    return error;
}

int symbols_file_open(struct symbols_file *file, const struct trace_map *map, bool program,
                      const struct symbols_options *options)
{
    bool kernel = (map->meta.flags & HR_MAP_KERNEL) != 0;
    bool ours = kernel || strcmp(text_base_name(map->path), "vdso.so") == 0;
    bool named = program && options != NULL && options->program != NULL;
    int error = -ENOENT;

    *file = (struct symbols_file){.fd = -1};
    if (named)
        return try_path(file, options->program, map);
    if (!kernel || map->path[0] == '/')
        error = try_path(file, map->path, map);
    if (error != 0 && ours && try_beside(file, map) == 0)
        error = 0;
    if (error != 0 && error != -ENOMEM && try_debug_dirs(file, map, options) == 0)
        error = 0;
    if (error != 0 && error != -ENOMEM && try_kept(file, map) == 0)
        error = 0;
    if (error != 0 && error != -ENOMEM && !ours && (options == NULL || !options->no_debuginfod) &&
        try_server(file, map) == 0)
        error = 0;
    return error;
}

void symbols_file_close(struct symbols_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    *file = (struct symbols_file){.fd = -1};
}
