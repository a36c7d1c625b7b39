/* Finds the program and refuses, before anything is started, what cannot run. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/pack.h"
#include "lib/elf64.h"

/* The first match that can be executed wins; one that cannot makes the status 126, not 127. */
static int search_path(const char *name, char found[PATH_MAX], struct run_failure *failure)
{
    const char *path = getenv("PATH");
    bool denied = false;

    for (const char *p = path != NULL ? path : "/usr/bin:/bin"; p != NULL;) {
        size_t bytes = strcspn(p, ":");
        struct stat status;

        if (snprintf(found, PATH_MAX, "%.*s/%s", bytes != 0 ? (int)bytes : 1, bytes != 0 ? p : ".",
                     name) < PATH_MAX &&
            stat(found, &status) == 0 && S_ISREG(status.st_mode)) {
            if (access(found, X_OK) == 0)
                return 0;
            denied = true;
        }
        p = p[bytes] == ':' ? p + bytes + 1 : NULL;
    }
    if (denied)
        return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: found in PATH but not executable",
                        name);
    return run_fail(failure, RUN_EXIT_NOT_FOUND, "%s: not found in PATH", name);
}

static int check_file(const char *name, const char *path, struct stat *status,
                      struct run_failure *failure)
{
    if (stat(path, status) != 0)
        return run_fail(failure,
                        errno == ENOENT || errno == ENOTDIR ? RUN_EXIT_NOT_FOUND
                                                            : RUN_EXIT_NOT_EXECUTABLE,
                        "%s: %s", name, strerror(errno));
    if (!S_ISREG(status->st_mode))
        return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: not a file that can be executed",
                        name);
    if (access(path, X_OK) != 0)
        return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: %s; chmod +x makes it executable",
                        name, strerror(errno));
    return 0;
}

static int refuse_script(const char *name, const char *text, size_t bytes,
                         struct run_failure *failure)
{
    char interpreter[64];
    size_t start = 2;
    size_t length = 0;

    while (start < bytes && text[start] == ' ')
        start++;
    while (start + length < bytes && length + 1 < sizeof interpreter &&
           strchr(" \t\r\n", text[start + length]) == NULL)
        length++;
    memcpy(interpreter, text + start, length);
    interpreter[length] = 0;
    return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE,
                    "%s: a script for %s, not a program; run its interpreter, statically linked, "
                    "with the script as --file",
                    name, length != 0 ? interpreter : "no interpreter");
}

static int refuse_dynamic(const char *name, const uint8_t *file, const struct elf64_image *image,
                          struct run_failure *failure)
{
    return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE,
                    "%s is dynamically linked (needs %.*s); Microtome runs static programs for "
                    "now: link with -static",
                    name, (int)(image->interpreter_bytes < 200 ? image->interpreter_bytes : 200),
                    (const char *)file + image->interpreter_offset);
}

static int check_image(const char *name, const uint8_t *file, struct pack_program *program,
                       struct run_failure *failure)
{
    size_t bytes = (size_t)program->status.st_size;
    struct elf64_image image;
    enum elf64_status status;

    if (bytes >= 2 && file[0] == '#' && file[1] == '!')
        return refuse_script(name, (const char *)file, bytes, failure);
    status = elf64_parse(file, bytes, &image);
    if (status != ELF64_OK)
        return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: %s", name,
                        elf64_status_text(status));
    if (image.interpreter_bytes > 0)
        return refuse_dynamic(name, file, &image, failure);
    program->memory_bytes = image.high - image.low;
    for (uint64_t i = 0; i < image.build_id_bytes && i < 64; i++)
        snprintf(program->build_id + 2 * i, 3, "%02x", file[image.build_id_offset + i]);
    return 0;
}

int pack_find_program(const struct options *o, struct pack_program *program,
                      struct run_failure *failure)
{
    const char *name = o->program[0];
    char found[PATH_MAX];
    void *file;
    int result;

    *program = (struct pack_program){.fd = -1};
    if (name[0] == 0)
        return run_fail(failure, RUN_EXIT_NOT_FOUND, "the program's name is empty");
    if (strchr(name, '/') == NULL && search_path(name, found, failure) != 0)
        return -1;
    if (strchr(name, '/') != NULL)
        snprintf(found, sizeof found, "%s", name);
    if (check_file(name, found, &program->status, failure) != 0)
        return -1;
    program->fd = open(found, O_RDONLY | O_CLOEXEC);
    if (program->fd < 0 || realpath(found, program->path) == NULL ||
        fstat(program->fd, &program->status) != 0)
        return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: %s", name, strerror(errno));
    if (program->status.st_size == 0)
        return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: the file is empty", name);
    file = mmap(NULL, (size_t)program->status.st_size, PROT_READ, MAP_PRIVATE, program->fd, 0);
    if (file == MAP_FAILED)
        return run_fail(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: %s", name, strerror(errno));
    result = check_image(name, file, program, failure);
    munmap(file, (size_t)program->status.st_size);
    return result;
}
