/* What mremap does. */
#include <errno.h>
#include <linux/mman.h>

#include "guest/vm/vm_advise.h"
#include "guest/vm/vm_area.h"
#include "guest/vm/vm_pages.h"
#include "guest/vm/vm_range.h"

struct remap {
    uint64_t from;
    uint64_t old_bytes;
    uint64_t new_bytes;
    struct vm_area kind; /* of the area, with the offset that belongs to `from` */
};

static int64_t insert_at(struct vm_space *space, const struct remap *r, uint64_t to)
{
    struct vm_area kind = r->kind;
    int error;

    kind.start = to;
    kind.end = to + r->new_bytes;
    error = vm_area_insert(space, &kind);
    return error ? error : (int64_t)to;
}

static uint64_t vm_remap_choose(const struct vm_space *space, const struct remap *r, uint64_t hint)
{
    return vm_choose(space, &(struct vm_request){
                                .address = hint, .bytes = r->new_bytes, .inode = r->kind.inode});
}

static int64_t move_to(struct vm_space *space, const struct remap *r, uint64_t to, bool keep_old)
{
    uint64_t moved = r->old_bytes < r->new_bytes ? r->old_bytes : r->new_bytes;
    int64_t result = insert_at(space, r, to);
    int error;

    if (result < 0)
        return result;
    error = vm_area_isolate(space, r->from, r->from + r->old_bytes);
    if (!error)
        error = vm_pages_move(space, r->from, to, moved);
    if (error) {
        vm_area_join(space, r->from, r->from + r->old_bytes);
        vm_unmap(space, to, r->new_bytes);
        return error;
    }
    if (!keep_old)
        vm_unmap(space, r->from, r->old_bytes);
    vm_area_join(space, to, to + r->new_bytes);
    vm_new_memory(space, to, to + r->new_bytes);
    return (int64_t)to;
}

static int64_t remap_fixed(struct vm_space *space, const struct remap *r, uint64_t to,
                           bool keep_old)
{
    int error;

    if (!vm_range_ok(to, r->new_bytes) || to < VM_LOWEST ||
        (to < r->from + r->old_bytes && r->from < to + r->new_bytes))
        return -EINVAL;
    error = vm_unmap(space, to, r->new_bytes);
    return error ? error : move_to(space, r, to, keep_old);
}

/* A part inside an area cannot grow in place. */
static int64_t vm_remap_grow(struct vm_space *space, const struct remap *r, uint32_t flags)
{
    uint64_t end = r->from + r->old_bytes, new_end = r->from + r->new_bytes;
    uint64_t more = r->new_bytes - r->old_bytes;
    uint64_t to;

    if (vm_too_large(space, more, r->kind.protection, r->kind.flags) ||
        vm_too_large(space, r->new_bytes, r->kind.protection, r->kind.flags))
        return -ENOMEM;
    if (new_end <= USER_END && new_end > end && vm_area_is_free(space, end, new_end)) {
        vm_area_extend_up(space, vm_area_from(space, r->from), new_end);
        vm_area_join(space, r->from, new_end);
        vm_new_memory(space, end, new_end);
        return (int64_t)r->from;
    }
    if (!(flags & MREMAP_MAYMOVE))
        return -ENOMEM;
    to = vm_remap_choose(space, r, 0);
    return to ? move_to(space, r, to, false) : -ENOMEM;
}

/* With no old bytes, maps a shared mapping a second time. */
static int64_t show_again(struct vm_space *space, const struct remap *r, uint32_t flags,
                          uint64_t to)
{
    if (!(r->kind.flags & VM_AREA_SHARED) || r->kind.inode == NULL || !(flags & MREMAP_MAYMOVE))
        return -EINVAL;
    if (flags & MREMAP_FIXED && to <= r->from && r->from - to < r->new_bytes)
        return -EINVAL; /* it would replace what it is to map */
    return vm_map_request(space, &(struct vm_request){.address = flags & MREMAP_FIXED ? to : 0,
                                                      .bytes = r->new_bytes,
                                                      .protection = r->kind.protection,
                                                      .flags = r->kind.flags,
                                                      .fixed = flags & MREMAP_FIXED,
                                                      .inode = r->kind.inode,
                                                      .entry = r->kind.entry,
                                                      .offset = r->kind.offset});
}

static int64_t vm_remap_remap(struct vm_space *space, const struct remap *r, uint32_t flags,
                              uint64_t to)
{
    int error;

    if (!r->old_bytes)
        return show_again(space, r, flags, to);
    if (flags & MREMAP_FIXED)
        return remap_fixed(space, r, to, flags & MREMAP_DONTUNMAP);
    if (flags & MREMAP_DONTUNMAP) {
        to = vm_remap_choose(space, r, to);
        return to ? move_to(space, r, to, true) : -ENOMEM;
    }
    if (r->new_bytes > r->old_bytes)
        return vm_remap_grow(space, r, flags);
    if (r->new_bytes < r->old_bytes) {
        error = vm_unmap(space, r->from + r->new_bytes, r->old_bytes - r->new_bytes);
        if (error)
            return error;
    }
    return (int64_t)r->from;
}

int64_t vm_remap(struct vm_space *space, uint64_t address, uint64_t old_bytes, uint64_t new_bytes,
                 uint32_t flags, uint64_t new_address)
{
    const struct vm_area *area;
    struct remap r = {
        .from = address, .old_bytes = vm_page_up(old_bytes), .new_bytes = vm_page_up(new_bytes)};

    if ((flags & ~(uint32_t)(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP)) ||
        !vm_range_ok(address, r.old_bytes ? r.old_bytes : PAGE_BYTES) || old_bytes > USER_END ||
        !r.new_bytes || new_bytes > USER_END ||
        ((flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) && !(flags & MREMAP_MAYMOVE)) ||
        ((flags & MREMAP_DONTUNMAP) && r.old_bytes != r.new_bytes))
        return -EINVAL;
    area = vm_find(space, address);
    if (area == NULL || area->end - address < r.old_bytes)
        return -EFAULT;
    r.kind = (struct vm_area){.protection = area->protection,
                              .flags = area->flags,
                              .inode = area->inode,
                              .entry = area->entry,
                              .offset =
                                  area->inode != NULL ? area->offset + (address - area->start) : 0};
    if (r.kind.inode != NULL && r.kind.offset > INT64_MAX - r.new_bytes)
        return -EINVAL;
    return vm_remap_remap(space, &r, flags, new_address);
}
