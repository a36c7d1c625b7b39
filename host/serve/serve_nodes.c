/* Keeps the nodes of the host's files, for their numbers and names. */
#include "host/serve/serve_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/base/array.h"
#include "include/run_serve.h"
#include "lib/hash.h"

#define BUCKETS_FIRST 1024u

_Static_assert(SERVE_NODES_NAME_MAX == RUN_SERVE_NAME_MAX, "the length of a name");
_Static_assert(SERVE_NODES_MAX *(SERVE_NODES_NAME_MAX + 1ull) <= UINT32_MAX, "a name's place");

static size_t bucket_of(const struct serve_nodes *n, uint32_t parent, const char *name)
{
    uint64_t hash = hash_bytes(HASH_BYTES_START, name, strlen(name));

    return hash_mix(hash, parent) & (n->bucket_count - 1);
}

static int add_name(struct serve_nodes *n, const char *name, uint32_t *place)
{
    size_t bytes = strlen(name) + 1;

    if (n->names_used + bytes > n->names_room) {
        size_t room = 2 * n->names_room + SERVE_NODES_NAME_MAX + 1;
        char *grown = realloc(n->names, room);

        if (grown == NULL)
            return -ENOMEM;
        n->names = grown;
        n->names_room = room;
    }
    *place = (uint32_t)n->names_used;
    memcpy(n->names + n->names_used, name, bytes);
    n->names_used += bytes;
    return 0;
}

static void enter(struct serve_nodes *n, uint32_t number)
{
    struct serve_node *node = &n->all[number];
    uint32_t *bucket = &n->buckets[bucket_of(n, node->parent, n->names + node->name)];

    node->next = *bucket;
    *bucket = number;
}

/* Keeps the number of buckets above that of nodes. */
static int grow_buckets(struct serve_nodes *n)
{
    size_t count = n->bucket_count != 0 ? 2 * n->bucket_count : BUCKETS_FIRST;
    uint32_t *grown;

    if (n->count < n->bucket_count)
        return 0;
    grown = calloc(count, sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    free(n->buckets);
    n->buckets = grown;
    n->bucket_count = count;
    for (uint32_t i = RUN_SERVE_ROOT; i < n->count; i++)
        enter(n, i);
    return 0;
}

int serve_nodes_add(struct serve_nodes *n, uint32_t parent, const char *name,
                    const struct serve_file *file, uint32_t *number)
{
    struct serve_node node = {.file = *file, .parent = parent};
    int error;

    if (n->count > SERVE_NODES_MAX)
        return -ENFILE;
    error = grow_buckets(n);
    if (error == 0)
        error = array_grow(&n->all, n->count, sizeof *n->all);
    if (error == 0)
        error = add_name(n, name, &node.name);
    if (error != 0)
        return error;
    *number = (uint32_t)n->count++;
    n->all[*number] = node;
    enter(n, *number);
    return 0;
}

int serve_nodes_init(struct serve_nodes *n, const struct serve_file *root)
{
    uint32_t number;
    int error;

    *n = (struct serve_nodes){.count = 0};
    error = array_grow(&n->all, 0, sizeof *n->all);
    if (error != 0)
        return error;
    n->all[0] = (struct serve_node){.parent = 0};
    n->count = RUN_SERVE_ROOT; /* number 0 is none */
    error = serve_nodes_add(n, 0, "", root, &number);
    if (error != 0)
        serve_nodes_free(n);
    return error;
}

void serve_nodes_free(struct serve_nodes *n)
{
    free(n->all);
    free(n->names);
    free(n->buckets);
    *n = (struct serve_nodes){.count = 0};
}

struct serve_node *serve_nodes_get(const struct serve_nodes *n, uint64_t number)
{
    return number != 0 && number < n->count ? &n->all[number] : NULL;
}

uint32_t serve_nodes_find(const struct serve_nodes *n, uint32_t parent, const char *name)
{
    uint32_t number = n->buckets[bucket_of(n, parent, name)];

    while (number != 0 &&
           (n->all[number].parent != parent || strcmp(n->names + n->all[number].name, name) != 0))
        number = n->all[number].next;
    return number;
}

int serve_nodes_path(const struct serve_nodes *n, uint32_t number, char path[PATH_MAX])
{
    size_t at = PATH_MAX - 1;

    if (number == RUN_SERVE_ROOT) {
        memcpy(path, ".", 2);
        return 0;
    }
    path[at] = 0;
    for (; number != RUN_SERVE_ROOT; number = n->all[number].parent) {
        const char *name = n->names + n->all[number].name;
        size_t bytes = strlen(name);

        if (bytes + 1 > at)
            return -ENAMETOOLONG;
        if (path[at] != 0)
            path[--at] = '/';
        at -= bytes;
        memcpy(path + at, name, bytes);
    }
    memmove(path, path + at, PATH_MAX - at);
    return 0;
}

bool serve_nodes_is_same(const struct serve_file *a, const struct serve_file *b)
{
    if (a->device != b->device || a->inode != b->inode || (a->mode & S_IFMT) != (b->mode & S_IFMT))
        return false;
    return S_ISDIR(a->mode) || (a->bytes == b->bytes && a->modified == b->modified);
}
