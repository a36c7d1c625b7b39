/* Reads the table of probes. */
#include "guest/probe/probe_table.h"

#include <string.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/fs/fs.h"
#include "guest/memory/phys.h"
#include "guest/probe/probe.h"
#include "guest/probe/probe_copy.h"
#include "guest/sample/sampling.h"
#include "include/hr_format.h"

#define BLOCKS_MAX 256u
#define BLOCK_BYTES PROBE_ALLOC_MAX /* of phys_alloc_last */

struct probe_table probe_table;

/* Blocks that are taken at boot: later, taking one could change what the program's memory costs. */
static uint64_t blocks[BLOCKS_MAX];
static uint32_t block_count, block; /* taken; in use */
static uint64_t block_used; /* bytes of the one in use */

static void refuse_memory(void)
{
    panic("no memory for probes; probe less, or give more with --mem");
}

static void reserve(uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += BLOCK_BYTES) {
        if (block_count == BLOCKS_MAX || (blocks[block_count] = phys_alloc_last()) == 0)
            refuse_memory();
        block_count++;
    }
}

void *probe_alloc(uint64_t bytes)
{
    uint64_t align = bytes < PAGE_BYTES ? 64 : PAGE_BYTES;
    uint64_t at = (block_used + align - 1) & ~(align - 1);

    if (at + bytes > BLOCK_BYTES) {
        block++;
        at = 0;
    }
    if (block >= block_count || bytes > BLOCK_BYTES)
        return NULL;
    block_used = at + bytes;
    memset(phys_pointer(blocks[block] + at), 0, bytes);
    return phys_pointer(blocks[block] + at);
}

const struct run_probe_point *probe_point_from(const struct probe_object *object, uint64_t offset)
{
    uint32_t low = 0, high = object->point_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (object->points[middle].file_offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return object->points + low;
}

static void damaged(void)
{
    panic("the archive's table of probes is damaged");
}

/* Returns how many pages of files have points. */
static uint64_t count_pages(void)
{
    uint64_t pages = 0, last = UINT64_MAX;

    for (uint32_t i = 0; i < probe_table.point_count; i++) {
        uint64_t page = probe_table.points[i].file_offset / PAGE_BYTES;

        pages += page != last; /* those of one object are in order */
        last = page;
    }
    return pages;
}

static void read_object(const struct run_probe_object *from, const char *paths, uint32_t path_bytes,
                        struct probe_object *object)
{
    char *path;

    if (from->path_offset > path_bytes || from->path_bytes > path_bytes - from->path_offset ||
        !from->point_count || from->first_point > probe_table.point_count ||
        from->point_count > probe_table.point_count - from->first_point)
        damaged();
    path = probe_alloc(from->path_bytes + 1ull);
    if (path != NULL)
        memcpy(path, paths + from->path_offset, from->path_bytes);
    object->path = path;
    object->points = probe_table.points + from->first_point;
    object->point_count = from->point_count;
    for (uint32_t i = 0; i < from->point_count; i++)
        if (object->points[i].bytes < 1 || object->points[i].bytes > RUN_PROBE_CODE_BYTES ||
            (i && object->points[i].file_offset <= object->points[i - 1].file_offset) ||
            (object->points[i].kind & RUN_PROBE_HEAP &&
             probe_table.argument_count < HR_ALLOCATION_VALUES))
            damaged();
    object->first_page = object->points[0].file_offset / PAGE_BYTES;
    object->page_count =
        object->points[from->point_count - 1].file_offset / PAGE_BYTES + 1 - object->first_page;
    if (object->page_count * sizeof *object->pages > BLOCK_BYTES)
        panic("probes: %s is too large", path);
    object->pages = probe_alloc(object->page_count * sizeof *object->pages);
    if (path == NULL || object->pages == NULL)
        refuse_memory();
}

static void read_table(const uint8_t *at, uint64_t bytes)
{
    struct run_probes_header header;
    const struct run_probe_object *objects;
    uint64_t need;

    if (bytes < sizeof header)
        damaged();
    memcpy(&header, at, sizeof header);
    need = sizeof header + header.object_count * sizeof *objects +
           header.point_count * sizeof *probe_table.points + header.path_bytes + header.meta_bytes;
    if (header.magic != RUN_PROBES_MAGIC || header.point_count > HR_PROBE_POINTS_MAX ||
        header.argument_count > HR_PROBE_ARGUMENTS_MAX || need > bytes)
        damaged();
    objects = (const void *)(at + sizeof header);
    probe_table.points = (const void *)(objects + header.object_count);
    probe_table.point_count = header.point_count;
    probe_table.object_count = header.object_count;
    probe_table.argument_count = header.argument_count;
    probe_table.every = header.every;
    probe_table.meta = (const uint8_t *)(probe_table.points + header.point_count);
    reserve(probe_copy_bytes() + count_pages() * (PAGE_BYTES + sizeof(uint64_t)) +
            header.object_count * (uint64_t)PAGE_BYTES + BLOCK_BYTES / 4);
    probe_table.objects = probe_alloc(header.object_count * sizeof *probe_table.objects);
    if (probe_table.objects == NULL)
        refuse_memory();
    for (uint32_t i = 0; i < header.object_count; i++)
        read_object(objects + i, (const char *)probe_table.meta, header.path_bytes,
                    &probe_table.objects[i]);
    probe_table.meta += header.path_bytes;
    probe_table.meta_bytes = header.meta_bytes;
}

void probe_read(void)
{
    uint64_t stacks = 0;

    if (fs_probes == NULL)
        return;
    read_table(fs_probes, fs_probes_bytes);
    probe_copy_start();
    manifest_number(&run.manifest, "probe-stack", &stacks);
    probe_table.stacks = stacks != 0;
    sampling.probes = true;
    sampling.probe_arguments = probe_table.argument_count;
}
