/* Walks paths: from name to name, through "..", and along symbolic links. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/base/context.h"
#include "guest/fs/fs.h"

#define LINKS_MAX 40u
#define TEXT_BYTES 64u /* most for the text of a link of fs_special */

void (*fs_file_release)(struct file *file);

struct walk {
    struct thread *thread;
    struct fs_entry *root; /* ".." does not lead above it; the caller holds it */
    struct fs_entry *at; /* a directory; held */
    const char *rest; /* what is left of the path or of the link being walked */
    const char *outer[LINKS_MAX]; /* what follows the links that led here; never only slashes */
    unsigned depth;
    unsigned links;
    uint32_t flags;
    bool directory; /* a slash at the very end asks for a directory */
    char text[TEXT_BYTES];
};

static const char *skip_slashes(const char *p)
{
    while (*p == '/')
        p++;
    return p;
}

static void go_to(struct walk *w, struct fs_entry *to) /* takes the reference */
{
    fs_entry_release(w->at);
    w->at = to;
}

static void go_to_root(struct walk *w)
{
    fs_entry_hold(w->root);
    go_to(w, w->root);
}

static int go_up(struct walk *w)
{
    struct fs_entry *parent = w->at->parent;

    if (w->at == w->root)
        return w->flags & FS_BENEATH ? -EXDEV : 0;
    fs_entry_hold(parent);
    go_to(w, parent);
    return 0;
}

/* Continues with a link's text, and then with what follows the link. */
static int enter_text(struct walk *w, const char *text, const char *after)
{
    const char *rest = skip_slashes(after);

    if (*rest) {
        w->outer[w->depth++] = rest; /* at most one per link */
    } else if (*after) {
        w->directory = true;
    }
    w->rest = text;
    if (*text == '/') {
        if (w->flags & FS_BENEATH)
            return -EXDEV;
        go_to_root(w);
    }
    return *text ? 0 : -ENOENT;
}

/* Ends the walk if this is the last name; otherwise enters the entry, which must be a directory. */
static int fs_walk_arrive(struct walk *w, struct fs_entry *entry, bool last, struct fs_found *found)
{
    bool directory = S_ISDIR(entry->inode->mode);

    if (!directory && (!last || found->slash || w->directory || w->flags & FS_DIRECTORY)) {
        fs_entry_release(entry);
        return -ENOTDIR;
    }
    if (last) {
        found->entry = entry;
        return 1;
    }
    go_to(w, entry);
    return 0;
}

/* Follows a link that leads to an object and not by its text. */
static int fs_walk_jump(struct walk *w, const struct inode *link, const char *after,
                        struct fs_found *found)
{
    struct fs_entry *entry = NULL;
    struct file *file = NULL;
    bool last = !*skip_slashes(after) && !w->depth;
    int error;

    if (w->flags & (FS_NO_JUMPS | FS_BENEATH | FS_IN_ROOT))
        return w->flags & FS_NO_JUMPS ? -ELOOP : -EXDEV;
    error = link->special->follow(w->thread, link, &entry, &file);
    if (error)
        return error;
    w->rest = after;
    if (entry != NULL)
        return fs_walk_arrive(w, entry, last, found);
    if (last && !found->slash && !(w->flags & FS_DIRECTORY)) {
        found->file = file;
        return 1;
    }
    fs_file_release(file);
    return -ENOTDIR;
}

/* Returns 1: found, 0: continue the walk, or -errno. */
static int fs_walk_follow(struct walk *w, const struct fs_entry *link, const char *after,
                          struct fs_found *found)
{
    const struct inode *inode = link->inode;
    int64_t bytes;

    if (w->flags & FS_NO_LINKS || ++w->links > LINKS_MAX)
        return -ELOOP;
    if (inode->special != NULL && inode->special->follow != NULL)
        return fs_walk_jump(w, inode, after, found);
    if (inode->special == NULL)
        return enter_text(w, inode->target, after);
    bytes = inode->special->text(w->thread, inode, w->text, sizeof w->text - 1);
    if (bytes < 0)
        return (int)bytes;
    w->text[bytes] = '\0';
    return enter_text(w, w->text, after);
}

/* Enters the name in found->name; `after` is what follows it.  Returns 1: found, 0: continue, or
 * -errno. */
static int fs_walk_step(struct walk *w, const char *after, struct fs_found *found)
{
    bool last = !*skip_slashes(after) && !w->depth;
    struct fs_entry *entry;
    int error = fs_permission(w->at->inode, X_OK);

    if (error)
        return error;
    if (last) {
        found->last = FS_LAST_NAME;
        found->slash = *after || w->directory;
        fs_entry_hold(w->at);
        found->parent = w->at;
        if (w->flags & FS_PARENT)
            return 1;
        if (w->flags & FS_MAY_LACK && found->slash)
            return -EISDIR; /* open never makes a directory */
    }
    entry = fs_child(w->thread, w->at, found->name);
    if (entry == NULL)
        return last && w->flags & FS_MAY_LACK ? 1 : -ENOENT;
    if (S_ISLNK(entry->inode->mode) && (!last || w->flags & FS_FOLLOW || found->slash)) {
        fs_entry_release(found->parent);
        found->parent = NULL;
        error = fs_walk_follow(w, entry, after, found);
        fs_entry_release(entry);
        return error;
    }
    w->rest = after;
    return fs_walk_arrive(w, entry, last, found);
}

/* Stores the next name of the path in found->name.  Returns 1, 0 at the end of the path, or -errno.
 */
static int next_name(struct walk *w, const char **after, struct fs_found *found)
{
    const char *p = skip_slashes(w->rest);
    size_t bytes = 0;

    while (!*p && w->depth)
        p = w->outer[--w->depth];
    while (p[bytes] && p[bytes] != '/')
        bytes++;
    if (bytes > FS_NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(found->name, p, bytes);
    found->name[bytes] = '\0';
    *after = p + bytes;
    return bytes > 0;
}

/* Walks one name.  Returns 1: found, 0: continue, or -errno. */
static int walk_on(struct walk *w, struct fs_found *found)
{
    const char *after;
    int result = next_name(w, &after, found);

    if (result < 0)
        return result;
    if (!result) {
        found->entry = w->flags & FS_PARENT ? NULL : w->at;
        if (found->entry != NULL)
            fs_entry_hold(found->entry);
        return 1;
    }
    if (strcmp(found->name, ".") != 0 && strcmp(found->name, "..") != 0)
        return fs_walk_step(w, after, found);
    result = fs_permission(w->at->inode, X_OK);
    found->last = found->name[1] ? FS_LAST_DOTDOT : FS_LAST_DOT;
    w->rest = after;
    if (!result && found->last == FS_LAST_DOTDOT)
        result = go_up(w);
    return result;
}

int fs_walk(struct thread *thread, struct fs_entry *from, const char *path, uint32_t flags,
            struct fs_found *found)
{
    bool inside = flags & (FS_BENEATH | FS_IN_ROOT);
    struct walk w = {.thread = thread,
                     .root = inside ? from : fs_root,
                     .at = from,
                     .rest = path,
                     .flags = flags};
    int result = *path ? 0 : -ENOENT;

    cross_assert_held();
    *found = (struct fs_found){.last = FS_LAST_ROOT};
    fs_entry_hold(from);
    if (*path == '/') {
        if (flags & FS_BENEATH)
            result = -EXDEV;
        go_to_root(&w);
    }
    while (!result)
        result = walk_on(&w, found);
    fs_entry_release(w.at);
    if (result < 0)
        fs_found_release(found);
    return result < 0 ? result : 0;
}

void fs_found_release(struct fs_found *found)
{
    fs_entry_release(found->entry);
    fs_entry_release(found->parent);
    if (found->file != NULL)
        fs_file_release(found->file);
    *found = (struct fs_found){0};
}
