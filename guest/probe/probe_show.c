/* Shows pages with breakpoints in place of a file's own. */
#include <string.h>

#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/cpu/cross.h"
#include "guest/fs/fs.h"
#include "guest/memory/page.h"
#include "guest/memory/phys.h"
#include "guest/memory/vm_table.h"
#include "guest/probe/probe.h"
#include "guest/probe/probe_copy.h"
#include "guest/probe/probe_table.h"
#include "guest/thread/thread.h"
#include "guest/trace/trace.h"
#include "guest/vm/inode.h"
#include "guest/vm/vm.h"
#include "guest/vm/vm_fill.h"
#include "guest/vm/vm_pages.h"

#define BREAKPOINT 0xcc /* INT3 */

/* Returns a page of the file; NULL if it is not in memory. */
static const uint8_t *page_of(struct inode *inode, uint64_t index)
{
    uint64_t physical;

    inode_present(inode, index, &physical, 1);
    return physical ? phys_pointer(physical) : NULL;
}

/* Returns whether the file holds the point's instruction; of one that crosses into a page which is
 * not in memory, the first part counts. */
static bool matches(struct inode *inode, const struct run_probe_point *point)
{
    uint64_t offset = point->file_offset, in_page = PAGE_BYTES - offset % PAGE_BYTES;
    uint64_t first = point->bytes < in_page ? point->bytes : in_page;
    const uint8_t *page = page_of(inode, offset / PAGE_BYTES), *next;

    if (page == NULL || memcmp(page + offset % PAGE_BYTES, point->code, first) != 0)
        return false;
    next = first < point->bytes ? page_of(inode, offset / PAGE_BYTES + 1) : NULL;
    return next == NULL || memcmp(next, point->code + first, point->bytes - first) == 0;
}

/* Makes the copy of a page of the file, which is in memory, without breakpoints; `old` has the
 * memory of its last one, or is NULL.  Returns NULL without memory. */
static uint8_t *copy_page(const struct probe_object *object, uint64_t index, uint8_t *old)
{
    uint8_t *page = old != NULL ? old : probe_alloc(PAGE_BYTES);

    if (page != NULL)
        page_copy(page, page_of(object->inode, index));
    else
        log_notice("no memory for all probes in %s; give more with --mem", object->path);
    return page;
}

/* Makes the copy of page `index` with its breakpoints.  Returns what `pages` is to hold. */
static uint64_t make_page(struct probe_object *object, uint64_t index, uint8_t *old)
{
    const struct run_probe_point *end = object->points + object->point_count;
    const struct run_probe_point *point = probe_point_from(object, index * PAGE_BYTES);
    uint8_t *page = NULL;

    for (; point < end && point->file_offset / PAGE_BYTES == index; point++) {
        if (!matches(object->inode, point)) {
            if (!object->refused++)
                log_notice("%s is not the file that hr read: where it differs there are no probes",
                           object->path);
            continue;
        }
        if (page == NULL)
            page = copy_page(object, index, old);
        if (page == NULL)
            break;
        page[point->file_offset % PAGE_BYTES] = BREAKPOINT;
    }
    return page != NULL ? probe_physical(page) : PROBE_PAGE_PLAIN;
}

/* The file has changed, or is another one: all copies are made again. */
static void outdate(struct probe_object *object)
{
    object->modified = object->inode->times.modified;
    for (uint64_t i = 0; i < object->page_count; i++) {
        object->pages[i] &= ~(uint64_t)PROBE_PAGE_PLAIN;
        if (object->pages[i])
            object->pages[i] |= PROBE_PAGE_OLD;
    }
}

/* Returns the page to show in place of page `index`, of which `physical` is shown. */
static uint64_t shown_page(struct probe_object *object, uint64_t index, uint64_t physical)
{
    uint64_t *page, copy;

    if (index < object->first_page || index - object->first_page >= object->page_count)
        return physical;
    if (object->modified != object->inode->times.modified)
        outdate(object);
    page = &object->pages[index - object->first_page];
    copy = *page & ~(uint64_t)PROBE_PAGE_OLD;
    if (!*page || *page != copy)
        *page = make_page(object, index, copy ? phys_pointer(copy) : NULL);
    return *page != PROBE_PAGE_PLAIN ? *page : physical;
}

/* Returns whether the page at `address` is the file's, or its copy with breakpoints: not one that
 * the program has written to. */
static bool is_file_page(const struct vm_space *space, uint64_t address)
{
    struct vm_slot slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);

    return slot.level == VM_LEVEL_PAGE && *slot.entry & VM_ENTRY_FOREIGN;
}

/* Replaces the file's pages that are shown in start..end-1 of the area. */
static void show(struct vm_space *space, const struct vm_area *area, uint64_t start, uint64_t end)
{
    if (start < area->start)
        start = area->start;
    if (end > area->end)
        end = area->end;
    for (uint64_t address = start; address < end; address += PAGE_BYTES) {
        struct vm_slot slot = vm_table_look(space->root, address, VM_LEVEL_PAGE);
        uint64_t index = (area->offset + (address - area->start)) / PAGE_BYTES, old = *slot.entry;
        uint64_t page;

        if (slot.level != VM_LEVEL_PAGE || !(old & VM_ENTRY_PRESENT) || !(old & VM_ENTRY_FOREIGN))
            continue; /* nothing yet, or the program's own copy */
        page = shown_page(area->inode->probes, index, old & VM_ENTRY_ADDRESS);
        if (page == (old & VM_ENTRY_ADDRESS))
            continue;
        vm_pages_withdraw(space, slot.entry, address);
        *slot.entry = page | (old & ~VM_ENTRY_ADDRESS);
    }
}

/* Gives the object's probes to a file.  Returns false if another one of that path has them. */
static bool give(struct probe_object *object, struct inode *inode)
{
    if (object->inode != NULL) {
        if (object->inode->mappings)
            return false;
        object->inode->probes = NULL;
        inode_release(object->inode);
    }
    inode_hold(inode); /* so that probes never belong to another file */
    object->inode = inode;
    inode->probes = object;
    outdate(object);
    return true;
}

/* Finds out whether an area's file has probes. */
static void bind(const struct vm_area *area)
{
    static char path[FS_PATH_MAX];
    bool gone;

    if (area->inode->probes != NULL || area->entry == NULL ||
        fs_path(area->entry, path, sizeof path, &gone) < 0 || gone)
        return;
    for (uint32_t i = 0; i < probe_table.object_count; i++) {
        if (strcmp(probe_table.objects[i].path, path) != 0)
            continue;
        if (!give(&probe_table.objects[i], area->inode) && !probe_table.objects[i].refused++)
            log_notice("%s was replaced while it is in use: the new file has no probes", path);
        return;
    }
}

static void look(struct vm_space *space)
{
    for (const struct vm_area *area = space->areas; area != NULL; area = area->next) {
        if (!(area->protection & VM_EXEC) || area->inode == NULL || area->flags & VM_AREA_SHARED)
            continue;
        bind(area);
        if (area->inode->probes != NULL)
            show(space, area, area->start, area->end);
    }
    probe_forget_places();
}

void probe_look(void)
{
    run_state.after_call.mapped = false;
    if (probe_table.point_count)
        look(cpu_this()->thread->process->space);
}

void probe_shown(struct vm_space *space, uint64_t address)
{
    const struct vm_area *area = vm_find(space, address);
    uint64_t start = address & ~(VM_FILL_AROUND_BYTES - 1);

    if (area != NULL && area->protection & VM_EXEC && area->inode != NULL &&
        area->inode->probes != NULL) {
        show(space, area, start, start + VM_FILL_AROUND_BYTES);
        if (!is_file_page(space, address))
            probe_forget_places(); /* breakpoints in it are the program's from now on */
    }
}

/* The trace says first what there is to hit. */
static void announce(void)
{
    const uint8_t *at = probe_table.meta, *end = at + probe_table.meta_bytes;
    struct hr_record_header head;

    for (; (uint64_t)(end - at) >= sizeof head; at += sizeof head + head.bytes) {
        memcpy(&head, at, sizeof head);
        if (head.bytes > (uint64_t)(end - at) - sizeof head ||
            !trace_add_meta(head.type, at + sizeof head, head.bytes, NULL, 0))
            panic("the trace has no room for the names of probes");
    }
    trace_send_meta();
}

void probe_start(struct vm_space *space)
{
    if (!probe_table.point_count)
        return;
    cpu_watch_exceptions();
    announce();
    look(space);
}

void probe_before(struct trap_frame *frame)
{
    if ((int64_t)frame->rip < 0)
        probe_leave_copy(frame);
}
