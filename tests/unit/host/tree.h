/* A temporary directory with small files, in place of /sys and /proc. */
#ifndef TESTS_UNIT_HOST_TREE_H
#define TESTS_UNIT_HOST_TREE_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/test.h"

struct tree {
    char root[64];
};

static inline void tree_init(struct tree *t)
{
    strcpy(t->root, "/tmp/microtome-test-XXXXXX");
    assert_non_null(mkdtemp(t->root));
}

/* Writes a file below the root and makes its directories. */
static inline void tree_put(const struct tree *t, const char *path, const char *text)
{
    char full[PATH_MAX];
    FILE *file;

    snprintf(full, sizeof full, "%s/%s", t->root, path);
    for (char *slash = full + strlen(t->root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        (void)mkdir(full, 0755);
        *slash = '/';
    }
    file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static inline int tree_remove_one(const char *path, const struct stat *status, int type,
                                  struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void tree_free(struct tree *t)
{
    (void)nftw(t->root, tree_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
