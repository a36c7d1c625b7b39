/* Segments of shared memory: shmget, shmat, shmdt, shmctl.
 *
 * A segment is an inode with pages that is in no directory.  Areas show it as they show a shared
 * file; the inode tells the segment when an area begins or ends to show it, so the number of its
 * attachments is inode->mappings at any time, whatever split, moved or removed the areas.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include "guest/ipc/ipc.h"
#include "guest/vm/inode.h"

#define SHM_MOST 4096u /* SHMMNI */
#define SHM_BYTES_MAX (UINT64_MAX - (1ull << 24)) /* SHMMAX, and SHMALL in pages */
#define SHM_DEST 01000u /* bits of a segment's mode: removed but attached, and locked */
#define SHM_LOCKED 02000u

struct shm_segment {
    struct ipc_object object; /* mode: SHM_DEST and SHM_LOCKED, too */
    struct fs_entry *entry; /* held; holds the inode; its name is for /proc/self/maps */
    struct inode *inode;
    uint64_t bytes;
    uint64_t attached, detached; /* times, in seconds since 1970; 0: never */
    uint32_t creator, last; /* processes */
};

extern struct ipc_kind shm_segments;
extern uint64_t shm_pages; /* of all segments, whether they are there or not */

/* Removes a segment: at once, or if areas show it, when the last one is gone. */
void shm_remove(struct shm_segment *segment);

/* The text of /proc/sysvipc/shm. */
void shm_list(const struct thread *thread, const struct inode *inode, struct text *text);
