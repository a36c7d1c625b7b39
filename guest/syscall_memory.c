/* System calls on the address space. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <string.h>

#include "guest/files.h"
#include "guest/fs.h"
#include "guest/phys.h"
#include "guest/syscall_handlers.h"
#include "guest/trace.h"
#include "guest/uaccess.h"
#include "guest/vm_access.h"
#include "lib/elf64.h"

#define PROTECTIONS (PROT_READ | PROT_WRITE | PROT_EXEC)
#define MINCORE_PART 256u

static bool protection_ok(uint64_t protection)
{
    return !(protection & ~(uint64_t)PROTECTIONS);
}

/* A file that may be mapped so, or NULL and *error. */
static const struct file *mappable(const struct thread *thread, const struct trap_frame *frame,
                                   int64_t *error)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->r8);

    *error = -EBADF;
    if (!file || (file->flags & O_PATH))
        return NULL;
    *error = -EACCES;
    if ((file->flags & O_ACCMODE) == O_WRONLY ||
        ((frame->r10 & MAP_TYPE) != MAP_PRIVATE && (frame->rdx & PROT_WRITE)))
        return NULL;
    *error = -ENODEV;
    if (file->type != &file_regular)
        return NULL;
    *error = 0;
    return file;
}

/* The file's bytes are copied, page by page; what lies behind its end reads as zeros. */
static int64_t fill(struct thread *thread, const struct file *file, int64_t address, uint64_t bytes,
                    uint64_t offset)
{
    struct vm_space *space = &thread->process->space;
    struct inode *inode = file->inode;
    uint64_t page;

    for (uint64_t done = 0; done < bytes && offset + done < inode->bytes; done += PAGE_BYTES) {
        uint64_t part = bytes - done < PAGE_BYTES ? bytes - done : PAGE_BYTES;
        int error = inode_page(inode, (offset + done) / PAGE_BYTES, false, &page);

        if (!error)
            error = vm_write(space, (uint64_t)address + done, phys_pointer(page), part);
        if (error) {
            vm_unmap(space, (uint64_t)address, bytes);
            return error;
        }
    }
    return address;
}

/* Code that the program maps (its libraries) is in the trace's load map. */
static void announce(const struct file *file, uint64_t address, uint64_t bytes, uint64_t offset)
{
    static char path[FS_PATH_MAX];
    const uint8_t *contents = inode_contents(file->inode);
    uint64_t id = 0, id_bytes = 0;
    bool gone;

    if (offset >= file->inode->bytes || fs_path(file->entry, path, sizeof path, &gone) < 0)
        return;
    if (contents)
        elf64_build_id(contents, file->inode->bytes, &id, &id_bytes);
    trace_map(address, address + bytes, offset, HR_MAP_READ | HR_MAP_EXEC,
              id_bytes ? contents + id : NULL, (uint16_t)id_bytes, path);
}

int64_t syscall_mmap(struct thread *thread, struct trap_frame *frame)
{
    uint64_t flags = frame->r10, type = flags & MAP_TYPE;
    bool fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    uint32_t area_flags = type == MAP_PRIVATE ? 0 : VM_AREA_SHARED;
    const struct file *file = NULL;
    int64_t result;

    if (!protection_ok(frame->rdx) || (frame->r9 & (PAGE_BYTES - 1)) ||
        (type != MAP_PRIVATE && type != MAP_SHARED && type != MAP_SHARED_VALIDATE))
        return -EINVAL;
    if (!(flags & MAP_ANONYMOUS)) {
        file = mappable(thread, frame, &result);
        if (!file)
            return result;
        area_flags |= VM_AREA_FILE;
    }
    result = vm_map(&thread->process->space, frame->rdi, frame->rsi, (uint32_t)frame->rdx,
                    area_flags, fixed, flags & MAP_FIXED_NOREPLACE);
    if (result < 0 || !file)
        return result;
    result = fill(thread, file, result, frame->rsi, frame->r9);
    if (result >= 0 && frame->rdx & PROT_EXEC && file->entry)
        announce(file, (uint64_t)result, (frame->rsi + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1ull),
                 frame->r9);
    return result;
}

int64_t syscall_munmap(struct thread *thread, struct trap_frame *frame)
{
    return vm_unmap(&thread->process->space, frame->rdi, frame->rsi);
}

int64_t syscall_mprotect(struct thread *thread, struct trap_frame *frame)
{
    if (!protection_ok(frame->rdx) || (frame->rdi & (PAGE_BYTES - 1)))
        return -EINVAL;
    if (!frame->rsi)
        return 0;
    return vm_protect(&thread->process->space, frame->rdi, frame->rsi, (uint32_t)frame->rdx);
}

int64_t syscall_mremap(struct thread *thread, struct trap_frame *frame)
{
    return vm_remap(&thread->process->space, frame->rdi, frame->rsi, frame->rdx,
                    (uint32_t)frame->r10, frame->r8);
}

int64_t syscall_madvise(struct thread *thread, struct trap_frame *frame)
{
    struct vm_space *space = &thread->process->space;
    uint32_t advice = (uint32_t)frame->rdx;

    if (frame->rdi & (PAGE_BYTES - 1))
        return -EINVAL;
    if (!frame->rsi)
        return 0;
    if (advice == MADV_DONTNEED || advice == MADV_FREE)
        return vm_discard(space, frame->rdi, frame->rsi);
    /* The others up to MADV_SEQUENTIAL..COLLAPSE only advise. */
    if (advice == MADV_REMOVE || advice > MADV_COLLAPSE ||
        (advice > MADV_WILLNEED && advice < MADV_FREE))
        return -EINVAL;
    return 0;
}

int64_t syscall_brk(struct thread *thread, struct trap_frame *frame)
{
    return (int64_t)vm_set_brk(&thread->process->space, frame->rdi);
}

static bool mapped(const struct vm_space *space, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    const struct vm_area *area = vm_find(space, address);

    while (area && area->end < end && area->next && area->next->start == area->end)
        area = area->next;
    return end >= address && area && area->end >= end;
}

int64_t syscall_msync(struct thread *thread, struct trap_frame *frame)
{
    if ((frame->rdi & (PAGE_BYTES - 1)) || (frame->rdx & ~7ull) || (frame->rdx & 5) == 5)
        return -EINVAL;
    return !frame->rsi || mapped(&thread->process->space, frame->rdi, frame->rsi) ? 0 : -ENOMEM;
}

/* Every page counts as resident: none was ever moved out. */
int64_t syscall_mincore(struct thread *thread, struct trap_frame *frame)
{
    uint64_t pages = frame->rsi / PAGE_BYTES + (frame->rsi % PAGE_BYTES != 0);
    uint8_t present[MINCORE_PART];

    if (frame->rdi & (PAGE_BYTES - 1))
        return -EINVAL;
    if (pages && !mapped(&thread->process->space, frame->rdi, frame->rsi))
        return -ENOMEM;
    memset(present, 1, sizeof present);
    for (uint64_t done = 0; done < pages; done += sizeof present) {
        uint64_t part = pages - done < sizeof present ? pages - done : sizeof present;

        if (copy_to_user(frame->rdx + done, present, part) != 0)
            return -EFAULT;
    }
    return 0;
}

int64_t syscall_nothing(struct thread *thread, struct trap_frame *frame)
{
    (void)thread;
    (void)frame;
    return 0;
}
