/* Makes entries and inodes of what the host says about its files. */
#include "guest/fs/fs_served.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/fs/fs_absent.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/service/serve.h"

#define NEIGHBOURS_AFTER 4u /* names that were looked for one by one */

static bool active;

void fs_served_start(void)
{
    active = serve_offered();
    if (active)
        serve_start();
    fs_root->inode->served = RUN_SERVE_ROOT;
}

/* Reports a failure of the host once: the program only sees that a file is not there. */
static void note_host_failure(const char *name, int error)
{
    static bool noted;

    if (!noted)
        log_notice("the host could not serve %s (error %d); further failures are not reported",
                   name, -error);
    noted = true;
}

static struct inode *served_link(const struct run_serve_node *node, const char *target)
{
    struct inode *inode = inode_new(S_IFLNK | 0777);
    char *copy = heap_alloc(node->target_bytes + 1ul);

    if (inode == NULL || copy == NULL) {
        if (inode != NULL)
            inode_release(inode);
        heap_free(copy, node->target_bytes + 1ul);
        return NULL;
    }
    memcpy(copy, target, node->target_bytes);
    copy[node->target_bytes] = '\0';
    inode->target = copy;
    inode->target_owned = true;
    inode->bytes = node->target_bytes;
    return inode;
}

static struct inode *served_inode(const struct run_serve_node *node, const char *target)
{
    struct inode *inode;

    if (S_ISDIR(node->mode))
        inode = fs_new_directory(node->mode & 07777);
    else if (S_ISLNK(node->mode))
        inode = served_link(node, target);
    else
        inode = inode_new(S_IFREG | (node->mode & 07777));
    if (inode == NULL)
        return NULL;
    if (S_ISREG(inode->mode))
        inode->bytes = inode->base_bytes = node->bytes;
    inode->served = node->node;
    inode->times.modified = inode->times.accessed = node->modified;
    inode->times.changed = inode->times.created = node->changed;
    return inode;
}

/* Puts a node into its directory.  Returns its entry, which the directory holds, or NULL. */
static struct fs_entry *served_add(struct fs_entry *directory, const char *name,
                                   const struct run_serve_node *node, const char *target)
{
    struct inode *inode = served_inode(node, target);
    struct fs_entry *entry = inode != NULL ? fs_entry_new(directory, name, inode) : NULL;

    if (entry == NULL)
        return NULL;
    entry->archived = true;
    if (fs_entry_link(entry) != 0) {
        fs_entry_release(entry);
        return NULL;
    }
    fs_entry_release(entry);
    return entry;
}

/* Asks for a name.  Returns 0 with the node in `node` and the link's text in `target`, or -errno.
 */
static int ask_name(uint64_t directory, const char *name, struct run_serve_node *node,
                    const char **target)
{
    struct run_serve_request request = {
        .type = RUN_SERVE_LOOKUP, .bytes = (uint32_t)strlen(name), .node = directory};
    struct run_serve_answer answer;
    const uint8_t *payload;
    int error = serve_ask(&request, name, &answer, &payload);

    if (error)
        return error;
    if (answer.bytes < sizeof *node)
        return -EIO;
    memcpy(node, payload, sizeof *node);
    *target = (const char *)payload + sizeof *node;
    return node->target_bytes > answer.bytes - sizeof *node ? -EIO : 0;
}

/* Asks which node a directory of the archive is on the host. */
static uint64_t ask_node(const struct fs_entry *directory)
{
    struct run_serve_node node;
    const char *target;
    int error = ask_name(directory->parent->inode->served, directory->name, &node, &target);

    return error || !S_ISDIR(node.mode) ? INODE_NOT_SERVED : node.node;
}

/* Returns the node of a directory, or INODE_NOT_SERVED: the host has nothing in it. */
static uint64_t served_node(const struct fs_entry *directory)
{
    while (!directory->inode->served) {
        const struct fs_entry *at = directory;

        while (!at->parent->inode->served)
            at = at->parent;
        at->inode->served = at->parent->inode->served == INODE_NOT_SERVED || !at->linked
                                ? INODE_NOT_SERVED
                                : ask_node(at);
    }
    return directory->inode->served;
}

/* Makes an entry of a listed node, unless the tree has the name.  `at` and `bytes`: the node and
 * what follows it.  Returns the bytes of it all, 0 if they are damaged. */
static size_t served_add_listed(struct fs_entry *directory, const uint8_t *at, size_t bytes)
{
    char name[FS_NAME_MAX + 1];
    struct run_serve_node node;
    struct fs_entry *entry;
    size_t whole;

    if (bytes < sizeof node)
        return 0;
    memcpy(&node, at, sizeof node);
    whole = (sizeof node + node.name_bytes + node.target_bytes + 7) & ~7ul;
    if (whole > bytes || node.name_bytes == 0 || node.name_bytes > FS_NAME_MAX)
        return 0;
    memcpy(name, at + sizeof node, node.name_bytes);
    name[node.name_bytes] = '\0';
    entry = fs_child_here(directory, name);
    if (entry == NULL && !fs_absent_find(directory->inode, name))
        (void)served_add(directory, name, &node, (const char *)at + sizeof node + node.name_bytes);
    return whole;
}

/* Asks for one part of a list, from request->offset on.  Returns 0 if more follows, 1 at the end,
 * or -errno. */
static int ask_list(struct fs_entry *directory, struct run_serve_request *request)
{
    struct run_serve_answer answer;
    const uint8_t *payload;
    size_t done = 0, part;
    int error = serve_ask(request, NULL, &answer, &payload);

    if (error) {
        note_host_failure(directory->name, error);
        return error;
    }
    while (done < answer.bytes &&
           (part = served_add_listed(directory, payload + done, answer.bytes - done)) != 0)
        done += part;
    if (answer.next > request->offset) {
        request->offset = answer.next;
        return 0;
    }
    directory->inode->listed = true;
    return 1;
}

/* Returns true if names of the directory can be asked for. */
static bool is_served(const struct fs_entry *directory)
{
    return active && !directory->inode->listed && served_node(directory) != INODE_NOT_SERVED;
}

void fs_served_complete(struct fs_entry *directory)
{
    struct run_serve_request request = {.type = RUN_SERVE_LIST};
    int result = 0;

    if (!is_served(directory) || directory->inode->temporary)
        return;
    request.node = directory->inode->served;
    while (result == 0)
        result = ask_list(directory, &request);
}

/* A program that looks for several names in a directory will look for more of them: asks for as
 * many as one answer holds. */
static void ask_neighbours(struct fs_entry *directory)
{
    struct run_serve_request request = {.type = RUN_SERVE_LIST, .node = directory->inode->served};
    struct inode *inode = directory->inode;

    if (!inode->temporary && inode->asked < UINT8_MAX && ++inode->asked == NEIGHBOURS_AFTER)
        (void)ask_list(directory, &request);
}

struct fs_entry *fs_served_child(struct fs_entry *directory, const char *name)
{
    struct run_serve_node node;
    struct fs_entry *entry;
    const char *target;
    int error;

    if (!is_served(directory) || fs_absent_find(directory->inode, name))
        return NULL;
    ask_neighbours(directory);
    entry = fs_child_here(directory, name);
    if (entry != NULL) {
        fs_entry_hold(entry);
        return entry;
    }
    if (directory->inode->listed)
        return NULL;
    error = ask_name(directory->inode->served, name, &node, &target);
    if (error == -ENOENT)
        fs_absent_note(directory->inode, name, false);
    else if (error)
        note_host_failure(name, error);
    if (error)
        return NULL;
    entry = served_add(directory, name, &node, target);
    if (entry != NULL)
        fs_entry_hold(entry);
    return entry;
}

void fs_served_removed(struct fs_entry *entry)
{
    if (!active || !entry->archived)
        return;
    if (S_ISDIR(entry->inode->mode))
        (void)served_node(entry); /* by the name that the host knows */
    fs_absent_note(entry->parent->inode, entry->name, true);
}

/* ---- contents */

#define BLOCK_PAGES (RUN_SERVE_BYTES_MAX / PAGE_BYTES)
#define SERVED_RESERVE 16u /* of all memory stays free of the host's files, if possible */

int fs_served_fetch(struct inode *inode, uint64_t index)
{
    uint64_t first = index / BLOCK_PAGES * BLOCK_PAGES;
    struct run_serve_request request = {.type = RUN_SERVE_READ,
                                        .bytes = RUN_SERVE_BYTES_MAX,
                                        .node = inode->served,
                                        .offset = first * PAGE_BYTES};
    struct run_serve_answer answer;
    const uint8_t *payload;
    int error;

    inode_make_room(inode, phys_total_bytes() / SERVED_RESERVE);
    error = serve_ask(&request, NULL, &answer, &payload);
    if (error) {
        note_host_failure("the contents of a file", error);
        return -EIO;
    }
    return inode_add_block(inode, first, payload, answer.bytes, index);
}
