/* Maps the segments of an ELF file. */
#include "guest/exec/exec_image.h"

#include <errno.h>

#include "guest/base/layout.h"
#include "guest/memory/phys.h"
#include "guest/trace/trace.h"
#include "guest/vm/inode.h"
#include "guest/vm/vm_access.h"
#include "guest/vm/vm_range.h"

static uint8_t looked_at[ELF64_LOOK_MAX];

static const uint8_t *exec_image_look(void *inode, uint64_t offset, uint64_t bytes)
{
    return inode_read(inode, offset, looked_at, bytes) == (int64_t)bytes ? looked_at : NULL;
}

static enum elf64_status exec_image_parse(struct inode *inode, uint64_t head, bool whole,
                                          struct exec_image *image)
{
    const struct elf64_source source = {
        .head = phys_pointer(head),
        .head_bytes = inode->bytes < PAGE_BYTES ? inode->bytes : PAGE_BYTES,
        .bytes = whole ? inode->bytes : UINT64_MAX,
        .look = exec_image_look,
        .context = inode,
    };

    return elf64_read(&source, &image->elf);
}

int exec_image_open(struct fs_entry *entry, bool whole, struct exec_image *image,
                    enum elf64_status *status)
{
    struct inode *inode = entry->inode;
    uint64_t head;
    int error = inode_page(inode, 0, false, &head);

    *status = ELF64_NOT_ELF;
    if (error)
        return error == -ENXIO ? -ENOEXEC : error;
    inode->readers++; /* the page stays */
    *status = exec_image_parse(inode, head, whole, image);
    inode->readers--;
    if (*status != ELF64_OK)
        return -ENOEXEC;
    if (image->elf.build_id_bytes &&
        inode_read(inode, image->elf.build_id_offset, image->build_id, image->elf.build_id_bytes) !=
            (int64_t)image->elf.build_id_bytes)
        image->elf.build_id_bytes = 0;
    fs_entry_hold(entry);
    image->entry = entry;
    return 0;
}

void exec_image_close(struct exec_image *image)
{
    fs_entry_release(image->entry);
    image->entry = NULL;
}

const char *exec_image_interpreter(const struct exec_image *image, int *error)
{
    if (!image->elf.interpreter_bytes)
        return NULL;
    if (exec_image_look(image->entry->inode, image->elf.interpreter_offset,
                        image->elf.interpreter_bytes) != NULL)
        return (const char *)looked_at;
    *error = -EIO;
    return NULL;
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
    uint64_t bytes;
    int64_t result;
    void *page;

    if (!error)
        error = vm_access(space, address, VM_ACCESS_FORCE, &page, &bytes);
    if (error)
        return error;
    result = inode_read(image->entry->inode, s->file_offset, page,
                        s->file_bytes < room ? s->file_bytes : room);
    return result < 0 ? (int)result : 0;
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
                                       .inode = file ? image->entry->inode : NULL,
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

void exec_image_announce(const struct exec_image *image, const char *path)
{
    for (uint32_t i = 0; i < image->elf.segment_count; i++) {
        const struct elf64_segment *s = &image->elf.segments[i];
        uint64_t address = image->base + s->address, before = address & VM_PAGE_MASK;

        if (s->flags & 1)
            trace_map(
                address - before, vm_page_up(address + s->memory_bytes), s->file_offset - before,
                (s->flags & 4 ? HR_MAP_READ : 0) | (s->flags & 2 ? HR_MAP_WRITE : 0) | HR_MAP_EXEC,
                image->elf.build_id_bytes ? image->build_id : NULL,
                (uint16_t)image->elf.build_id_bytes, path);
    }
}

int exec_image_map(struct vm_space *space, const struct exec_image *image)
{
    int error = 0;

    for (uint32_t i = 0; i < image->elf.segment_count && !error; i++)
        error = map_segment(space, image, &image->elf.segments[i]);
    return error;
}
