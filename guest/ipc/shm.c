/* Segments of shared memory, and areas that show them. */
#include "guest/ipc/shm.h"

#include <errno.h>
#include <linux/shm.h>
#include <sys/stat.h>

#include "guest/base/log.h"
#include "guest/base/syscall_handlers.h"
#include "guest/cpu/cpu.h"
#include "guest/fs/fs.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/vm/vm_area.h"
#include "guest/vm/vm_range.h"

#define SIZE_SHIFT_MASK (0x3fu << SHM_HUGE_SHIFT) /* which huge pages */

uint64_t shm_pages;

static void free_segment(struct shm_segment *segment)
{
    shm_pages -= vm_page_up(segment->bytes) / PAGE_BYTES;
    ipc_remove(&shm_segments, &segment->object);
    segment->inode->context = 0;
    segment->inode->shown = NULL;
    fs_entry_release(segment->entry);
    heap_free(segment, sizeof *segment);
}

void shm_remove(struct shm_segment *segment)
{
    if (segment->inode->mappings) {
        segment->object.mode |= SHM_DEST;
        ipc_forget_key(&shm_segments, &segment->object);
    } else {
        free_segment(segment);
    }
}

/* An area begins or ends to show a segment. */
static void shm_shown(struct inode *inode, bool more)
{
    struct shm_segment *segment =
        (struct shm_segment *)ipc_find(&shm_segments, (int64_t)inode->context);
    const struct thread *thread = cpu_this()->thread;

    if (segment == NULL)
        return;
    *(more ? &segment->attached : &segment->detached) = ipc_now();
    if (thread != NULL)
        segment->last = thread->process->pid;
    if (!inode->mappings && segment->object.mode & SHM_DEST)
        free_segment(segment);
}

/* Returns 0 if a segment of that size may be made, or -errno. */
static int check_new(uint64_t bytes, uint32_t flags)
{
    uint64_t pages = bytes / PAGE_BYTES + (bytes % PAGE_BYTES != 0);

    if (!bytes || bytes > SHM_BYTES_MAX)
        return -EINVAL;
    if (shm_pages + pages < shm_pages || shm_pages + pages > SHM_BYTES_MAX ||
        shm_segments.count >= shm_segments.most)
        return -ENOSPC;
    if (flags & SHM_HUGETLB) /* as on a Linux without huge pages, for a user */
        return flags & SIZE_SHIFT_MASK ? -EINVAL : -EPERM;
    if (bytes > INT64_MAX || (!(flags & SHM_NORESERVE) && bytes > phys_total_bytes()))
        return -ENOMEM;
    return 0;
}

/* Makes the segment's inode, which is in no directory. */
static struct fs_entry *make_entry(uint32_t key, uint64_t bytes)
{
    struct inode *inode = inode_new(S_IFREG | 0777);
    char name[16];

    if (inode == NULL)
        return NULL;
    inode->bytes = bytes;
    inode->shown = shm_shown;
    format_text(name, sizeof name, "SYSV%08x", key);
    return fs_entry_new(fs_root, name, inode);
}

static int64_t shm_make(struct thread *thread, uint32_t key, uint64_t bytes, uint32_t flags)
{
    struct shm_segment *segment;
    int64_t id = check_new(bytes, flags);

    if (id)
        return id;
    segment = heap_alloc(sizeof *segment);
    if (segment == NULL)
        return -ENOMEM;
    segment->entry = make_entry(key, bytes);
    id = segment->entry != NULL ? ipc_add(&shm_segments, &segment->object, key, flags) : -ENOMEM;
    if (id < 0) {
        fs_entry_release(segment->entry);
        heap_free(segment, sizeof *segment);
        return id;
    }
    segment->inode = segment->entry->inode;
    segment->inode->context = (uint64_t)id;
    segment->bytes = bytes;
    segment->creator = thread->process->pid;
    shm_pages += vm_page_up(bytes) / PAGE_BYTES;
    return id;
}

static int shm_check(const struct ipc_object *object, uint64_t bytes)
{
    return bytes > ((const struct shm_segment *)object)->bytes ? -EINVAL : 0;
}

struct ipc_kind shm_segments = {.most = SHM_MOST, .make = shm_make, .check = shm_check};

int64_t syscall_shmget(struct thread *thread, struct trap_frame *frame)
{
    return ipc_get(&shm_segments, thread, (uint32_t)frame->rdi, frame->rsi, (uint32_t)frame->rdx);
}

/* Rounds the address that a segment is to be attached at, or refuses it. */
static int attach_address(uint64_t *address, uint32_t flags)
{
    if (*address & VM_PAGE_MASK) {
        if (!(flags & SHM_RND))
            return -EINVAL;
        *address &= ~VM_PAGE_MASK;
    }
    return !*address && flags & SHM_REMAP ? -EINVAL : 0;
}

static uint32_t attach_permission(uint32_t flags)
{
    return IPC_READ | (flags & SHM_RDONLY ? 0 : IPC_WRITE) | (flags & SHM_EXEC ? 0111 : 0);
}

int64_t syscall_shmat(struct thread *thread, struct trap_frame *frame)
{
    struct vm_space *space = thread->process->space;
    uint32_t flags = (uint32_t)frame->rdx;
    uint64_t address = frame->rsi;
    const struct shm_segment *segment;
    int error = (int32_t)frame->rdi < 0 ? -EINVAL : attach_address(&address, flags);

    if (error)
        return error;
    segment = (const struct shm_segment *)ipc_subject(&shm_segments, (int64_t)frame->rdi, false,
                                                      attach_permission(flags), &error);
    if (segment == NULL)
        return error;
    if (address && !(flags & SHM_REMAP) &&
        (address + segment->bytes < address ||
         !vm_area_is_free(space, address, address + segment->bytes)))
        return -EINVAL;
    return vm_map_request(
        space, &(struct vm_request){.address = address,
                                    .bytes = segment->bytes,
                                    .protection = VM_READ | (flags & SHM_RDONLY ? 0 : VM_WRITE) |
                                                  (flags & SHM_EXEC ? VM_EXEC : 0),
                                    .flags = VM_AREA_SHARED | VM_AREA_FILE |
                                             (flags & SHM_RDONLY ? VM_AREA_READ_FILE : 0),
                                    .fixed = address,
                                    .inode = segment->inode,
                                    .entry = segment->entry});
}

/* Returns whether an area is a part of an attachment that began at `address`. */
static bool is_part(const struct vm_area *area, uint64_t address)
{
    return area->inode != NULL && area->inode->shown == shm_shown &&
           area->start - address == area->offset;
}

/* The first area that is part of an attachment at the address says which segment it is. */
int64_t syscall_shmdt(struct thread *thread, struct trap_frame *frame)
{
    struct vm_space *space = thread->process->space;
    uint64_t address = frame->rdi, end = USER_END;
    const struct vm_area *area = address & VM_PAGE_MASK ? NULL : vm_area_from(space, address);
    const struct inode *inode = NULL;
    int error = -EINVAL;

    while (area != NULL && area->start < end) {
        const struct vm_area *next = area->next;

        if (is_part(area, address) && (inode == NULL || area->inode == inode)) {
            if (inode == NULL)
                end = address + vm_page_up(area->inode->bytes);
            inode = area->inode;
            error = vm_unmap(space, area->start, area->end - area->start);
            if (error)
                return error;
        }
        area = next;
    }
    return error;
}
