/* Names: one table of all of them by directory and text, and in each directory an order that does
 * not change. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/context.h"
#include "guest/fs/fs.h"
#include "guest/fs/fs_served.h"
#include "guest/memory/heap.h"
#include "lib/hash.h"

#define BUCKETS_FIRST 512u
#define BUCKETS_MAX 524288u /* of one memory block */
#define SLOTS_FIRST 4u
#define SLOTS_MAX 524288u

struct inode_directory {
    struct fs_entry **slots; /* by position; a free one holds the next free slot: see free_link */
    uint32_t room, used; /* slots */
    uint32_t count; /* entries */
    uint32_t free; /* the slot freed last, plus 1; 0: none */
};

struct fs_entry *fs_root;

static struct fs_entry **buckets;
static uint32_t bucket_count, entry_count;

static uint32_t fs_tree_hash(const struct inode *directory, const char *name)
{
    uint64_t h = hash_bytes(HASH_BYTES_START ^ directory->number * HASH_GOLDEN, name, strlen(name));

    return (uint32_t)(h ^ h >> 32);
}

static struct fs_entry **bucket_of(const struct fs_entry *parent, const char *name)
{
    return &buckets[fs_tree_hash(parent->inode, name) & (bucket_count - 1)];
}

static void put_in_table(struct fs_entry *entry)
{
    struct fs_entry **bucket = bucket_of(entry->parent, entry->name);

    entry->next = *bucket;
    *bucket = entry;
}

static void take_from_table(struct fs_entry *entry)
{
    struct fs_entry **at = bucket_of(entry->parent, entry->name);

    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
}

/* Doubles the buckets, if there is memory for them. */
static bool grow_table(void)
{
    uint32_t old_count = bucket_count, count = old_count ? old_count * 2 : BUCKETS_FIRST;
    struct fs_entry **old = buckets, **new;

    if (count > BUCKETS_MAX)
        return true;
    new = heap_alloc(count * sizeof(struct fs_entry *));
    if (new == NULL)
        return old != NULL;
    buckets = new;
    bucket_count = count;
    for (uint32_t i = 0; i < old_count; i++) {
        for (struct fs_entry *entry = old[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            put_in_table(entry);
        }
    }
    heap_free(old, old_count * sizeof(struct fs_entry *));
    return true;
}

int fs_tree_init(void)
{
    bucket_count = entry_count = 0;
    buckets = NULL;
    return grow_table() ? 0 : -ENOMEM;
}

void fs_entry_hold(struct fs_entry *entry)
{
    cross_assert_held();
    entry->references++;
}

void fs_entry_release(struct fs_entry *entry)
{
    cross_assert_held();
    while (entry != NULL && --entry->references == 0) {
        struct fs_entry *parent = entry->parent;

        inode_release(entry->inode);
        heap_free(entry->name, entry->name_bytes + 1ul);
        heap_free(entry, sizeof *entry);
        entry = parent;
    }
}

struct fs_entry *fs_entry_new(struct fs_entry *parent, const char *name, struct inode *inode)
{
    struct fs_entry *entry = heap_alloc(sizeof *entry);
    size_t bytes = strlen(name);
    char *text = heap_alloc(bytes + 1);

    if (entry == NULL || text == NULL) {
        heap_free(entry, sizeof *entry);
        heap_free(text, bytes + 1);
        inode_release(inode);
        return NULL;
    }
    memcpy(text, name, bytes + 1);
    *entry = (struct fs_entry){.references = 1,
                               .name = text,
                               .name_bytes = (uint8_t)bytes,
                               .parent = parent != NULL ? parent : entry,
                               .inode = inode};
    fs_entry_hold(entry->parent);
    return entry;
}

/* A free slot holds 2 * (the number of the next free slot + 1) + 1: a pointer is never odd. */
static struct fs_entry *free_link(uint32_t next)
{
    return (struct fs_entry *)((uint64_t)next << 1 | 1);
}

static bool slot_is_free(const struct fs_entry *slot)
{
    return (uint64_t)slot & 1;
}

static bool grow_slots(struct inode_directory *directory)
{
    uint32_t room = directory->room ? directory->room * 2 : SLOTS_FIRST;
    size_t each = sizeof(struct fs_entry *);
    struct fs_entry **slots = room > SLOTS_MAX ? NULL : heap_alloc(room * each);

    if (slots == NULL)
        return false;
    if (directory->room)
        memcpy(slots, directory->slots, directory->room * each);
    heap_free(directory->slots, directory->room * each);
    directory->slots = slots;
    directory->room = room;
    return true;
}

static int take_slot(struct fs_entry *entry)
{
    struct inode_directory *directory = entry->parent->inode->directory;

    if (directory->free) {
        entry->slot = directory->free - 1;
        directory->free = (uint32_t)((uint64_t)directory->slots[entry->slot] >> 1);
    } else {
        if (directory->used == directory->room && !grow_slots(directory))
            return -ENOSPC;
        entry->slot = directory->used++;
    }
    directory->slots[entry->slot] = entry;
    directory->count++;
    return 0;
}

static void free_slot(const struct fs_entry *entry)
{
    struct inode_directory *directory = entry->parent->inode->directory;

    directory->slots[entry->slot] = free_link(directory->free);
    directory->free = entry->slot + 1;
    directory->count--;
}

int fs_entry_link(struct fs_entry *entry)
{
    int error;

    if (entry_count >= bucket_count && !grow_table())
        return -ENOSPC;
    error = take_slot(entry);
    if (error)
        return error;
    put_in_table(entry);
    entry_count++;
    entry->linked = true;
    entry->inode->links++;
    if (S_ISDIR(entry->inode->mode)) {
        entry->inode->links++; /* its own "." */
        entry->parent->inode->links++; /* its ".." */
    }
    fs_entry_hold(entry);
    return 0;
}

void fs_entry_unlink(struct fs_entry *entry)
{
    take_from_table(entry);
    entry_count--;
    free_slot(entry);
    entry->linked = false;
    entry->inode->links--;
    if (S_ISDIR(entry->inode->mode)) {
        entry->inode->links--;
        entry->parent->inode->links--;
    }
    fs_entry_release(entry);
}

int fs_entry_move(struct fs_entry *entry, struct fs_entry *parent, const char *name)
{
    size_t bytes = strlen(name);
    char *text = heap_alloc(bytes + 1);
    struct fs_entry *old_parent = entry->parent;
    int error;

    if (text == NULL)
        return -ENOSPC;
    memcpy(text, name, bytes + 1);
    /* make room first: what follows cannot fail.  In its own directory the entry keeps its slot. */
    if (parent != old_parent && !parent->inode->directory->free &&
        parent->inode->directory->used == parent->inode->directory->room &&
        !grow_slots(parent->inode->directory)) {
        heap_free(text, bytes + 1);
        return -ENOSPC;
    }
    fs_entry_hold(entry);
    fs_entry_unlink(entry);
    heap_free(entry->name, entry->name_bytes + 1ul);
    entry->name = text;
    entry->name_bytes = (uint8_t)bytes;
    fs_entry_hold(parent);
    entry->parent = parent;
    error = fs_entry_link(entry);
    fs_entry_release(entry);
    fs_entry_release(old_parent);
    return error;
}

void fs_entry_swap(struct fs_entry *a, struct fs_entry *b)
{
    struct fs_entry old = *a;

    take_from_table(a);
    take_from_table(b);
    a->name = b->name;
    a->name_bytes = b->name_bytes;
    a->parent = b->parent;
    a->slot = b->slot;
    b->name = old.name;
    b->name_bytes = old.name_bytes;
    b->parent = old.parent;
    b->slot = old.slot;
    a->parent->inode->directory->slots[a->slot] = a;
    b->parent->inode->directory->slots[b->slot] = b;
    if (S_ISDIR(a->inode->mode)) {
        a->parent->inode->links++;
        b->parent->inode->links--;
    }
    if (S_ISDIR(b->inode->mode)) {
        b->parent->inode->links++;
        a->parent->inode->links--;
    }
    put_in_table(a);
    put_in_table(b);
}

struct fs_entry *fs_child_here(struct fs_entry *directory, const char *name)
{
    for (struct fs_entry *entry = *bucket_of(directory, name); entry != NULL; entry = entry->next)
        if (entry->parent == directory && strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

struct fs_entry *fs_child(struct thread *thread, struct fs_entry *directory, const char *name)
{
    const struct fs_special *special = directory->inode->special;
    struct fs_entry *entry = fs_child_here(directory, name);
    struct inode *inode;

    if (entry != NULL) {
        fs_entry_hold(entry);
        return entry;
    }
    if (special == NULL || special->lookup == NULL)
        return fs_served_child(directory, name);
    inode = special->lookup(thread, directory->inode, name);
    entry = inode != NULL ? fs_entry_new(directory, name, inode) : NULL;
    if (entry != NULL)
        entry->special = true;
    return entry;
}

static void free_directory(struct inode *inode)
{
    struct inode_directory *directory = inode->directory;

    heap_free(directory->slots, directory->room * sizeof(struct fs_entry *));
    heap_free(directory, sizeof *directory);
}

struct inode *fs_new_directory(uint32_t mode)
{
    struct inode *inode = inode_new(S_IFDIR | mode);

    if (inode == NULL)
        return NULL;
    inode->directory = heap_alloc(sizeof *inode->directory);
    if (inode->directory == NULL) {
        inode_release(inode);
        return NULL;
    }
    inode->freed = free_directory;
    return inode;
}

bool fs_is_empty(struct fs_entry *directory)
{
    fs_served_complete(directory);
    return directory->inode->directory->count == 0;
}

bool fs_list(struct thread *thread, struct fs_entry *entry, uint64_t *position,
             struct fs_listed *listed)
{
    const struct inode_directory *directory = entry->inode->directory;
    const struct fs_special *special = entry->inode->special;

    fs_served_complete(entry);
    for (; *position < directory->used; ++*position) {
        const struct fs_entry *child = directory->slots[*position];

        if (slot_is_free(child))
            continue;
        *listed = (struct fs_listed){child->name, child->inode->number, child->inode->mode};
        ++*position;
        return true;
    }
    if (special != NULL && special->list != NULL) {
        uint64_t base = directory->used, own = *position - base;
        bool more = special->list(thread, entry->inode, &own, listed);

        *position = base + own;
        return more;
    }
    return false;
}

const struct fs_entry *fs_after(const struct fs_entry *entry, uint32_t slot)
{
    const struct inode_directory *directory = entry->inode->directory;

    while (slot < directory->used && slot_is_free(directory->slots[slot]))
        slot++;
    return slot < directory->used ? directory->slots[slot] : NULL;
}

int64_t fs_path(const struct fs_entry *entry, char *out, size_t room, bool *gone)
{
    size_t at = room;

    *gone = false;
    if (room < 2)
        return -ENAMETOOLONG;
    out[--at] = '\0';
    for (; entry != entry->parent; entry = entry->parent) {
        if (entry->name_bytes + 1ul > at)
            return -ENAMETOOLONG;
        at -= entry->name_bytes;
        memcpy(out + at, entry->name, entry->name_bytes);
        out[--at] = '/';
        *gone |= !entry->linked && !entry->special;
    }
    if (at == room - 1)
        out[--at] = '/';
    memmove(out, out + at, room - at);
    return (int64_t)(room - at - 1);
}
