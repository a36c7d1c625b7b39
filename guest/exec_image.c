/* Maps the segments of an ELF file. */
#include "guest/exec_image.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/layout.h"
#include "guest/log.h"
#include "guest/phys.h"
#include "guest/trace.h"
#include "guest/vm_access.h"

#define PAGE_MASK (PAGE_BYTES - 1ull)

/* The file itself, and its path if the caller has none. */
static int find(const char *name, const char *path, struct exec_image *image)
{
    static char real[2][FS_PATH_MAX];
    static unsigned used;
    struct fs_found found;
    int error = fs_walk(NULL, fs_root, name, FS_FOLLOW, &found);
    bool gone;

    if (error)
        return error;
    image->inode = found.entry->inode;
    image->contents = S_ISREG(image->inode->mode) ? inode_contents(image->inode) : NULL;
    image->path = path;
    if (!path && fs_path(found.entry, real[used % 2], FS_PATH_MAX, &gone) >= 0)
        image->path = real[used++ % 2];
    fs_found_release(&found); /* its directory holds the inode */
    return image->contents && image->path ? 0 : -ENOENT;
}

int exec_image_open(const char *name, const char *path, struct exec_image *image)
{
    enum elf64_status status;

    if (find(name, path, image) != 0) {
        log_notice("the run archive has no %s", name);
        return -ENOENT;
    }
    status = elf64_parse(image->contents, image->inode->bytes, &image->elf);
    if (status != ELF64_OK) {
        log_notice("%s: %s", image->path, elf64_status_text(status));
        return -ENOEXEC;
    }
    return 0;
}

const char *exec_image_interpreter(const struct exec_image *image)
{
    if (!image->elf.interpreter_bytes)
        return NULL;
    return (const char *)image->contents + image->elf.interpreter_offset;
}

int exec_image_place(struct vm_space *space, struct exec_image *image, uint64_t wanted)
{
    uint64_t bytes = image->elf.high - image->elf.low;
    int64_t found;

    image->base = 0;
    if (!image->elf.relocatable)
        return 0;
    if (!wanted) {
        found = vm_map(space, 0, bytes, 0, VM_AREA_IMAGE, false, false);
        if (found < 0)
            return (int)found;
        wanted = (uint64_t)found;
        vm_unmap(space, wanted, bytes);
    }
    image->base = wanted - image->elf.low;
    return 0;
}

static uint32_t protection_of(const struct elf64_segment *s)
{
    return (s->flags & 4 ? VM_READ : 0) | (s->flags & 2 ? VM_WRITE : 0) |
           (s->flags & 1 ? VM_EXEC : 0);
}

/* Two segments may share a page: it gets the rights of both. */
static int map_range(struct vm_space *space, uint64_t start, uint64_t end, uint32_t protection)
{
    const struct vm_area *shared = vm_find(space, start);
    int64_t result;

    if (shared) {
        int error = vm_protect(space, start, PAGE_BYTES, shared->protection | protection);

        if (error)
            return error;
        start += PAGE_BYTES;
    }
    if (start >= end)
        return 0;
    result = vm_map(space, start, end - start, protection, VM_AREA_IMAGE, true, true);
    return result < 0 ? (int)result : 0;
}

static int map_segment(struct vm_space *space, const struct exec_image *image,
                       const struct elf64_segment *s)
{
    uint64_t address = image->base + s->address;
    uint64_t start = address & ~PAGE_MASK;
    uint64_t end = (address + s->memory_bytes + PAGE_MASK) & ~PAGE_MASK;
    int error = map_range(space, start, end, protection_of(s));

    if (!error)
        error = vm_write(space, address, image->contents + s->file_offset, s->file_bytes);
    if (!error && s->flags & 1)
        trace_map(start, end, s->file_offset - (address - start),
                  (s->flags & 4 ? HR_MAP_READ : 0) | (s->flags & 2 ? HR_MAP_WRITE : 0) |
                      HR_MAP_EXEC,
                  image->elf.build_id_bytes ? image->contents + image->elf.build_id_offset : NULL,
                  (uint16_t)image->elf.build_id_bytes, image->path);
    return error;
}

int exec_image_map(struct vm_space *space, const struct exec_image *image)
{
    for (uint32_t i = 0; i < image->elf.segment_count; i++) {
        if (map_segment(space, image, &image->elf.segments[i]) == 0)
            continue;
        log_notice("%s: its %lu KiB do not fit in memory; %lu KiB are free, try a larger --mem",
                   image->path, (image->elf.high - image->elf.low) >> 10, phys_free_bytes() >> 10);
        return -ENOMEM;
    }
    return 0;
}
