/* Opens a file and its debug file through libdwfl. */
#include "host/symbols/symbols_module.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/object/symbols_debuginfod.h"

#define MINI_BYTES_MAX (4u << 20) /* of .gnu_debugdata, which does not give its unpacked size */

/* Checks, in advance, that libdw and libdwfl unpack a bounded amount.  Without `debug` the debug
 * information itself is not unpacked. */
static bool fits(Elf *elf, bool debug)
{
    Elf_Scn *section = NULL;
    uint64_t bytes = 0;
    size_t names = 0;

    (void)elf_getshdrstrndx(elf, &names);
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        GElf_Chdr packed;
        const char *name;
        ssize_t unpacked;

        if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS)
            continue;
        name = elf_strptr(elf, names, header.sh_name);
        if (!debug && name != NULL && strncmp(name, ".debug_", 7) == 0)
            continue;
        if ((header.sh_flags & SHF_COMPRESSED) != 0) {
            bytes += gelf_getchdr(section, &packed) != NULL ? packed.ch_size : 0;
        } else if (debug && name != NULL && strncmp(name, ".zdebug", 7) == 0) {
            unpacked = dwelf_scn_gnu_compressed_size(section);
            bytes += unpacked > 0 ? (uint64_t)unpacked : 0;
        } else if (name != NULL && strcmp(name, ".gnu_debugdata") == 0) {
            bytes += header.sh_size <= MINI_BYTES_MAX ? 0 : UINT32_MAX;
        }
        if (bytes > SYMBOLS_MODULE_UNPACKED_MAX)
            return false;
    }
    return true;
}

static bool file_fits(int fd, bool debug)
{
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool good = elf != NULL && fits(elf, debug);

    elf_end(elf);
    return good;
}

/* The library's own search, followed by a check of what it found. */
static int find_debug_file(Dwfl_Module *libdwfl_module, void **user, const char *name,
                           Dwarf_Addr base, const char *path, const char *link, GElf_Word checksum,
                           char **found)
{
    struct symbols_module *module = *user;
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    int fd;

    symbols_debuginfod_begin(slash != NULL ? slash + 1 : "a debug file", module->dwfl);
    fd =
        dwfl_standard_find_debuginfo(libdwfl_module, user, name, base, path, link, checksum, found);
    symbols_debuginfod_end(fd >= 0);
    if (fd >= 0 && !file_fits(fd, module->debug)) {
        module->too_large = true;
        free(*found);
        *found = NULL;
        close(fd);
        errno = 0;
        fd = -1;
    }
    return fd;
}

/* libdwfl takes a folder without a root as a subfolder of the file's; ':' separates folders and
 * cannot be part of one. */
static int set_path(struct symbols_module *module, const struct symbols_options *options)
{
    char *path = strdup("+:.debug"), *longer, full[PATH_MAX];

    for (uint32_t i = 0; path != NULL && i < options->debug_dir_count; i++) {
        if (realpath(options->debug_dirs[i], full) == NULL || strchr(full, ':') != NULL)
            continue;
        longer = NULL;
        if (asprintf(&longer, "%s:%s", path, full) < 0)
            longer = NULL;
        free(path);
        path = longer;
    }
    if (path == NULL || asprintf(&module->debug_path, "%s:/usr/lib/debug", path) < 0)
        module->debug_path = NULL;
    free(path);
    return module->debug_path != NULL ? 0 : -ENOMEM;
}

static int report(struct symbols_module *module, const struct symbols_file *file)
{
    int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    void **user;

    if (fd < 0)
        return -errno;
    dwfl_report_begin(module->dwfl);
    module->module = dwfl_report_elf(module->dwfl, file->path, file->path, fd, 0, true);
    if (module->module == NULL) {
        close(fd);
        return -ENOEXEC;
    }
    dwfl_report_end(module->dwfl, NULL, NULL);
    dwfl_module_info(module->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
    *user = module;
    return 0;
}

int symbols_module_open(struct symbols_module *module, const struct symbols_file *file, bool debug,
                        const struct symbols_options *options)
{
    int error;

    memset(module, 0, sizeof *module);
    module->debug = debug;
    elf_version(EV_CURRENT);
    error = set_path(module, options);
    if (error == 0 && !file_fits(file->fd, debug))
        error = -EFBIG;
    if (error == 0) {
        module->callbacks = (Dwfl_Callbacks){
            .find_elf = dwfl_build_id_find_elf,
            .find_debuginfo = find_debug_file,
            .debuginfo_path = &module->debug_path,
        };
        module->dwfl = dwfl_begin(&module->callbacks);
        error = module->dwfl != NULL ? report(module, file) : -ENOMEM;
    }
    if (error != 0)
        symbols_module_close(module);
    return error;
}

void symbols_module_close(struct symbols_module *module)
{
    dwfl_end(module->dwfl);
    free(module->debug_path);
    memset(module, 0, sizeof *module);
}

Elf_Data *symbols_module_section(struct symbols_module *module, const char *name)
{
    GElf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(module->module, &bias);
    Elf *elf = dwarf != NULL ? dwarf_getelf(dwarf) : NULL;
    Elf_Scn *section = NULL;
    size_t names = 0;

    if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *own =
            gelf_getshdr(section, &header) != NULL ? elf_strptr(elf, names, header.sh_name) : NULL;

        if (own == NULL)
            continue;
        if (strcmp(own, name) == 0 ||
            (strncmp(own, ".z", 2) == 0 && strcmp(own + 2, name + 1) == 0))
            return elf_getdata(section, NULL);
    }
    return NULL;
}

/* Looks where libdwfl looks for `link`: in a folder or, for one without a root, below the file's
 * folder. */
static char *stranger_in(const char *folder, size_t folder_bytes, const char *path,
                         const char *link)
{
    int folders = (int)folder_bytes, parent = (int)(strrchr(path, '/') - path);
    char candidate[PATH_MAX];
    int used = folder[0] == '/' ? snprintf(candidate, sizeof candidate, "%.*s%.*s/%s", folders,
                                           folder, parent, path, link)
                                : snprintf(candidate, sizeof candidate, "%.*s/%.*s%s%s", parent,
                                           path, folders, folder, folders != 0 ? "/" : "", link);

    if (used < 0 || (size_t)used >= sizeof candidate || strcmp(candidate, path) == 0 ||
        access(candidate, F_OK) != 0)
        return NULL;
    return strdup(candidate);
}

char *symbols_module_stranger(struct symbols_module *module)
{
    const char *path = NULL, *debug_path = NULL, *link;
    char *found = NULL;
    GElf_Word checksum;
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module->module, &bias);

    dwfl_module_info(module->module, NULL, NULL, NULL, NULL, NULL, &path, &debug_path);
    link = elf != NULL ? dwelf_elf_gnu_debuglink(elf, &checksum) : NULL;
    if (debug_path != NULL || path == NULL || strchr(path, '/') == NULL || link == NULL ||
        strchr(link, '/') != NULL)
        return NULL;
    for (const char *at = module->debug_path + 1; at != NULL && found == NULL;) {
        size_t bytes = strcspn(at, ":");

        found = stranger_in(at, bytes, path, link);
        at = at[bytes] != 0 ? at + bytes + 1 : NULL;
    }
    return found;
}
