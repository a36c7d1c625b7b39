/* Indexes the run archive by path and resolves paths in it. */
#include "guest/fs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/log.h"
#include "guest/phys.h"
#include "lib/cpio.h"

#define LINKS_MAX 40
#define MODE_IMPLIED_DIRECTORY (S_IFDIR | 0755u)

static struct fs_node *nodes;
static uint32_t node_count;
static uint32_t *buckets; /* open addressing: index of a node + 1, 0 is empty */
static uint64_t bucket_count; /* a power of two, at least twice the nodes */
static char *implied_names; /* room for the names of directories without an entry */

/* FNV-1a */
static uint64_t hash(const char *name, size_t bytes)
{
    uint64_t h = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < bytes; i++)
        h = (h ^ (uint8_t)name[i]) * 0x100000001b3ull;
    return h;
}

/* The bucket that holds the name, or the empty one where it belongs. */
static uint32_t *bucket_of(const char *name, size_t bytes)
{
    uint64_t at = hash(name, bytes);

    for (;; at++) {
        uint32_t *bucket = &buckets[at & (bucket_count - 1)];
        const char *other = *bucket ? nodes[*bucket - 1].name : NULL;

        if (!other || (strncmp(other, name, bytes) == 0 && other[bytes] == '\0'))
            return bucket;
    }
}

static const struct fs_node *lookup(const char *name, size_t bytes)
{
    const uint32_t *bucket = bucket_of(name, bytes);

    return *bucket ? &nodes[*bucket - 1] : NULL;
}

static struct fs_node *add(const char *name, size_t bytes)
{
    uint32_t *bucket = bucket_of(name, bytes);

    if (!*bucket) {
        nodes[node_count] = (struct fs_node){.name = name, .inode = node_count + 1};
        *bucket = ++node_count;
    }
    return &nodes[*bucket - 1];
}

static void add_parents(const char *name)
{
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t bytes = (size_t)(slash - name);

        if (lookup(name, bytes))
            continue;
        memcpy(implied_names, name, bytes);
        implied_names[bytes] = '\0';
        add(implied_names, bytes)->mode = MODE_IMPLIED_DIRECTORY;
        implied_names += bytes + 1;
    }
}

/* "./a" and "/a" mean "a"; "." means the root. */
static const char *clean_name(const char *name)
{
    for (;;) {
        if (name[0] == '.' && (name[1] == '/' || name[1] == '\0'))
            name++;
        else if (name[0] == '/')
            name++;
        else
            return name;
    }
}

struct survey {
    uint64_t nodes; /* at most */
    uint64_t name_bytes; /* of implied directories, at most */
};

static int survey_archive(const void *archive, size_t bytes, struct survey *survey)
{
    struct cpio_reader reader;
    struct cpio_entry entry;
    enum cpio_status status;

    *survey = (struct survey){.nodes = 1};
    cpio_init(&reader, archive, bytes);
    while ((status = cpio_next(&reader, &entry)) == CPIO_OK) {
        survey->nodes++;
        for (const char *slash = strchr(entry.name, '/'); slash; slash = strchr(slash + 1, '/')) {
            survey->nodes++;
            survey->name_bytes += (uint64_t)(slash - entry.name) + 1;
        }
    }
    if (status == CPIO_END)
        return 0;
    log_notice("the run archive is damaged at byte %lu: %s", reader.offset,
               cpio_status_text(status));
    return -EINVAL;
}

static void *allocate(uint64_t bytes)
{
    unsigned order = phys_order(bytes);
    uint64_t block = order <= PHYS_ORDER_MAX ? phys_alloc(order) : 0;

    return block ? phys_pointer(block) : NULL;
}

static int make_tables(const struct survey *survey)
{
    for (bucket_count = 64; bucket_count < 2 * survey->nodes;)
        bucket_count *= 2;
    nodes = allocate(survey->nodes * sizeof *nodes);
    buckets = allocate(bucket_count * sizeof *buckets);
    implied_names = allocate(survey->name_bytes);
    if (!nodes || !buckets || !implied_names) {
        log_notice("no memory to index the %lu files of the run archive", survey->nodes);
        return -ENOMEM;
    }
    memset(buckets, 0, bucket_count * sizeof *buckets);
    node_count = 0;
    return 0;
}

int fs_init(const void *archive, size_t bytes)
{
    struct cpio_reader reader;
    struct cpio_entry entry;
    struct survey survey;
    int error = survey_archive(archive, bytes, &survey);

    if (!error)
        error = make_tables(&survey);
    if (error)
        return error;
    add("", 0)->mode = MODE_IMPLIED_DIRECTORY;
    cpio_init(&reader, archive, bytes);
    while (cpio_next(&reader, &entry) == CPIO_OK) {
        const char *name = clean_name(entry.name);
        struct fs_node *node;

        add_parents(name);
        node = add(name, strlen(name));
        node->data = entry.data;
        node->bytes = entry.bytes;
        node->mode = entry.mode;
    }
    return 0;
}

/* A path on its way: `done` is the node reached, `rest` what is still to be walked. */
struct walk {
    char done[FS_PATH_MAX];
    char rest[FS_PATH_MAX];
    char link[FS_PATH_MAX];
    size_t done_bytes;
    unsigned links;
    bool follow;
};
_Static_assert(sizeof(struct walk) <= 4 * PAGE_BYTES, "allocated as 4 pages");

static void walk_up(struct walk *w)
{
    while (w->done_bytes && w->done[w->done_bytes - 1] != '/')
        w->done_bytes--;
    if (w->done_bytes)
        w->done_bytes--;
    w->done[w->done_bytes] = '\0';
}

/* Puts a link's target in front of what is left to walk. */
static int walk_link(struct walk *w, const struct fs_node *node, const char *after)
{
    size_t rest_bytes = strlen(after);

    if (++w->links > LINKS_MAX)
        return -ELOOP;
    if (node->bytes == 0)
        return -ENOENT;
    if (node->bytes + rest_bytes + 1 > FS_PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(w->link, node->data, node->bytes);
    memcpy(w->link + node->bytes, after, rest_bytes + 1);
    memcpy(w->rest, w->link, node->bytes + rest_bytes + 1);
    if (w->rest[0] == '/') {
        w->done_bytes = 0;
        w->done[0] = '\0';
    } else {
        walk_up(w);
    }
    return 0;
}

/* Enters the component name[0..bytes-1]; `after` is what follows it in w->rest.  1: a link was
 * followed, w->rest is to be walked from its beginning.
 */
static int walk_down(struct walk *w, const char *name, size_t bytes, const char *after)
{
    size_t separator = w->done_bytes ? 1 : 0;
    const struct fs_node *node;
    int error;

    if (w->done_bytes + separator + bytes + 1 > FS_PATH_MAX)
        return -ENAMETOOLONG;
    if (separator)
        w->done[w->done_bytes] = '/';
    memcpy(w->done + w->done_bytes + separator, name, bytes);
    w->done_bytes += separator + bytes;
    w->done[w->done_bytes] = '\0';
    node = lookup(w->done, w->done_bytes);
    if (!node)
        return -ENOENT;
    if (S_ISLNK(node->mode) && (*after || w->follow)) {
        error = walk_link(w, node, after);
        return error ? error : 1;
    }
    return *after && !S_ISDIR(node->mode) ? -ENOTDIR : 0;
}

static int walk_path(struct walk *w, const char *path)
{
    const char *p = w->rest;

    if (strlen(path) + 1 > FS_PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(w->rest, path, strlen(path) + 1);
    while (*p) {
        const char *slash = strchr(p, '/');
        size_t bytes = slash ? (size_t)(slash - p) : strlen(p);
        const char *after = p + bytes;
        int result = 0;

        if (bytes == 2 && p[0] == '.' && p[1] == '.')
            walk_up(w);
        else if (bytes && !(bytes == 1 && p[0] == '.'))
            result = walk_down(w, p, bytes, after);
        if (result < 0)
            return result;
        if (result)
            p = w->rest;
        else
            p = *after ? after + 1 : after;
    }
    return 0;
}

int fs_find_link(const char *cwd, const char *path, bool follow, const struct fs_node **node)
{
    uint64_t block;
    struct walk *w;
    int error;

    if (!*path)
        return -ENOENT;
    block = phys_alloc(2);
    if (!block)
        return -ENOMEM;
    w = phys_pointer(block);
    w->done_bytes = 0;
    w->done[0] = '\0';
    w->links = 0;
    w->follow = true;
    error = *path == '/' ? 0 : walk_path(w, cwd);
    w->follow = follow;
    if (!error)
        error = walk_path(w, path);
    if (!error)
        *node = lookup(w->done, w->done_bytes);
    phys_free(block, 2);
    return error || *node ? error : -ENOENT;
}

int fs_find(const char *cwd, const char *path, const struct fs_node **node)
{
    return fs_find_link(cwd, path, true, node);
}

const char *fs_base_name(const struct fs_node *node)
{
    const char *slash = strrchr(node->name, '/');

    return slash ? slash + 1 : node->name;
}

const struct fs_node *fs_next_child(const struct fs_node *directory, uint64_t *position)
{
    size_t bytes = strlen(directory->name);

    while (*position < node_count) {
        const struct fs_node *node = &nodes[(*position)++];
        const char *base = fs_base_name(node);
        size_t parent_bytes = base == node->name ? 0 : (size_t)(base - node->name) - 1;

        if (*base && parent_bytes == bytes && strncmp(node->name, directory->name, bytes) == 0)
            return node;
    }
    return NULL;
}
