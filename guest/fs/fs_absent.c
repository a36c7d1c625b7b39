/* The table of absent names. */
#include "guest/fs/fs_absent.h"

#include <stddef.h>
#include <string.h>

#include "guest/memory/heap.h"
#include "lib/hash.h"

#define ABSENT_BUCKETS 4096u /* a power of two */

struct absent {
    struct absent *next;
    uint64_t directory; /* inode number: never used twice */
    bool removed;
    size_t bytes; /* of this struct and the name */
    char name[];
};

static struct absent **absent_names;
static uint32_t lacking; /* notes that are not `removed` */

static struct absent **absent_bucket(const struct inode *directory, const char *name)
{
    uint64_t hash = hash_bytes(hash_mix(0, directory->number), name, strlen(name));

    return &absent_names[(hash ^ hash >> 32) & (ABSENT_BUCKETS - 1)];
}

static struct absent *absent_entry(const struct inode *directory, const char *name)
{
    if (absent_names == NULL)
        return NULL;
    for (struct absent *note = *absent_bucket(directory, name); note != NULL; note = note->next)
        if (note->directory == directory->number && strcmp(note->name, name) == 0)
            return note;
    return NULL;
}

bool fs_absent_find(const struct inode *directory, const char *name)
{
    return absent_entry(directory, name) != NULL;
}

static void forget_lacking(void)
{
    for (uint32_t i = 0; i < ABSENT_BUCKETS; i++) {
        struct absent **at = &absent_names[i];

        while (*at != NULL) {
            struct absent *note = *at;

            if (note->removed) {
                at = &note->next;
                continue;
            }
            *at = note->next;
            heap_free(note, note->bytes);
        }
    }
    lacking = 0;
}

void fs_absent_note(const struct inode *directory, const char *name, bool removed)
{
    size_t bytes = sizeof(struct absent) + strlen(name) + 1;
    struct absent *note = absent_entry(directory, name), **bucket;

    if (note != NULL) {
        lacking -= removed && !note->removed;
        note->removed |= removed;
        return;
    }
    if (absent_names == NULL)
        absent_names = heap_alloc(ABSENT_BUCKETS * sizeof(struct absent *));
    if (lacking >= FS_ABSENT_LACKING_MAX)
        forget_lacking();
    note = absent_names != NULL ? heap_alloc(bytes) : NULL;
    if (note == NULL)
        return;
    bucket = absent_bucket(directory, name);
    *note = (struct absent){
        .next = *bucket, .directory = directory->number, .removed = removed, .bytes = bytes};
    memcpy(note->name, name, bytes - sizeof *note);
    *bucket = note;
    lacking += !removed;
}
