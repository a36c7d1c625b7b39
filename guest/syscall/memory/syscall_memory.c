/* System calls on the address space. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/file/file_device.h"
#include "guest/file/files.h"
#include "guest/fs/fs.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/trace/trace_process.h"
#include "guest/vm/inode.h"
#include "guest/vm/uaccess.h"
#include "guest/vm/vm_advise.h"
#include "guest/vm/vm_range.h"
#include "lib/program/elf64.h"

#define PROTECTIONS (PROT_READ | PROT_WRITE | PROT_EXEC)
#define MINCORE_PART 256u

/* The flags that MAP_SHARED_VALIDATE accepts. */
#define MAP_KNOWN                                                                            \
    (MAP_TYPE | MAP_FIXED | MAP_ANONYMOUS | MAP_32BIT | MAP_GROWSDOWN | MAP_DENYWRITE |      \
     MAP_EXECUTABLE | MAP_LOCKED | MAP_NORESERVE | MAP_POPULATE | MAP_NONBLOCK | MAP_STACK | \
     MAP_HUGETLB | MAP_FIXED_NOREPLACE)

/* Returns a file that may be mapped in this way, or NULL and *error. */
static struct file *mappable(const struct thread *thread, const struct trap_frame *frame,
                             int64_t *error)
{
    struct file *file = files_get(thread->process, (int32_t)frame->r8);

    *error = -EBADF;
    if (file == NULL || (file->flags & O_PATH))
        return NULL;
    *error = -EACCES;
    if ((file->flags & O_ACCMODE) == O_WRONLY ||
        ((frame->r10 & MAP_TYPE) != MAP_PRIVATE && (frame->rdx & PROT_WRITE) &&
         (file->flags & O_ACCMODE) != O_RDWR))
        return NULL;
    *error = 0;
    if (file->type == &file_device_zero)
        return file;
    *error = -ENODEV;
    if (file->inode == NULL || !S_ISREG(file->inode->mode) || file->type != &file_regular)
        return NULL;
    *error = 0;
    return file;
}

/* Adds code that the program maps (its libraries) to the trace's load map. */
static void memory_announce(const struct process *process, const struct vm_area *area)
{
    struct inode *inode = area->inode;
    const uint8_t *contents = inode_contents(inode);
    uint64_t id = 0, id_bytes = 0, bytes_there = inode->bytes, first_page;
    char *path = heap_alloc(FS_PATH_MAX);
    bool gone;

    if (path != NULL && area->offset < inode->bytes &&
        fs_path(area->entry, path, FS_PATH_MAX, &gone) >= 0) {
        if (contents == NULL && inode_page(inode, 0, false, &first_page) == 0) {
            contents = phys_pointer(first_page); /* linkers put the note near the start */
            bytes_there = bytes_there < PAGE_BYTES ? bytes_there : PAGE_BYTES;
        }
        if (contents != NULL)
            elf64_build_id(contents, bytes_there, &id, &id_bytes);
        trace_process_map(process,
                          &(struct trace_maps_map){.start = area->start,
                                                   .end = area->end,
                                                   .file_offset = area->offset,
                                                   .flags = HR_MAP_READ | HR_MAP_EXEC,
                                                   .build_id = id_bytes ? contents + id : NULL,
                                                   .build_id_bytes = (uint16_t)id_bytes,
                                                   .path = path});
    }
    heap_free(path, FS_PATH_MAX);
    run_state.after_call.mapped = true;
}

/* Announces files' memory that mprotect is about to make executable.  The list of areas may change
 * while it waits. */
static void memory_announce_range(const struct process *process, uint64_t start, uint64_t end)
{
    while (start < end) {
        const struct vm_area *area = vm_find(process->space, start);
        struct vm_area part;

        if (area == NULL)
            break;
        part = *area;
        part.start = start;
        part.offset += start - area->start;
        part.end = area->end < end ? area->end : end;
        start = part.end;
        if (part.entry == NULL || part.entry->inode != part.inode || part.protection & VM_EXEC)
            continue;
        fs_entry_hold(part.entry);
        memory_announce(process, &part);
        fs_entry_release(part.entry);
    }
}

static int64_t check_flags(uint64_t flags)
{
    uint64_t type = flags & MAP_TYPE;

    if (type != MAP_PRIVATE && type != MAP_SHARED && type != MAP_SHARED_VALIDATE)
        return -EINVAL;
    if (type == MAP_SHARED_VALIDATE && flags & ~(uint64_t)MAP_KNOWN)
        return -EOPNOTSUPP;
    if (flags & MAP_HUGETLB) /* as on a Linux that has set none aside */
        return flags & MAP_ANONYMOUS ? -ENOMEM : -EINVAL;
    return 0;
}

static uint32_t area_flags(uint64_t flags)
{
    return ((flags & MAP_TYPE) == MAP_PRIVATE ? 0 : VM_AREA_SHARED) |
           (flags & MAP_NORESERVE ? VM_AREA_RESERVE : 0) |
           (flags & MAP_GROWSDOWN && flags & MAP_ANONYMOUS ? VM_AREA_GROWS : 0) |
           (flags & MAP_LOCKED ? VM_AREA_LOCKED : 0);
}

static int64_t map_file(struct thread *thread, const struct trap_frame *frame,
                        struct vm_request *request)
{
    struct file *file;
    int64_t result;

    file = mappable(thread, frame, &result);
    if (file == NULL)
        return result;
    if (file->type == &file_device_zero) /* as memory without a file */
        return vm_map_request(thread->process->space, request);
    request->inode = file->inode;
    request->entry = file->entry;
    request->flags |= VM_AREA_FILE;
    if (request->flags & VM_AREA_SHARED) {
        bool sealed = file->inode->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE);

        if (sealed && request->protection & VM_WRITE)
            return -EPERM;
        if (sealed || (file->flags & O_ACCMODE) != O_RDWR)
            request->flags |= VM_AREA_READ_FILE;
    }
    result = vm_map_request(thread->process->space, request);
    if (result >= 0 && request->protection & VM_EXEC && file->entry != NULL)
        memory_announce(thread->process,
                        &(struct vm_area){.start = (uint64_t)result,
                                          .end = (uint64_t)result + vm_page_up(request->bytes),
                                          .inode = file->inode,
                                          .entry = file->entry,
                                          .offset = request->offset});
    return result;
}

int64_t syscall_mmap(struct thread *thread, struct trap_frame *frame)
{
    uint64_t flags = frame->r10;
    struct vm_space *space = thread->process->space;
    struct vm_request request = {.address = frame->rdi,
                                 .bytes = frame->rsi,
                                 .protection = (uint32_t)frame->rdx & PROTECTIONS,
                                 .flags = area_flags(flags),
                                 .fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE),
                                 .noreplace = flags & MAP_FIXED_NOREPLACE,
                                 .low = flags & MAP_32BIT,
                                 .offset = frame->r9};
    int64_t result = frame->r9 & VM_PAGE_MASK ? -EINVAL : check_flags(flags);

    if (result)
        return result;
    if (flags & MAP_ANONYMOUS)
        result = vm_map_request(space, &request);
    else
        result = map_file(thread, frame, &request);
    if (result >= 0 && flags & MAP_POPULATE && !(flags & MAP_NONBLOCK))
        vm_populate(space, (uint64_t)result, (uint64_t)result + request.bytes, VM_POPULATE_ALLOWED);
    return result;
}

int64_t syscall_munmap(struct thread *thread, struct trap_frame *frame)
{
    return vm_unmap(thread->process->space, frame->rdi, frame->rsi);
}

/* Extends the range down to where a growing area begins. */
static int64_t protect_grown(struct vm_space *space, const struct trap_frame *frame)
{
    const struct vm_area *area = vm_find(space, frame->rdi);

    if (area == NULL)
        return -ENOMEM;
    if (!(area->flags & VM_AREA_GROWS))
        return -EINVAL;
    return vm_protect(space, area->start, frame->rdi + frame->rsi - area->start,
                      (uint32_t)frame->rdx & PROTECTIONS);
}

int64_t syscall_mprotect(struct thread *thread, struct trap_frame *frame)
{
    const uint64_t grows = PROT_GROWSDOWN | PROT_GROWSUP;
    struct vm_space *space = thread->process->space;

    if (frame->rdx & ~(PROTECTIONS | PROT_SEM | grows) || frame->rdi & VM_PAGE_MASK ||
        (frame->rdx & grows) == grows)
        return -EINVAL;
    if (!frame->rsi)
        return 0;
    if (frame->rdx & PROT_GROWSUP)
        return -EINVAL;
    if (frame->rdx & PROT_GROWSDOWN)
        return protect_grown(space, frame);
    if (frame->rdx & PROT_EXEC)
        memory_announce_range(thread->process, frame->rdi, vm_page_up(frame->rdi + frame->rsi));
    return vm_protect(space, frame->rdi, frame->rsi, (uint32_t)frame->rdx & PROTECTIONS);
}

int64_t syscall_mremap(struct thread *thread, struct trap_frame *frame)
{
    return vm_remap(thread->process->space, frame->rdi, frame->rsi, frame->rdx,
                    (uint32_t)frame->r10, frame->r8);
}

int64_t syscall_madvise(struct thread *thread, struct trap_frame *frame)
{
    return vm_advise(thread->process->space, frame->rdi, frame->rsi, (uint32_t)frame->rdx);
}

int64_t syscall_brk(struct thread *thread, struct trap_frame *frame)
{
    return (int64_t)vm_set_brk(thread->process->space, frame->rdi);
}

static bool mapped(const struct vm_space *space, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    const struct vm_area *area = vm_find(space, address);

    while (area != NULL && area->end < end && area->next != NULL && area->next->start == area->end)
        area = area->next;
    return end >= address && area != NULL && area->end >= end;
}

int64_t syscall_msync(struct thread *thread, struct trap_frame *frame)
{
    if ((frame->rdi & VM_PAGE_MASK) || (frame->rdx & ~7ull) || (frame->rdx & 5) == 5)
        return -EINVAL;
    return !frame->rsi || mapped(thread->process->space, frame->rdi, frame->rsi) ? 0 : -ENOMEM;
}

int64_t syscall_mincore(struct thread *thread, struct trap_frame *frame)
{
    const struct vm_space *space = thread->process->space;
    uint64_t pages = frame->rsi / PAGE_BYTES + (frame->rsi % PAGE_BYTES != 0);
    uint8_t present[MINCORE_PART];

    if (frame->rdi & VM_PAGE_MASK)
        return -EINVAL;
    if (pages && !mapped(space, frame->rdi, frame->rsi))
        return -ENOMEM;
    for (uint64_t done = 0; done < pages; done += sizeof present) {
        uint64_t part = pages - done < sizeof present ? pages - done : sizeof present;

        vm_resident(space, frame->rdi + done * PAGE_BYTES, present, part);
        if (copy_to_user(frame->rdx + done, present, part) != 0)
            return -EFAULT;
    }
    return 0;
}

int64_t syscall_mlock(struct thread *thread, struct trap_frame *frame)
{
    return vm_lock(thread->process->space, frame->rdi, frame->rsi, true, true);
}

int64_t syscall_mlock2(struct thread *thread, struct trap_frame *frame)
{
    if (frame->rdx & ~(uint64_t)MLOCK_ONFAULT)
        return -EINVAL;
    return vm_lock(thread->process->space, frame->rdi, frame->rsi, true, !frame->rdx);
}

int64_t syscall_munlock(struct thread *thread, struct trap_frame *frame)
{
    return vm_lock(thread->process->space, frame->rdi, frame->rsi, false, false);
}

int64_t syscall_mlockall(struct thread *thread, struct trap_frame *frame)
{
    struct vm_space *space = thread->process->space;
    uint64_t flags = frame->rdi;

    if (!flags || flags & ~(uint64_t)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) ||
        flags == MCL_ONFAULT)
        return -EINVAL;
    space->lock_future = flags & MCL_FUTURE;
    if (flags & MCL_CURRENT) /* gaps between areas are no error */
        vm_lock(space, 0, USER_END, true, false);
    if ((flags & (MCL_CURRENT | MCL_ONFAULT)) == MCL_CURRENT &&
        vm_populate(space, 0, USER_END, VM_POPULATE_ALLOWED) == -ENOMEM)
        return -EAGAIN;
    return 0;
}

int64_t syscall_munlockall(struct thread *thread, struct trap_frame *)
{
    struct vm_space *space = thread->process->space;

    space->lock_future = false;
    vm_lock(space, 0, USER_END, false, false);
    return 0;
}

int64_t syscall_nothing(struct thread *, struct trap_frame *)
{
    return 0;
}
