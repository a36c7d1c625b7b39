/* The program's address space: what mmap, munmap, mprotect and brk do. */
#include "guest/vm/vm.h"
#include "guest/base/context.h"

#include <errno.h>

#include "guest/base/layout.h"
#include "guest/memory/phys.h"
#include "guest/vm/vm_advise.h"
#include "guest/vm/vm_area.h"
#include "guest/vm/vm_pages.h"
#include "guest/vm/vm_range.h"

#define LOW_END 0x80000000ull /* of MAP_32BIT */

uint64_t vm_choose(const struct vm_space *space, const struct vm_request *r)
{
    bool large = r->bytes >= LARGE_PAGE_BYTES && r->inode == NULL;
    uint64_t hint = r->address & ~VM_PAGE_MASK;
    uint64_t top = r->low ? LOW_END : VM_MAP_TOP;

    if (hint >= VM_LOWEST && vm_range_ok(hint, r->bytes) &&
        vm_area_is_free(space, hint, hint + r->bytes))
        return hint;
    return vm_area_gap(space, r->bytes, large ? LARGE_PAGE_BYTES : PAGE_BYTES, VM_LOWEST, top);
}

/* True for what RLIMIT_DATA counts: the program's own writable memory, except stacks that grow. */
static bool is_data(uint32_t protection, uint32_t flags)
{
    return protection & VM_WRITE && !(flags & (VM_AREA_SHARED | VM_AREA_STACK | VM_AREA_GROWS));
}

static bool exceeds_data(const struct vm_space *space, uint64_t bytes)
{
    uint64_t used = 0;

    if (space->data_limit == VM_UNLIMITED)
        return false;
    for (const struct vm_area *area = vm_area_from(space, 0); area != NULL; area = area->next)
        if (is_data(area->protection, area->flags))
            used += area->end - area->start;
    return bytes > space->data_limit || used > space->data_limit - bytes;
}

/* As Linux's heuristic of overcommit, refuses at once what can never be filled.  Reservations, and
 * what cannot be written, may be of any size. */
bool vm_too_large(const struct vm_space *space, uint64_t bytes, uint32_t protection, uint32_t flags)
{
    if (space->mapped_bytes + bytes > space->address_limit)
        return true;
    if (is_data(protection, flags) && exceeds_data(space, bytes))
        return true;
    return (protection & VM_WRITE) && !(flags & (VM_AREA_RESERVE | VM_AREA_FILE)) &&
           bytes > phys_total_bytes();
}

/* Chooses the place of a request and unmaps what was there.  Returns the address or -errno. */
static int64_t make_room(struct vm_space *space, const struct vm_request *r)
{
    uint64_t address;
    int error;

    if (!r->fixed) {
        address = vm_choose(space, r);
        return address ? (int64_t)address : -ENOMEM;
    }
    if (!vm_range_ok(r->address, r->bytes))
        return -ENOMEM;
    if (r->address < VM_LOWEST)
        return -EPERM;
    if (r->noreplace && !vm_area_is_free(space, r->address, r->address + r->bytes))
        return -EEXIST;
    error = vm_unmap(space, r->address, r->bytes);
    return error ? error : (int64_t)r->address;
}

int64_t vm_map_request(struct vm_space *space, const struct vm_request *request)
{
    struct vm_request r = *request;
    struct vm_area kind = {
        .protection = r.protection, .flags = r.flags, .inode = r.inode, .entry = r.entry};
    uint64_t replaced = 0;
    int64_t address;
    int error;

    if (!r.bytes || (r.fixed && (r.address & VM_PAGE_MASK)) || (r.offset & VM_PAGE_MASK))
        return -EINVAL;
    r.bytes = vm_page_up(r.bytes);
    if (!r.bytes || r.bytes > USER_END)
        return -ENOMEM;
    if (r.inode != NULL && r.offset > INT64_MAX - r.bytes)
        return -EOVERFLOW;
    if (r.fixed && vm_range_ok(r.address, r.bytes))
        replaced = vm_area_bytes(space, r.address, r.address + r.bytes);
    if (r.bytes > replaced && vm_too_large(space, r.bytes - replaced, r.protection, r.flags))
        return -ENOMEM;
    address = make_room(space, &r);
    if (address < 0)
        return address;
    kind.start = (uint64_t)address;
    kind.end = kind.start + r.bytes;
    kind.offset = r.inode != NULL ? r.offset : 0;
    kind.flags |= space->lock_future ? VM_AREA_LOCKED : 0;
    error = vm_area_insert(space, &kind);
    if (error)
        return error;
    vm_new_memory(space, kind.start, kind.end);
    return address;
}

int64_t vm_map(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t protection,
               uint32_t area_flags, bool fixed, bool noreplace)
{
    cross_assert_held();
    return vm_map_request(space, &(struct vm_request){.address = address,
                                                      .bytes = bytes,
                                                      .protection = protection,
                                                      .flags = area_flags,
                                                      .fixed = fixed,
                                                      .noreplace = noreplace});
}

int vm_unmap(struct vm_space *space, uint64_t address, uint64_t bytes)
{
    uint64_t low, high;
    int error;

    cross_assert_held();
    bytes = vm_page_up(bytes);
    if (!vm_range_ok(address, bytes))
        return -EINVAL;
    if (vm_area_is_free(space, address, address + bytes))
        return 0;
    error = vm_area_isolate(space, address, address + bytes);
    if (error)
        return error;
    vm_area_around(space, address, address + bytes, &low, &high);
    error = vm_pages_free(space, address, address + bytes, low, high);
    if (error) {
        vm_area_join(space, address, address + bytes);
        return error;
    }
    vm_area_remove(space, address, address + bytes);
    return 0;
}

/* Returns how far from `start` on, at most to `end`, areas allow the protection; *error is 0 at
 * `end`, otherwise what stopped it. */
static uint64_t protectable(const struct vm_space *space, uint64_t start, uint64_t end,
                            uint32_t protection, int *error)
{
    const struct vm_area *area = vm_area_from(space, start);

    *error = 0;
    for (; start < end; area = area->next) {
        if (area == NULL || area->start > start)
            *error = -ENOMEM;
        else if (protection & VM_WRITE && area->flags & VM_AREA_READ_FILE)
            *error = -EACCES;
        if (*error)
            return start;
        start = area->end;
    }
    return end;
}

/* Checks the limits for memory that becomes writable.  Returns 0 or -ENOMEM. */
static int check_written(const struct vm_space *space, uint64_t start, uint64_t end,
                         uint32_t protection)
{
    uint64_t data = 0, own = 0; /* bytes */

    if (!(protection & VM_WRITE))
        return 0;
    for (const struct vm_area *area = vm_area_from(space, start); area != NULL && area->start < end;
         area = area->next) {
        uint64_t from = area->start > start ? area->start : start;
        uint64_t bytes = (area->end < end ? area->end : end) - from;

        if (area->protection & VM_WRITE)
            continue;
        own += area->flags & (VM_AREA_RESERVE | VM_AREA_FILE) ? 0 : bytes;
        data += is_data(protection, area->flags) ? bytes : 0;
    }
    return own > phys_total_bytes() || (data && exceeds_data(space, data)) ? -ENOMEM : 0;
}

/* Changes the protection of a range without gaps. */
static int vm_protect_range(struct vm_space *space, uint64_t address, uint64_t end,
                            uint32_t protection)
{
    int error = check_written(space, address, end, protection);

    if (!error)
        error = vm_area_isolate(space, address, end);
    if (error)
        return error;
    error = vm_pages_protect(space, address, end, protection);
    if (!error) {
        struct vm_area *area = vm_area_from(space, address);

        for (; area != NULL && area->start < end; area = area->next)
            area->protection = protection;
    }
    vm_area_join(space, address, end);
    if (!error)
        vm_new_memory(space, address, end);
    return error;
}

int vm_protect(struct vm_space *space, uint64_t address, uint64_t bytes, uint32_t protection)
{
    uint64_t reached;
    int refused, error = 0;

    cross_assert_held();
    if (!vm_range_ok(address, vm_page_up(bytes)))
        return -ENOMEM;
    reached = protectable(space, address, address + vm_page_up(bytes), protection, &refused);
    if (reached > address)
        error = vm_protect_range(space, address, reached, protection);
    return error ? error : refused;
}

uint64_t vm_set_brk(struct vm_space *space, uint64_t end)
{
    uint64_t old_page = vm_page_up(space->brk_end), new_page = vm_page_up(end);
    struct vm_area kind = {.start = old_page,
                           .end = new_page,
                           .protection = VM_READ | VM_WRITE,
                           .flags = VM_AREA_BRK | (space->lock_future ? VM_AREA_LOCKED : 0)};

    if (end < space->brk_start || end >= VM_MAP_TOP || end - space->brk_start > space->data_limit)
        return space->brk_end;
    if (new_page > old_page) {
        if (vm_too_large(space, new_page - old_page, VM_WRITE, 0) ||
            end - space->brk_start > phys_total_bytes() ||
            !vm_area_is_free(space, old_page, new_page) || vm_area_insert(space, &kind) != 0)
            return space->brk_end;
        vm_new_memory(space, old_page, new_page);
    }
    if (new_page < old_page && vm_unmap(space, new_page, old_page - new_page) != 0)
        return space->brk_end;
    space->brk_end = end;
    return end;
}
