/* Finds the program and refuses, before anything is started, what cannot run. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/base/text.h"
#include "host/pack/list/pack_path.h"
#include "host/pack/program/pack_program.h"
#include "host/pack/program/pack_root.h"
#include "host/pack/program/pack_script.h"
#include "host/pack/program/pack_source.h"
#include "lib/program/elf64.h"

#define DEFAULT_PATH "/usr/bin:/bin"
#define VERSIONS_BYTES 1024

static bool is_program(const char *path, bool *denied)
{
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    if (access(path, X_OK) == 0)
        return true;
    *denied = true;
    return false;
}

static bool read_text(const char *path, char text[VERSIONS_BYTES])
{
    FILE *file = fopen(path, "re");
    size_t bytes;

    if (file == NULL)
        return false;
    bytes = fread(text, 1, VERSIONS_BYTES - 1, file);
    text[bytes] = 0;
    fclose(file);
    return bytes != 0;
}

/* Finds the versions that pyenv would search: its environment variable, the nearest
 * .python-version, the global setting. */
static void find_versions(const char *root, char versions[VERSIONS_BYTES])
{
    const char *chosen = getenv("PYENV_VERSION");
    char directory[PATH_MAX];
    char path[PATH_MAX + 32];

    versions[0] = 0;
    if (chosen != NULL && chosen[0] != 0) {
        snprintf(versions, VERSIONS_BYTES, "%s", chosen);
        return;
    }
    if (getcwd(directory, sizeof directory) != NULL)
        for (bool last = false; !last; pack_path_parent(directory)) {
            snprintf(path, sizeof path, "%s/.python-version", directory);
            if (read_text(path, versions))
                return;
            last = strcmp(directory, "/") == 0;
        }
    snprintf(path, sizeof path, "%s/version", root);
    (void)read_text(path, versions);
}

/* Returns true if `found` is a launcher of pyenv, a script that execs another program.  Then stores
 * that program, or "" if pyenv has none. */
static bool resolve_pyenv(const char *name, char found[PATH_MAX])
{
    char root[PATH_MAX];
    char versions[VERSIONS_BYTES];
    char path[PATH_MAX];
    bool denied = false;
    char *rest;

    snprintf(root, sizeof root, "%s", found);
    pack_path_parent(root);
    if (strcmp(text_base_name(root), "shims") != 0)
        return false;
    pack_path_parent(root);
    if ((size_t)snprintf(path, sizeof path, "%s/versions", root) >= sizeof path ||
        access(path, F_OK) != 0)
        return false;
    find_versions(root, versions);
    found[0] = 0;
    for (char *version = strtok_r(versions, ": \t\r\n", &rest); version != NULL;
         version = strtok_r(NULL, ": \t\r\n", &rest))
        if ((size_t)snprintf(path, sizeof path, "%s/versions/%s/bin/%s", root, version, name) <
                sizeof path &&
            is_program(path, &denied)) {
            memcpy(found, path, strlen(path) + 1);
            break;
        }
    return true;
}

/* Stores the first executable match in PATH.  A launcher of pyenv is replaced by the program that
 * it would start.  Returns 0, or -1 with the failure filled: status 127, or 126 if no match is
 * executable. */
static int search_path(const char *name, char found[PATH_MAX], struct run_failure *failure)
{
    const char *path = getenv("PATH");
    bool denied = false;

    for (const char *p = path != NULL ? path : DEFAULT_PATH; p != NULL;) {
        size_t bytes = strcspn(p, ":");

        if (snprintf(found, PATH_MAX, "%.*s/%s", bytes != 0 ? (int)bytes : 1, bytes != 0 ? p : ".",
                     name) < PATH_MAX &&
            is_program(found, &denied) && (!resolve_pyenv(name, found) || found[0] != 0))
            return 0;
        p = p[bytes] == ':' ? p + bytes + 1 : NULL;
    }
    if (denied)
        return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: found in PATH but not executable",
                           name);
    if (pack_source_explain(name, RUN_EXIT_NOT_FOUND, failure))
        return -1;
    return run_fail_as(failure, RUN_EXIT_NOT_FOUND, "%s: not found in PATH", name);
}

static int out_of_memory(struct run_failure *failure)
{
    return run_fail(failure, "out of memory; end other programs");
}

/* Inserts copies of `count` strings into the list at `at`. */
static int insert(char ***list, size_t *list_count, size_t at, const char *const *strings,
                  size_t count)
{
    char **grown = realloc(*list, (*list_count + count + 1) * sizeof *grown);

    if (grown == NULL)
        return -1;
    *list = grown;
    grown[*list_count] = NULL;
    for (size_t i = 0; i < count; i++) {
        char *copy = strdup(strings[i]);

        if (copy == NULL)
            return -1;
        memmove(grown + at + i + 1, grown + at + i, (*list_count - at - i + 1) * sizeof *grown);
        grown[at + i] = copy;
        ++*list_count;
    }
    return 0;
}

/* `place`: where it is here, if it was found. */
static int check_file(const char *name, struct pack_program *program, char place[PATH_MAX],
                      struct run_failure *failure)
{
    struct stat *status = &program->status;
    int error = pack_root_place(program->root, name, place);

    errno = -error;
    if (error != 0 || stat(place, status) != 0)
        return run_fail_as(failure,
                           errno == ENOENT || errno == ENOTDIR ? RUN_EXIT_NOT_FOUND
                                                               : RUN_EXIT_NOT_EXECUTABLE,
                           "%s: %s", name, strerror(errno));
    if (!S_ISREG(status->st_mode))
        return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: not a file that can be executed",
                           name);
    if (access(place, X_OK) == 0)
        return 0;
    if (!pack_source_explain(name, RUN_EXIT_NOT_EXECUTABLE, failure))
        return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: %s; chmod +x makes it executable",
                           name, strerror(errno));
    return -1;
}

static int take_interpreter(const char *name, const uint8_t *file, const struct elf64_image *image,
                            struct pack_program *program, struct run_failure *failure)
{
    const char *path = (const char *)file + image->interpreter_offset;
    char place[PATH_MAX];
    int error;

    if (path[0] != '/')
        return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE,
                           "%s: its interpreter '%.*s' is not an absolute path", name, 200, path);
    error = -pack_root_place(program->root, path, place);
    if (error == 0 && access(place, X_OK) != 0)
        error = errno;
    if (error != 0)
        return run_fail_as(
            failure, RUN_EXIT_NOT_FOUND,
            "%s: its interpreter %.*s is not here: %s; install the C library that the "
            "program was built for",
            name, 200, path, strerror(error));
    snprintf(program->interpreter, sizeof program->interpreter, "%s", path);
    return 0;
}

static int check_image(const char *name, const uint8_t *file, struct pack_program *program,
                       struct run_failure *failure)
{
    struct elf64_image image;
    enum elf64_status status = elf64_parse(file, (size_t)program->status.st_size, &image);

    if (status != ELF64_OK && pack_source_explain(name, RUN_EXIT_NOT_EXECUTABLE, failure))
        return -1;
    if (status != ELF64_OK)
        return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: %s", name,
                           elf64_status_text(status));
    if (image.interpreter_bytes > 0 && take_interpreter(name, file, &image, program, failure) != 0)
        return -1;
    program->memory_bytes = image.high - image.low;
    for (uint64_t i = 0; i < image.build_id_bytes && i < 64; i++)
        snprintf(program->build_id + 2 * i, 3, "%02x", file[image.build_id_offset + i]);
    return 0;
}

int pack_program_search(const char *root, const char *name, char found[PATH_MAX],
                        struct run_failure *failure)
{
    return root != NULL ? pack_root_search(root, name, found, failure)
                        : search_path(name, found, failure);
}

static int search(const char *name, struct pack_program *program, char found[PATH_MAX],
                  struct run_failure *failure)
{
    program->searched = true;
    return pack_program_search(program->root, name, found, failure);
}

/* Replaces `env NAME` by NAME, which it would exec. */
static int replace_env(const char *name, const struct pack_script *script,
                       struct pack_program *program, char next[PATH_MAX],
                       struct run_failure *failure)
{
    struct pack_script_env env;

    if (pack_script_parse_env(script, &env) != 0)
        return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE,
                           "%s: its first line asks for '%s %s', and of env only NAME and -S are "
                           "understood; run the interpreter with the script as argument",
                           name, script->interpreter, script->argument);
    if (insert(&program->settings, &program->setting_count, program->setting_count, env.settings,
               env.setting_count) != 0 ||
        insert(&program->arguments, &program->argument_count, 0, env.words, env.word_count) != 0)
        return out_of_memory(failure);
    if (strchr(env.words[0], '/') == NULL) {
        return search(env.words[0], program, next, failure);
    }
    snprintf(next, PATH_MAX, "%s", env.words[0]);
    return 0;
}

/* What comes from a tree starts in its root. */
static int absolute_path(const struct pack_program *program, const char *path,
                         char absolute[PATH_MAX])
{
    return pack_path_absolute(path, program->root != NULL ? "/" : NULL, absolute);
}

/* Puts the interpreter before the arguments, as Linux does, and stores its path in `next`. */
static int take_script(const char *name, const char *found, const void *file,
                       struct pack_program *program, char next[PATH_MAX],
                       struct run_failure *failure)
{
    const char *strings[2];
    size_t count = 0;
    char absolute[PATH_MAX];
    struct pack_script script;

    if (pack_script_parse(file, (size_t)program->status.st_size, &script) != 0)
        return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE,
                           "%s: a script whose first line names no interpreter", name);
    if (program->script_count == PACK_PROGRAM_SCRIPTS_MAX)
        return run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE,
                           "%s: too many scripts that interpret each other", name);
    if (absolute_path(program, found, absolute) != 0 ||
        (program->scripts[program->script_count] = strdup(absolute)) == NULL)
        return out_of_memory(failure);
    program->script_count++;
    free(program->arguments[0]); /* the script's path replaces its name */
    program->arguments[0] = strdup(found);
    if (program->arguments[0] == NULL)
        return out_of_memory(failure);
    program->searched = false;
    if (strcmp(text_base_name(script.interpreter), "env") == 0)
        return replace_env(name, &script, program, next, failure);
    strings[count++] = script.interpreter;
    if (script.argument[0] != 0)
        strings[count++] = script.argument;
    if (insert(&program->arguments, &program->argument_count, 0, strings, count) != 0)
        return out_of_memory(failure);
    snprintf(next, PATH_MAX, "%s", script.interpreter);
    return 0;
}

/* Stores the program's paths in the guest. */
static int take_paths(const char *found, const char *place, struct pack_program *program)
{
    char real[PATH_MAX];

    if (realpath(place, real) == NULL)
        return -errno;
    pack_root_name(program->root, real, program->path);
    return absolute_path(program, found, program->found);
}

/* Examines the file `found`, which is here at `place`.  Returns 1 if it is a script; `next` is then
 * its interpreter. */
static int examine(const char *name, const char *found, const char *place,
                   struct pack_program *program, char next[PATH_MAX], struct run_failure *failure)
{
    int fd = open(place, O_RDONLY | O_CLOEXEC);
    void *file = MAP_FAILED;
    size_t bytes = 0;
    int result;

    if (fd < 0 || fstat(fd, &program->status) != 0)
        result = run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: %s", name, strerror(errno));
    else if ((bytes = (size_t)program->status.st_size) == 0)
        result = run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: the file is empty", name);
    else if ((result = take_paths(found, place, program)) != 0)
        result = run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: %s", name, strerror(-result));
    if (result == 0 && bytes != 0) {
        file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file == MAP_FAILED)
            result = run_fail_as(failure, RUN_EXIT_NOT_EXECUTABLE, "%s: %s", name, strerror(errno));
    }
    if (result == 0 && pack_script_is(file, bytes))
        result = take_script(name, found, file, program, next, failure) != 0 ? -1 : 1;
    else if (result == 0)
        result = check_image(name, file, program, failure);
    if (file != MAP_FAILED)
        munmap(file, bytes);
    if (fd >= 0)
        close(fd);
    return result;
}

int pack_program_find(const struct options *o, struct pack_program *program,
                      struct run_failure *failure)
{
    const char *name = o->program[0];
    char found[PATH_MAX];
    char place[PATH_MAX];
    char next[PATH_MAX];
    int result;

    *program = (struct pack_program){.root = pack_root_of(o)};
    if (name[0] == 0)
        return run_fail_as(failure, RUN_EXIT_NOT_FOUND, "the program's name is empty");
    if (insert(&program->arguments, &program->argument_count, 0, (const char *const *)o->program,
               o->program_count) != 0)
        return out_of_memory(failure);
    if (strchr(name, '/') == NULL && search(name, program, found, failure) != 0)
        return -1;
    if (!program->searched && (size_t)snprintf(found, sizeof found, "%s", name) >= sizeof found)
        return run_fail_as(failure, RUN_EXIT_NOT_FOUND, "%s: %s", name, strerror(ENAMETOOLONG));
    do {
        result = check_file(found, program, place, failure);
        if (result == 0)
            result = examine(found, found, place, program, next, failure);
        memcpy(found, next, result == 1 ? strlen(next) + 1 : 0);
    } while (result == 1);
    return result;
}

static void free_strings(char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(strings[i]);
}

void pack_program_free(struct pack_program *program)
{
    free_strings(program->arguments, program->argument_count);
    free_strings(program->settings, program->setting_count);
    free_strings(program->scripts, program->script_count);
    free(program->arguments);
    free(program->settings);
    program->arguments = program->settings = NULL;
    program->argument_count = program->setting_count = program->script_count = 0;
}
