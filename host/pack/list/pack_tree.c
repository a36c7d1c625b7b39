/* Lists whole trees for a run's archive. */
#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "host/pack/list/pack_list.h"
#include "host/pack/list/pack_list_entries.h"

struct tree {
    struct pack_list *list;
    const struct pack_tree_rules *rules;
    const char *name; /* of the tree in the guest */
    size_t prefix; /* bytes of the tree's path on the host */
    size_t count_before;
    uint64_t bytes_before;
    char parent[PATH_MAX]; /* the last directory that was looked up, on the host */
    char parent_name[PATH_MAX]; /* and in the guest */
};

static int compare(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_excepted(const struct tree *t, const FTSENT *entry)
{
    const char *relative = entry->fts_path + t->prefix;

    if (t->rules == NULL || t->rules->except == NULL || *relative == 0)
        return false;
    relative += strspn(relative, "/");
    for (const char *const *pattern = t->rules->except; *pattern != NULL; pattern++)
        if (fnmatch(*pattern, entry->fts_name, FNM_PATHNAME) == 0 ||
            fnmatch(*pattern, relative, FNM_PATHNAME) == 0)
            return true;
    return false;
}

/* Two trees may overlap, and a directory in one may be a link in the other. */
static int find_parent(struct tree *t, const char *directory)
{
    char path[PATH_MAX];
    const struct pack_entry *found;

    if (strcmp(directory, t->parent) == 0)
        return 0;
    if ((size_t)snprintf(path, sizeof path, "/%s%s", t->name, directory + t->prefix) >= sizeof path)
        return -ENAMETOOLONG;
    found = pack_list_find(t->list, path);
    if (found == NULL && path[strspn(path, "/")] != 0)
        return -ENOENT;
    snprintf(t->parent_name, sizeof t->parent_name, "%s", found != NULL ? found->name : "");
    snprintf(t->parent, sizeof t->parent, "%s", directory);
    return 0;
}

static int add(struct tree *t, FTSENT *entry)
{
    char directory[PATH_MAX];
    char name[PATH_MAX];
    char *slash;
    int result;

    if (entry->fts_level == FTS_ROOTLEVEL)
        return 0;
    snprintf(directory, sizeof directory, "%s", entry->fts_path);
    slash = strrchr(directory, '/');
    if (slash != NULL)
        *slash = 0;
    result = find_parent(t, directory);
    if (result != 0)
        return result;
    if ((size_t)snprintf(name, sizeof name, "%s%s%s", t->parent_name,
                         t->parent_name[0] != 0 ? "/" : "", entry->fts_name) >= sizeof name)
        return -ENAMETOOLONG;
    return pack_list_put(t->list, name, entry->fts_accpath, entry->fts_statp);
}

static int visit(struct tree *t, FTS *walk, FTSENT *entry)
{
    const struct pack_tree_rules *rules = t->rules;
    int result;

    switch (entry->fts_info) {
    case FTS_D:
    case FTS_F:
    case FTS_SL:
    case FTS_SLNONE:
        if (is_excepted(t, entry)) {
            (void)fts_set(walk, entry, FTS_SKIP);
            return 0;
        }
        result = add(t, entry);
        break;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return -entry->fts_errno;
    default: /* a directory's second visit, and entries that are not files, directories or links */
        return 0;
    }
    if (result == 0 && rules != NULL && rules->bytes_max != 0 &&
        (t->list->bytes - t->bytes_before > rules->bytes_max ||
         t->list->count - t->count_before > rules->files_max))
        return -EFBIG;
    return result;
}

/* Lists the targets of links in the tree that are readable files. */
static int follow_links(struct tree *t)
{
    size_t end = t->list->count;

    for (size_t i = t->count_before; i < end; i++) {
        const struct pack_entry *entry = t->list->entries[i];
        char path[PATH_MAX + 1];
        struct stat status;

        if (!S_ISLNK(entry->status.st_mode))
            continue;
        snprintf(path, sizeof path, "/%s", entry->name);
        if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        if (pack_list_add_path(t->list, path, NULL) == -ENOMEM)
            return -ENOMEM;
    }
    return 0;
}

/* The bytes of a path without the slashes at its end. */
static size_t prefix_bytes(const char *path)
{
    size_t bytes = strlen(path);

    while (bytes > 0 && path[bytes - 1] == '/')
        bytes--;
    return bytes;
}

int pack_list_add_tree(struct pack_list *l, const char *path, const char *name,
                       const struct pack_tree_rules *rules, char *bad)
{
    struct tree t = {
        .list = l,
        .rules = rules,
        .name = name,
        .prefix = prefix_bytes(path),
        .count_before = l->count,
        .bytes_before = l->bytes,
        .parent = "\n", /* matches no directory */
    };
    char *roots[] = {t.prefix != 0 ? strndup(path, t.prefix) : strdup("/"), NULL};
    FTS *walk = roots[0] == NULL ? NULL : fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare);
    FTSENT *entry;
    int result = walk == NULL ? -errno : 0;

    if (bad != NULL)
        snprintf(bad, PATH_MAX, "%s", path);
    while (result == 0 && (entry = fts_read(walk)) != NULL) {
        result = visit(&t, walk, entry);
        if (result != 0 && bad != NULL)
            snprintf(bad, PATH_MAX, "%s", entry->fts_path);
    }
    if (walk != NULL)
        fts_close(walk);
    free(roots[0]);
    if (result == 0 && rules != NULL && rules->follow)
        result = follow_links(&t);
    if (result == -EFBIG)
        pack_list_truncate(l, t.count_before);
    return result;
}
