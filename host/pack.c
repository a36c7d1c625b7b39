/* hr pack: puts a program, its arguments and its files into one archive. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/commands.h"
#include "host/error.h"
#include "host/output_file.h"
#include "host/pack.h"
#include "host/pack_archive.h"
#include "host/pack_manifest.h"
#include "include/run_manifest.h"

#define KERNEL_BYTES (16ull << 20) /* what the kernel needs beside archive and program */

static int add_manifest(struct pack_archive *a, const struct options *o,
                        const struct launch_machine *machine, const struct pack_program *program)
{
    char *manifest = malloc(RUN_MANIFEST_BYTES_MAX);
    size_t used;
    int result;

    if (manifest == NULL)
        return run_fail(a->failure, RUN_EXIT_FAILED, "out of memory");
    result = pack_manifest_write(o, machine, program, manifest, RUN_MANIFEST_BYTES_MAX, &used,
                                 a->failure);
    if (result == 0)
        result = pack_archive_add_bytes(a, RUN_MANIFEST_NAME, manifest, used);
    if (result == 0)
        result = pack_archive_add_directory(a, dirname(strcpy(manifest, RUN_MANIFEST_NAME)));
    free(manifest);
    return result;
}

/* Makes a path absolute without asking the file system: links stay what they are. */
static int make_absolute(const char *path, char absolute[PATH_MAX])
{
    size_t used = 0;

    absolute[0] = 0;
    if (path[0] != '/') {
        if (getcwd(absolute, PATH_MAX) == NULL)
            return -errno;
        used = strcmp(absolute, "/") == 0 ? 0 : strlen(absolute);
    }
    while (*path != 0) {
        size_t bytes = strcspn(path, "/");

        if (bytes == 2 && path[0] == '.' && path[1] == '.') {
            while (used > 0 && absolute[--used] != '/')
                continue;
        } else if (bytes > 1 || (bytes == 1 && path[0] != '.')) {
            if (used + bytes + 2 > PATH_MAX)
                return -ENAMETOOLONG;
            absolute[used++] = '/';
            memcpy(absolute + used, path, bytes);
            used += bytes;
        }
        path += bytes + (path[bytes] == '/');
    }
    absolute[used] = 0;
    return 0;
}

static int add_file(struct pack_archive *a, const char *path)
{
    char absolute[PATH_MAX];
    struct stat status;
    int result = make_absolute(path, absolute);

    if (result == 0 && lstat(absolute[0] != 0 ? absolute : "/", &status) != 0)
        result = -errno;
    if (result != 0)
        return run_fail(a->failure, RUN_EXIT_FAILED, "--file %s: %s", path, strerror(-result));
    return pack_archive_add_tree(a, absolute[0] != 0 ? absolute : "/", absolute);
}

static int add_root(struct pack_archive *a, const char *root)
{
    struct stat status;

    if (stat(root, &status) != 0 || !S_ISDIR(status.st_mode))
        return run_fail(a->failure, RUN_EXIT_FAILED, "--root %s: not a directory", root);
    return pack_archive_add_tree(a, root, "");
}

static int add_all(struct pack_archive *a, const struct options *o,
                   const struct launch_machine *machine, const struct pack_program *program)
{
    char cwd[PATH_MAX];

    if (add_manifest(a, o, machine, program) != 0 ||
        pack_archive_add_file(a, program->path, program->fd, &program->status) != 0)
        return -1;
    for (size_t i = 0; i < o->files.count; i++)
        if (add_file(a, o->files.items[i]) != 0)
            return -1;
    if (o->root != NULL && add_root(a, o->root) != 0)
        return -1;
    if (getcwd(cwd, sizeof cwd) != NULL && pack_archive_add_directory(a, cwd) != 0)
        return -1;
    return pack_archive_finish(a);
}

int pack_write(const struct options *o, const struct launch_machine *machine,
               const struct pack_program *program, int fd, struct run_failure *failure)
{
    struct pack_archive archive;
    uint64_t needed;
    int result;

    if (program->memory_bytes > o->memory_bytes)
        return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE,
                        "%s needs %llu MB and the guest has %llu MB; give it more with --mem",
                        o->program[0], (unsigned long long)(program->memory_bytes >> 20),
                        (unsigned long long)(o->memory_bytes >> 20));
    pack_archive_init(&archive, fd, o->memory_bytes, failure);
    result = add_all(&archive, o, machine, program);
    pack_archive_free(&archive);
    if (result != 0)
        return -1;
    needed = archive.bytes + program->memory_bytes + KERNEL_BYTES;
    if (needed > o->memory_bytes)
        return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE,
                        "%s with its files needs at least %llu MB and the guest has %llu MB; give "
                        "it more with --mem",
                        o->program[0], (unsigned long long)((needed + (1u << 20) - 1) >> 20),
                        (unsigned long long)(o->memory_bytes >> 20));
    return 0;
}

static int pack(const struct options *o, struct run_failure *failure)
{
    struct launch_machine machine;
    struct pack_program program;
    struct stat status;
    bool regular;
    int result;
    int fd;

    if (launch_choose(o, &machine, failure) != 0 || pack_find_program(o, &program, failure) != 0)
        return -1;
    fd = output_file_open(o->output, "archive", &program.status, failure);
    if (fd < 0)
        return -1;
    result = pack_write(o, &machine, &program, fd, failure);
    regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (close(fd) != 0 && result == 0)
        result =
            run_fail(failure, RUN_EXIT_FAILED, "cannot write '%s': %s", o->output, strerror(errno));
    if (result != 0 && regular) /* a device is not ours to remove */
        (void)unlink(o->output);
    return result;
}

int pack_command(int argc, char **argv)
{
    struct run_failure failure = {0};
    struct options options;

    if (options_parse(&options, true, argc, argv, &failure) == 0)
        (void)pack(&options, &failure);
    if (failure.exit_status != 0)
        error_print("%s", failure.text);
    return failure.exit_status;
}
