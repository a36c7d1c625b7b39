/* Sends what the program made of the tree to the host: large files while it runs, the rest and the
 * names when it has ended. */
#include "guest/fs/fs_kept.h"

#include <string.h>
#include <sys/stat.h>

#include "guest/fs/fs_jit.h"
#include "guest/fs/fs_missing.h"
#include "guest/memory/heap.h"
#include "guest/service/service.h"
#include "include/run_ports.h"

#define SEND_WRITTEN_PAGES 2048u /* unsent pages at which an open file is sent */
#define SEND_CLOSED_PAGES 64u /* ... a closed one: a small file may soon be deleted */

struct removed {
    struct removed *next;
    size_t bytes; /* of this struct and the path */
    char path[];
};

static bool keep, missing;
static struct removed *removed;

void fs_kept_start(const struct process *process)
{
    uint64_t value = 0;

    keep = manifest_number(&process->manifest, "keep-files", &value) == 0 && value;
    value = 0;
    missing = manifest_number(&process->manifest, "missing", &value) == 0 && value;
    if (missing)
        fs_missing_start();
}

/* Returns true if the entry and all directories above it are where the archive has them. */
static bool is_archived(const struct fs_entry *entry)
{
    for (; entry->parent != entry; entry = entry->parent)
        if (!entry->archived)
            return false;
    return true;
}

static void note_removed(const struct fs_entry *entry)
{
    static char path[FS_PATH_MAX];
    bool gone;
    int64_t bytes = fs_path(entry, path, sizeof path, &gone);
    struct removed *note;

    if (bytes < 0)
        return;
    note = heap_alloc(sizeof *note + (size_t)bytes + 1);
    if (note == NULL)
        return; /* out of memory: the host then keeps a file that it had before */
    note->bytes = sizeof *note + (size_t)bytes + 1;
    memcpy(note->path, path, (size_t)bytes + 1);
    note->next = removed;
    removed = note;
}

void fs_kept_removed(struct fs_entry *entry)
{
    if (is_archived(entry) && keep)
        note_removed(entry);
    entry->archived = false;
}

struct stream {
    struct inode *inode;
    uint64_t index;
};

static size_t fs_kept_fill(void *context, void *bytes)
{
    struct stream *stream = context;
    struct fs_kept_buffer buffer = {.bytes = bytes};

    (void)fs_kept_add_pages(&buffer, stream->inode, &stream->index, false);
    return buffer.used;
}

/* Sends on one CPU at a time: two requests may be served in any order, and older contents of a page
 * must not overwrite newer ones.  What is not sent now is sent later. */
static void send_now(struct inode *inode)
{
    static bool sending;
    struct stream stream = {.inode = inode};

    if (sending)
        return;
    sending = true;
    service_files(fs_kept_fill, &stream);
    sending = false;
}

/* `keep` is checked last, here and in fs_kept_removed and fs_kept_closed: the program's clock must
 * not show whether it is set. */
void fs_kept_written(struct inode *inode)
{
    if (inode->unsent_pages >= SEND_WRITTEN_PAGES && !inode->base_bytes && !inode->stale && keep)
        send_now(inode);
}

void fs_kept_closed(struct inode *inode)
{
    if (inode->links && inode->unsent_pages >= SEND_CLOSED_PAGES && !inode->base_bytes &&
        !inode->stale && keep)
        send_now(inode);
}

/* ---- when the program has ended */

static void add_file(struct fs_kept_buffer *buffer, const struct fs_entry *entry)
{
    struct inode *inode = entry->inode;
    uint64_t index = 0;

    /* the host has none of the archive's contents, and stores each name's contents separately */
    if (inode->base_bytes || inode->kept || inode->stale)
        fs_kept_add_contents(buffer, inode);
    else
        (void)fs_kept_add_pages(buffer, inode, &index, true);
    inode->kept = true;
    fs_kept_add_entry(buffer, RUN_FILE_NAME, entry);
}

static void add_entry(void *context, const struct fs_entry *entry)
{
    struct fs_kept_buffer *buffer = context;
    const struct inode *inode = entry->inode;

    if (S_ISDIR(inode->mode))
        fs_kept_add_entry(buffer, RUN_FILE_DIRECTORY, entry);
    else if (S_ISLNK(inode->mode))
        fs_kept_add_entry(buffer, RUN_FILE_LINK, entry);
    else if (S_ISREG(inode->mode))
        add_file(buffer, entry);
}

struct dropped {
    char *first; /* path of the first file */
    size_t room;
    uint64_t files;
};

static void count_entry(void *context, const struct fs_entry *entry)
{
    struct dropped *dropped = context;
    uint32_t pid;
    bool gone;

    if (!S_ISREG(entry->inode->mode) || !entry->inode->bytes ||
        fs_jit_kind(entry->name, entry->name_bytes, &pid) != 0) /* the trace has it */
        return;
    if (dropped->files++ == 0 && fs_path(entry, dropped->first, dropped->room, &gone) < 0)
        dropped->first[0] = '\0';
}

/* Leaves out /dev, /proc and /sys, which are the kernel's own. */
static bool has_children(const struct fs_entry *entry)
{
    const struct inode *inode = entry->inode;

    return S_ISDIR(inode->mode) && (!inode->mount || inode->mode & S_IWUSR);
}

/* Without recursion: a program's tree may be deeper than any stack. */
void fs_kept_walk(fs_kept_visit *visit_entry, void *context)
{
    const struct fs_entry *at = fs_root, *topmost_new = NULL;
    uint32_t slot = 0;

    for (;;) {
        const struct fs_entry *next = has_children(at) ? fs_after(at, slot) : NULL;

        if (next != NULL) {
            if (topmost_new == NULL && !next->archived)
                topmost_new = next;
            if (topmost_new != NULL ||
                next->inode->changed) /* it or a directory above it was moved */
                visit_entry(context, next);
            at = next;
            slot = 0;
            continue;
        }
        if (at == fs_root)
            return;
        if (at == topmost_new)
            topmost_new = NULL;
        slot = at->slot + 1;
        at = at->parent;
    }
}

uint64_t fs_kept_dropped(char *first, size_t room)
{
    struct dropped dropped = {.first = first, .room = room};

    if (keep)
        return 0;
    fs_kept_walk(count_entry, &dropped);
    return dropped.files;
}

static void add_removed(struct fs_kept_buffer *buffer)
{
    struct fs_found found;

    for (const struct removed *note = removed; note != NULL; note = note->next) {
        if (fs_walk(NULL, fs_root, note->path, 0, &found) != 0)
            fs_kept_add_text(buffer, RUN_FILE_REMOVED, note->path);
        else
            fs_found_release(&found);
    }
}

void fs_kept_finish(void *bytes, fs_kept_send *send)
{
    const struct run_file_message end = {.type = RUN_FILE_END};
    struct fs_kept_buffer buffer = {.bytes = bytes, .send = send};

    if (bytes == NULL) {
        send(&end, sizeof end);
        return;
    }
    if (keep) {
        fs_kept_walk(add_entry, &buffer);
        add_removed(&buffer);
    }
    fs_kept_add_end(&buffer, missing ? fs_missing_add(&buffer) : 0);
    fs_kept_flush(&buffer);
}
