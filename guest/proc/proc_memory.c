/* /proc/PID/maps and smaps: the program's memory, area by area. */
#include <string.h>

#include "guest/base/layout.h"
#include "guest/base/text.h"
#include "guest/fs/fs.h"
#include "guest/memory/vm_table.h"
#include "guest/proc/proc.h"
#include "lib/array.h"

#define DEVICE_MINOR 1u /* st_dev of every file */

static const char *file_name(const struct fs_entry *entry)
{
    static char path[FS_PATH_MAX + sizeof " (deleted)"];
    bool gone = false;
    int64_t bytes = fs_path(entry, path, FS_PATH_MAX, &gone);

    if (bytes < 0)
        return "";
    if (gone)
        memcpy(path + bytes, " (deleted)", sizeof " (deleted)");
    return path;
}

static const char *area_name(const struct vm_area *area)
{
    if (area->flags & VM_AREA_STACK)
        return "[stack]";
    if (area->flags & VM_AREA_VDSO)
        return area->protection & VM_EXEC ? "[vdso]" : "[vvar]";
    if (area->flags & VM_AREA_BRK)
        return "[heap]";
    return area->entry != NULL ? file_name(area->entry) : "";
}

static void add_area(struct text *text, const struct vm_area *area)
{
    const char *name = area_name(area);
    uint64_t before = text->used;

    text_add(text, "%08lx-%08lx %c%c%c%c %08lx 00:%02x %lu ", area->start, area->end,
             area->protection & VM_READ ? 'r' : '-', area->protection & VM_WRITE ? 'w' : '-',
             area->protection & VM_EXEC ? 'x' : '-', area->flags & VM_AREA_SHARED ? 's' : 'p',
             area->offset, area->inode != NULL ? DEVICE_MINOR : 0u,
             area->inode != NULL ? area->inode->number : 0ul);
    if (name[0]) /* as in Linux, names are in one column */
        text_add(text, "%*s%s", text->used - before < 73 ? (int)(73 - (text->used - before)) : 0,
                 "", name);
    text_add(text, "\n");
}

/* Returns the memory of the process that the file is about; NULL: it has none. */
static const struct vm_space *space_of(const struct inode *inode, struct text *text)
{
    struct proc_subject subject;

    return proc_subject(inode, text, &subject) ? subject.process->space : NULL;
}

static void maps(const struct thread *, const struct inode *inode, struct text *text)
{
    const struct vm_space *space = space_of(inode, text);
    const struct vm_area *area = space != NULL ? space->areas : NULL;

    for (; area != NULL; area = area->next)
        add_area(text, area);
}

static uint64_t resident_bytes(const struct vm_space *space, const struct vm_area *area)
{
    uint64_t bytes = 0, step;

    for (uint64_t at = area->start; at < area->end; at += step) {
        struct vm_slot slot = vm_table_look(space->root, at, VM_LEVEL_PAGE);

        step = vm_level_bytes(slot.level) - (at & (vm_level_bytes(slot.level) - 1));
        if (*slot.entry & VM_ENTRY_PRESENT)
            bytes += step < area->end - at ? step : area->end - at;
    }
    return bytes;
}

static void add_numbers(struct text *text, uint64_t size, uint64_t resident, bool shared)
{
    text_add(text,
             "Size:           %8lu kB\nKernelPageSize:        4 kB\nMMUPageSize:           4 kB\n",
             size >> 10);
    text_add(text, "Rss:            %8lu kB\nPss:            %8lu kB\nPss_Dirty:      %8lu kB\n",
             resident >> 10, resident >> 10, resident >> 10);
    text_add(text,
             "Shared_Clean:          0 kB\nShared_Dirty:   %8lu kB\nPrivate_Clean:         0 kB\n",
             shared ? resident >> 10 : 0);
    text_add(text, "Private_Dirty:  %8lu kB\nReferenced:     %8lu kB\nAnonymous:      %8lu kB\n",
             shared ? 0 : resident >> 10, resident >> 10, shared ? 0 : resident >> 10);
    text_add(
        text,
        "LazyFree:              0 kB\nAnonHugePages:         0 kB\nSwap:                  0 kB\n"
        "SwapPss:               0 kB\nLocked:                0 kB\n");
}

static void smaps(const struct thread *, const struct inode *inode, struct text *text)
{
    const struct vm_space *space = space_of(inode, text);
    const struct vm_area *area = space != NULL ? space->areas : NULL;

    for (; area != NULL; area = area->next) {
        add_area(text, area);
        add_numbers(text, area->end - area->start, resident_bytes(space, area),
                    area->flags & VM_AREA_SHARED);
        text_add(text, "THPeligible:    1\nVmFlags:%s%s%s%s\n",
                 area->protection & VM_READ ? " rd" : "", area->protection & VM_WRITE ? " wr" : "",
                 area->protection & VM_EXEC ? " ex" : "", " mr mw me");
    }
}

static void smaps_rollup(const struct thread *, const struct inode *inode, struct text *text)
{
    const struct vm_space *space = space_of(inode, text);

    if (space == NULL)
        return;
    if (space->areas != NULL)
        text_add(text, "%08lx-%08lx ---p 00000000 00:00 0                          [rollup]\n",
                 space->areas->start, (uint64_t)USER_END);
    add_numbers(text, space->mapped_bytes, space->resident_bytes, false);
}

static const struct proc_file files[] = {
    {.name = "maps", .generate = maps},
    {.name = "smaps", .generate = smaps},
    {.name = "smaps_rollup", .generate = smaps_rollup},
};

const struct proc_files proc_memory_files = {files, ARRAY_COUNT(files)};
