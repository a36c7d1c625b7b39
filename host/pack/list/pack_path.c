/* Handles paths as text. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/pack/list/pack_path.h"

int pack_path_absolute(const char *path, const char *directory, char absolute[PATH_MAX])
{
    size_t used = 0;

    absolute[0] = 0;
    if (path[0] != '/') {
        if (directory != NULL && strlen(directory) >= PATH_MAX)
            return -ENAMETOOLONG;
        if (directory != NULL)
            strcpy(absolute, directory);
        else if (getcwd(absolute, PATH_MAX) == NULL)
            return -errno;
        used = strcmp(absolute, "/") == 0 ? 0 : strlen(absolute);
    }
    while (*path != 0) {
        size_t bytes = strcspn(path, "/");

        if (bytes > 1 || (bytes == 1 && path[0] != '.')) {
            if (used + bytes + 2 > PATH_MAX)
                return -ENAMETOOLONG;
            absolute[used++] = '/';
            memcpy(absolute + used, path, bytes);
            used += bytes;
        }
        path += bytes + (path[bytes] == '/');
    }
    if (used == 0)
        absolute[used++] = '/';
    absolute[used] = 0;
    return 0;
}

void pack_path_parent(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash != NULL)
        slash[slash == path] = 0;
}

bool pack_path_is_below(const char *path, const char *directory)
{
    size_t bytes = strlen(directory);

    return strncmp(path, directory, bytes) == 0 && (path[bytes] == 0 || path[bytes] == '/');
}
