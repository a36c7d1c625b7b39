/* Finds a program by name. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/text.h"
#include "host/pack/pack_path.h"
#include "host/pack/pack_search.h"
#include "host/pack/pack_source.h"

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

int pack_search_path(const char *name, char found[PATH_MAX], struct run_failure *failure)
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
