/* Maps the segments of an ELF file. */
#include "guest/exec/exec_image.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/memory/phys.h"
#include "guest/trace/trace.h"
#include "guest/vm/inode.h"
#include "guest/vm/vm_access.h"
#include "guest/vm/vm_range.h"

/* Finds the file, and its path if the caller gave none. */
static int exec_image_find(const char *name, const char *path, struct exec_image *image)
{
    static char real[2][FS_PATH_MAX];
    static unsigned used;
    struct fs_found found;
    int error = fs_walk(NULL, fs_root, name, FS_FOLLOW, &found);
    bool gone;

    if (error)
        return error;
    image->entry = found.entry;
    image->inode = found.entry->inode;
    image->contents = S_ISREG(image->inode->mode) ? inode_contents(image->inode) : NULL;
    image->path = path;
    if (path == NULL && fs_path(found.entry, real[used % 2], FS_PATH_MAX, &gone) >= 0)
        image->path = real[used++ % 2];
    fs_found_release(&found); /* its directory holds the inode */
    return image->contents != NULL && image->path != NULL ? 0 : -ENOENT;
}

int exec_image_open(const char *name, const char *path, struct exec_image *image)
{
    enum elf64_status status;

    if (exec_image_find(name, path, image) != 0) {
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

/* Two segments may share a page, which gets the rights and the bytes of both. */
static int share_page(struct vm_space *space, const struct exec_image *image,
                      const struct elf64_segment *s)
{
    uint64_t address = image->base + s->address;
    uint64_t room = PAGE_BYTES - (address & VM_PAGE_MASK);
    const struct vm_area *there = vm_find(space, address);
    int error = vm_protect(space, address & ~VM_PAGE_MASK, PAGE_BYTES,
                           there->protection | protection_of(s));

    if (error)
        return error;
    return vm_write(space, address, image->contents + s->file_offset,
                    s->file_bytes < room ? s->file_bytes : room);
}

/* Maps start..end-1, from the file or as zeros. */
static int map_part(struct vm_space *space, const struct exec_image *image,
                    const struct elf64_segment *s, uint64_t start, uint64_t end, bool file)
{
    const struct vm_request request = {.address = start,
                                       .bytes = end - start,
                                       .protection = protection_of(s),
                                       .flags = VM_AREA_IMAGE | (file ? VM_AREA_FILE : 0),
                                       .fixed = true,
                                       .noreplace = true,
                                       .inode = file ? image->inode : NULL,
                                       .entry = file ? image->entry : NULL,
                                       .offset = s->file_offset + start - image->base - s->address};
    int64_t result = start < end ? vm_map_request(space, &request) : 0;

    return result < 0 ? (int)result : 0;
}

static int map_segment(struct vm_space *space, const struct exec_image *image,
                       const struct elf64_segment *s)
{
    uint64_t address = image->base + s->address;
    uint64_t start = address & ~VM_PAGE_MASK;
    uint64_t end = vm_page_up(address + s->memory_bytes);
    uint64_t file_end = address + s->file_bytes; /* the memory after it is zero */
    uint64_t middle = s->file_bytes ? vm_page_up(file_end) : start;
    int error = 0;

    if (vm_find(space, start) != NULL) {
        error = share_page(space, image, s);
        start += PAGE_BYTES;
    }
    if (!error)
        error = map_part(space, image, s, start, middle, true);
    if (!error)
        error = map_part(space, image, s, middle > start ? middle : start, end, false);
    if (!error && s->memory_bytes > s->file_bytes && file_end < middle)
        error = vm_zero(space, file_end, middle - file_end);
    return error;
}

/* Tells the trace of an executable segment. */
static void exec_image_announce(const struct exec_image *image, const struct elf64_segment *s)
{
    uint64_t address = image->base + s->address, before = address & VM_PAGE_MASK;
    const uint8_t *id = image->contents + image->elf.build_id_offset;

    trace_map(address - before, vm_page_up(address + s->memory_bytes), s->file_offset - before,
              (s->flags & 4 ? HR_MAP_READ : 0) | (s->flags & 2 ? HR_MAP_WRITE : 0) | HR_MAP_EXEC,
              image->elf.build_id_bytes ? id : NULL, (uint16_t)image->elf.build_id_bytes,
              image->path);
}

int exec_image_map(struct vm_space *space, const struct exec_image *image)
{
    for (uint32_t i = 0; i < image->elf.segment_count; i++) {
        const struct elf64_segment *segment = &image->elf.segments[i];

        if (map_segment(space, image, segment) == 0) {
            if (segment->flags & 1)
                exec_image_announce(image, segment);
            continue;
        }
        log_notice("%s: its %lu KiB do not fit in memory; %lu KiB are free, try a larger --mem",
                   image->path, (image->elf.high - image->elf.low) >> 10, phys_free_bytes() >> 10);
        return -ENOMEM;
    }
    return 0;
}
