/* Makes the tree of files from the run archive. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/log.h"
#include "guest/fs/fs.h"
#include "guest/memory/heap.h"
#include "include/run_probes.h"
#include "lib/program/cpio.h"

#define NS_PER_SECOND 1000000000ull
#define MODE_IMPLIED 0755u

/* Puts an inode under a name, and replaces what has that name. */
static struct fs_entry *fs_archive_place(struct fs_entry *parent, const char *name,
                                         struct inode *inode)
{
    struct fs_entry *old = fs_child(NULL, parent, name), *entry;

    if (old != NULL) {
        fs_entry_unlink(old);
        fs_entry_release(old);
    }
    entry = inode != NULL ? fs_entry_new(parent, name, inode) : NULL;
    if (entry == NULL)
        return NULL;
    entry->archived = true;
    if (fs_entry_link(entry) != 0) {
        fs_entry_release(entry);
        return NULL;
    }
    fs_entry_release(entry); /* its directory holds it */
    return entry;
}

/* Returns the directory of that name, and makes it if there is none; NULL: no memory. */
static struct fs_entry *fs_archive_enter(struct fs_entry *parent, const char *name, uint32_t mode)
{
    struct fs_entry *entry = fs_child(NULL, parent, name);

    if (entry != NULL &&
        S_ISLNK(entry->inode->mode)) { /* leads to a directory, unless it is broken */
        struct fs_found found;

        fs_entry_release(entry);
        entry = NULL;
        if (fs_walk(NULL, parent, name, FS_FOLLOW, &found) == 0) {
            entry = found.entry;
            fs_entry_hold(entry);
            fs_found_release(&found);
        }
    }
    if (entry != NULL && S_ISDIR(entry->inode->mode)) {
        fs_entry_release(entry);
        return entry;
    }
    fs_entry_release(entry);
    return fs_archive_place(parent, name, fs_new_directory(mode));
}

/* Takes the next name off a path and skips ".".  Returns its bytes, 0 at the end, -ENAMETOOLONG or
 * -EINVAL. */
static int take_name(const char **path, char name[FS_NAME_MAX + 1])
{
    const char *p = *path;
    size_t bytes;

    for (;;) {
        while (*p == '/')
            p++;
        bytes = 0;
        while (p[bytes] && p[bytes] != '/')
            bytes++;
        if (bytes != 1 || *p != '.')
            break;
        p++;
    }
    if (bytes > FS_NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(name, p, bytes);
    name[bytes] = '\0';
    *path = p + bytes;
    return strcmp(name, "..") == 0 ? -EINVAL : (int)bytes;
}

/* Walks to the directory of the path's last name, and stores that name in `name`.  Returns its
 * bytes, 0 if the path is the root, or -errno.  Makes missing directories on the way with `mode`.
 */
static int enter_parents(const char *path, uint32_t mode, struct fs_entry **directory,
                         char name[FS_NAME_MAX + 1])
{
    int bytes = take_name(&path, name);

    *directory = fs_root;
    while (bytes > 0) {
        char following[FS_NAME_MAX + 1];
        int result = take_name(&path, following);

        if (result <= 0)
            return result < 0 ? result : bytes;
        *directory = fs_archive_enter(*directory, name, mode);
        if (*directory == NULL)
            return -ENOMEM;
        memcpy(name, following, (size_t)result + 1);
        bytes = result;
    }
    return bytes;
}

int fs_make_directories(const char *path, uint32_t mode)
{
    char name[FS_NAME_MAX + 1];
    struct fs_entry *directory;
    int result = enter_parents(path, MODE_IMPLIED, &directory, name);

    if (result <= 0)
        return result;
    return fs_archive_enter(directory, name, mode) != NULL ? 0 : -ENOMEM;
}

int fs_place(const char *path, uint32_t mode, struct inode *inode)
{
    char name[FS_NAME_MAX + 1];
    struct fs_entry *directory;
    int result = inode != NULL ? enter_parents(path, mode, &directory, name) : -ENOMEM;

    if (result > 0)
        return fs_archive_place(directory, name, inode) != NULL ? 0 : -ENOMEM;
    if (inode != NULL)
        inode_release(inode);
    return result ? result : -EINVAL;
}

static struct inode *new_link(const struct cpio_entry *archived)
{
    struct inode *inode = inode_new(archived->mode);
    char *target = heap_alloc(archived->bytes + 1); /* the archive has no NUL after it */

    if (inode == NULL || target == NULL) {
        if (inode != NULL)
            inode_release(inode);
        heap_free(target, archived->bytes + 1);
        return NULL;
    }
    memcpy(target, archived->data, archived->bytes);
    inode->target = target;
    inode->target_owned = true;
    inode->bytes = archived->bytes;
    return inode;
}

static struct inode *new_file(const struct cpio_entry *archived)
{
    struct inode *inode = inode_new(archived->mode);

    if (inode == NULL)
        return NULL;
    inode->base = archived->data;
    inode->base_bytes = archived->bytes;
    inode->bytes = archived->bytes;
    return inode;
}

const uint8_t *fs_probes;
uint64_t fs_probes_bytes;

/* The table of probes is no file, so that the tree is as without it. */
static bool take_probes(const struct cpio_entry *archived)
{
    if (strcmp(archived->name, RUN_PROBES_NAME) != 0)
        return false;
    fs_probes = archived->data;
    fs_probes_bytes = archived->bytes;
    return true;
}

static int fs_archive_add(const struct cpio_entry *archived)
{
    char name[FS_NAME_MAX + 1];
    struct fs_entry *directory, *entry;
    int result = enter_parents(archived->name, MODE_IMPLIED, &directory, name);
    struct inode_times *times;

    if (result < 0)
        return result;
    if (S_ISDIR(archived->mode)) {
        entry = result ? fs_archive_enter(directory, name, archived->mode & 07777) : fs_root;
        if (entry != NULL)
            entry->inode->mode = archived->mode;
    } else if (!result) {
        return -EINVAL; /* the root is a directory */
    } else if (S_ISLNK(archived->mode)) {
        entry = fs_archive_place(directory, name, new_link(archived));
    } else if (S_ISREG(archived->mode)) {
        entry = fs_archive_place(directory, name, new_file(archived));
    } else {
        return 0; /* devices and the like are the kernel's own */
    }
    if (entry == NULL)
        return -ENOMEM;
    times = &entry->inode->times;
    times->modified = archived->mtime * NS_PER_SECOND;
    times->accessed = times->changed = times->created = times->modified;
    return 0;
}

static int make_root(void)
{
    struct inode *inode = fs_new_directory(MODE_IMPLIED);

    fs_root = inode != NULL ? fs_entry_new(NULL, "", inode) : NULL;
    if (fs_root == NULL)
        return -ENOMEM;
    fs_root->archived = true;
    inode->links = 2;
    inode->mount = true;
    return fs_tree_init();
}

int fs_init(const void *archive, size_t bytes)
{
    struct cpio_reader reader;
    struct cpio_entry entry;
    enum cpio_status status;
    int error = make_root();

    cpio_init(&reader, archive, bytes);
    while (!error && (status = cpio_next(&reader, &entry)) == CPIO_OK) {
        error = take_probes(&entry) ? 0 : fs_archive_add(&entry);
        if (error == -EINVAL || error == -ENAMETOOLONG) {
            log_notice("the run archive has a name that no file can have: %s", entry.name);
            error = -EINVAL;
        }
    }
    if (error == -ENOMEM)
        log_notice("no memory to index the files of the run archive");
    if (error || status == CPIO_END)
        return error;
    log_notice("the run archive is damaged at byte %lu: %s", reader.offset,
               cpio_status_text(status));
    return -EINVAL;
}

int fs_find(const char *path, struct inode **inode)
{
    struct fs_found found;
    int error = fs_walk(NULL, fs_root, path, FS_FOLLOW, &found);

    if (error)
        return error;
    *inode = found.entry->inode;
    fs_found_release(&found);
    return 0;
}
