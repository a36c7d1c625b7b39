/* Lists what goes into a run's archive. */
#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/base/text.h"
#include "host/pack/list/pack_list.h"
#include "host/pack/list/pack_list_entries.h"
#include "host/pack/list/pack_path.h"

#define LINKS_MAX 40

static int compare_entries(const void *a, const void *b)
{
    const struct pack_entry *const x = a;
    const struct pack_entry *const y = b;

    return strcmp(x->name, y->name);
}

static struct pack_entry *find(const struct pack_list *l, const char *name)
{
    const struct pack_entry wanted = {.name = (char *)name};
    struct pack_entry **found = tfind(&wanted, &l->names, compare_entries);

    return found != NULL ? *found : NULL;
}

static void free_entry(struct pack_entry *entry)
{
    if (entry == NULL)
        return;
    free(entry->name);
    free(entry->before);
    free(entry->source);
    free(entry->target);
    free(entry);
}

static void keep_node(void *node)
{
    (void)node; /* entries are freed by their array */
}

void pack_list_free(struct pack_list *l)
{
    tdestroy(l->names, keep_node);
    for (size_t i = 0; i < l->count; i++)
        free_entry(l->entries[i]);
    for (size_t i = 0; i < l->item_count; i++) {
        free(l->items[i].path);
        free(l->items[i].why);
    }
    free(l->entries);
    free(l->items);
    *l = (struct pack_list){0};
}

int pack_list_begin(struct pack_list *l, const char *path, bool stable, const char *why, ...)
{
    struct pack_item item = {.path = strdup(path), .stable = stable};
    va_list arguments;
    int bytes;

    va_start(arguments, why);
    bytes = vasprintf(&item.why, why, arguments);
    va_end(arguments);
    if (bytes < 0)
        item.why = NULL;
    if (item.path == NULL || item.why == NULL ||
        array_grow(&l->items, l->item_count, sizeof *l->items) != 0) {
        free(item.path);
        free(item.why);
        return -ENOMEM;
    }
    l->items[l->item_count++] = item;
    return 0;
}

/* Takes ownership of what the entry points to, even on failure. */
static int put(struct pack_list *l, const struct pack_entry *draft)
{
    struct pack_entry *entry = malloc(sizeof *entry);

    if (entry != NULL)
        *entry = *draft;
    if (entry == NULL || entry->name == NULL ||
        array_grow(&l->entries, l->count, sizeof(struct pack_entry *)) != 0 ||
        (l->item_count == 0 && pack_list_begin(l, "/", false, "the run") != 0) ||
        tsearch(entry, &l->names, compare_entries) == NULL) {
        free(draft->name);
        free(draft->source);
        free(draft->target);
        free(entry);
        return -ENOMEM;
    }
    entry->item = l->item_count - 1;
    l->entries[l->count++] = entry;
    if (S_ISREG(entry->status.st_mode)) {
        l->items[entry->item].files++;
        l->items[entry->item].bytes += (uint64_t)entry->status.st_size;
        l->bytes += (uint64_t)entry->status.st_size;
    }
    return 0;
}

static int put_directory(struct pack_list *l, const char *name, mode_t permissions)
{
    struct pack_entry entry = {.name = strdup(name)};

    entry.status.st_mode = S_IFDIR | permissions; /* no times: those of /tmp keep changing */
    return put(l, &entry);
}

static int put_link(struct pack_list *l, const char *name, const char *path,
                    const struct stat *status)
{
    char target[PATH_MAX];
    ssize_t bytes = readlink(path, target, sizeof target);
    struct pack_entry entry = {.name = strdup(name), .status = *status};

    if (bytes >= 0 && bytes < PATH_MAX)
        entry.target = strndup(target, (size_t)bytes);
    if (entry.target != NULL)
        return put(l, &entry);
    free(entry.name);
    return bytes < 0 ? -errno : bytes == PATH_MAX ? -ENAMETOOLONG : -ENOMEM;
}

int pack_list_put(struct pack_list *l, const char *name, const char *path,
                  const struct stat *status)
{
    struct pack_entry entry = {.status = *status};

    if (find(l, name) != NULL)
        return 0;
    if (S_ISDIR(status->st_mode))
        return put_directory(l, name, status->st_mode & 07777);
    if (S_ISLNK(status->st_mode))
        return put_link(l, name, path, status);
    if (!S_ISREG(status->st_mode))
        return -ENODEV;
    entry.name = strdup(name);
    entry.source = strdup(path);
    if (entry.source == NULL) {
        free(entry.name);
        return -ENOMEM;
    }
    return put(l, &entry);
}

void pack_list_truncate(struct pack_list *l, size_t count)
{
    while (l->count > count) {
        struct pack_entry *entry = l->entries[--l->count];

        if (S_ISREG(entry->status.st_mode)) {
            l->items[entry->item].files--;
            l->items[entry->item].bytes -= (uint64_t)entry->status.st_size;
            l->bytes -= (uint64_t)entry->status.st_size;
        }
        tdelete(entry, &l->names, compare_entries);
        free_entry(entry);
    }
}

/* The state of following a path: `done` is the guest's name of what was reached. */
struct walk {
    char done[PATH_MAX]; /* "/usr/lib"; "" is the root */
    char rest[PATH_MAX];
    unsigned links;
};

static void walk_up(struct walk *w)
{
    char *slash = strrchr(w->done, '/');

    if (slash != NULL)
        *slash = 0;
}

static int walk_link(struct walk *w, const char *target, const char *after)
{
    char rest[PATH_MAX];

    if (++w->links > LINKS_MAX)
        return -ELOOP;
    if ((size_t)snprintf(rest, sizeof rest, "%s/%s", target, after) >= sizeof rest)
        return -ENAMETOOLONG;
    if (target[0] == '/')
        w->done[0] = 0;
    else
        walk_up(w);
    memcpy(w->rest, rest, strlen(rest) + 1);
    return 0;
}

/* Lists what is at w->done, unless it is listed, and stores its entry. */
static int reach(struct pack_list *l, const struct walk *w, const struct pack_entry **entry)
{
    char source[2 * PATH_MAX];
    struct stat status;
    int result;

    *entry = find(l, w->done + 1);
    if (*entry != NULL)
        return 0;
    snprintf(source, sizeof source, "%s%s", l->root != NULL ? l->root : "", w->done);
    if (lstat(source, &status) != 0)
        return -errno;
    if (S_ISDIR(status.st_mode))
        status.st_mode = S_IFDIR | (w->rest[0] != 0 ? 0755 : status.st_mode & 07777);
    result = pack_list_put(l, w->done + 1, source, &status);
    *entry = find(l, w->done + 1);
    return result;
}

/* Removes the first component of w->rest.  Returns its length, 0 at the end. */
static size_t take_component(struct walk *w, char component[NAME_MAX + 1])
{
    size_t start = strspn(w->rest, "/");
    size_t bytes = strcspn(w->rest + start, "/");
    size_t next = start + bytes + strspn(w->rest + start + bytes, "/");

    if (bytes <= NAME_MAX) {
        memcpy(component, w->rest + start, bytes);
        component[bytes] = 0;
    }
    memmove(w->rest, w->rest + next, strlen(w->rest + next) + 1);
    return bytes;
}

static int step(struct pack_list *l, struct walk *w, const char *component, bool add)
{
    const struct pack_entry *entry;
    char after[PATH_MAX];
    int result = 0;

    if (strcmp(component, ".") == 0)
        return 0;
    if (strcmp(component, "..") == 0) {
        walk_up(w);
        return 0;
    }
    if (strlen(w->done) + 1 + strlen(component) >= PATH_MAX)
        return -ENAMETOOLONG;
    strcat(strcat(w->done, "/"), component);
    if (add)
        result = reach(l, w, &entry);
    else if ((entry = find(l, w->done + 1)) == NULL)
        result = -ENOENT;
    if (result != 0)
        return result;
    if (S_ISLNK(entry->status.st_mode)) {
        memcpy(after, w->rest, strlen(w->rest) + 1);
        return walk_link(w, entry->target, after);
    }
    return w->rest[0] != 0 && !S_ISDIR(entry->status.st_mode) ? -ENOTDIR : 0;
}

static int walk(struct pack_list *l, const char *path, struct walk *w, bool add)
{
    char component[NAME_MAX + 1];
    size_t bytes;
    int result = 0;

    w->done[0] = 0;
    w->links = 0;
    if ((size_t)snprintf(w->rest, sizeof w->rest, "%s", path) >= sizeof w->rest)
        return -ENAMETOOLONG;
    while (result == 0 && (bytes = take_component(w, component)) != 0)
        result = bytes > NAME_MAX ? -ENAMETOOLONG : step(l, w, component, add);
    return result;
}

int pack_list_add_path(struct pack_list *l, const char *path, char name[PATH_MAX])
{
    struct walk w;
    int result = walk(l, path, &w, true);

    if (result == 0 && name != NULL)
        strcpy(name, w.done[0] != 0 ? w.done + 1 : "");
    return result;
}

int pack_list_add_directory(struct pack_list *l, const char *path, mode_t permissions)
{
    char name[PATH_MAX];
    int result = pack_path_absolute(path, "/", name);

    for (char *end = name; result == 0 && end != NULL;) {
        end = strchr(end + 1, '/');
        if (end != NULL)
            *end = 0;
        if (name[1] != 0 && find(l, name + 1) == NULL)
            result = put_directory(l, name + 1, end != NULL ? 0755 : permissions);
        if (end != NULL)
            *end = '/';
    }
    return result;
}

const struct pack_entry *pack_list_find(const struct pack_list *l, const char *path)
{
    struct walk w;

    /* Without `add`, walk does not change the list. */
    return walk((struct pack_list *)l, path, &w, false) == 0 && w.done[0] != 0 ? find(l, w.done + 1)
                                                                               : NULL;
}

int pack_list_put_before(struct pack_list *l, const char *path, const char *text)
{
    const struct pack_entry *found = pack_list_find(l, path);
    struct pack_entry *entry = (struct pack_entry *)found; /* belongs to the list */

    if (entry == NULL || !S_ISREG(entry->status.st_mode) || entry->before != NULL)
        return 0;
    entry->before = strdup(text);
    return entry->before != NULL ? 0 : -ENOMEM;
}

void pack_list_print(const struct pack_list *l, FILE *out)
{
    char size[TEXT_QUANTITY_BYTES];
    char count[TEXT_QUANTITY_BYTES];

    for (size_t i = 0; i < l->item_count; i++) {
        const struct pack_item *item = &l->items[i];

        if (item->files == 1)
            fprintf(out, "hr: packed %s (%s): %s\n", item->path, text_bytes(size, item->bytes),
                    item->why);
        else if (item->files > 1)
            fprintf(out, "hr: packed %s (%s files, %s): %s\n", item->path,
                    text_count(count, item->files), text_bytes(size, item->bytes), item->why);
    }
}
