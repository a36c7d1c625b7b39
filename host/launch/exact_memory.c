/* Makes the plugin's memory, and checks what the plugin left in it. */
#include "host/launch/exact_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int exact_memory_create(void)
{
    int fd = memfd_create("exact", MFD_CLOEXEC);
    int error;

    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)EXACT_FILE_BYTES) == 0)
        return fd;
    error = -errno;
    close(fd);
    return error;
}

static bool block_is_sound(const struct exact_memory *m, const struct exact_block *block)
{
    uint64_t room = m->header->code_bytes, bytes = 0;

    if (block->instructions == 0 || block->code > room ||
        (uint64_t)block->instructions + block->bytes > room - block->code)
        return false;
    for (uint32_t i = 0; i < block->instructions; i++) {
        uint8_t length = m->code[block->code + i];

        if (length == 0 || length > 15)
            return false;
        bytes += length;
    }
    return bytes == block->bytes && block->start >> 63 == 0;
}

static bool is_sound(const struct exact_memory *m)
{
    const struct exact_header *h = m->header;

    if (h->version != EXACT_VERSION || h->blocks >= EXACT_BLOCKS_MAX ||
        h->threads <= EXACT_THREAD_OTHERS || h->threads > EXACT_THREADS_MAX ||
        h->code_bytes > EXACT_CODE_BYTES)
        return false;
    for (uint32_t i = 1; i <= h->blocks; i++)
        if (!block_is_sound(m, &m->blocks[i]))
            return false;
    for (uint32_t i = 0; i < EXACT_CUTS; i++)
        if (m->cuts[i].block > h->blocks || m->cuts[i].thread >= h->threads)
            return false;
    for (uint32_t i = 0; i < EXACT_EDGES; i++)
        if (m->edges[i].block > h->blocks || m->edges[i].thread >= h->threads)
            return false;
    return true;
}

int exact_memory_open(struct exact_memory *memory, int fd)
{
    struct stat status;
    uint8_t *bytes;
    int error;

    *memory = (struct exact_memory){0};
    if (fstat(fd, &status) != 0)
        return -errno;
    if (status.st_size != (off_t)EXACT_FILE_BYTES)
        return -EBADMSG;
    bytes = mmap(NULL, EXACT_FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return -errno;
    *memory = (struct exact_memory){
        .bytes = bytes,
        .header = (const void *)bytes,
        .blocks = (const void *)(bytes + EXACT_BLOCKS_AT),
        .code = bytes + EXACT_CODE_AT,
        .cuts = (const void *)(bytes + EXACT_CUTS_AT),
        .edges = (const void *)(bytes + EXACT_EDGES_AT),
    };
    error = memory->header->magic == 0             ? -ENODATA
            : memory->header->magic != EXACT_MAGIC ? -EBADMSG
            : is_sound(memory)                     ? 0
                                                   : -EBADMSG;
    if (error != 0)
        exact_memory_close(memory);
    return error;
}

void exact_memory_close(struct exact_memory *memory)
{
    if (memory->bytes != NULL)
        munmap((void *)(uintptr_t)memory->bytes, EXACT_FILE_BYTES);
    *memory = (struct exact_memory){0};
}

const struct exact_counter *exact_memory_table(const struct exact_memory *memory, uint32_t thread)
{
    return (const void *)(memory->bytes + EXACT_TABLES_AT + thread * EXACT_TABLE_BYTES);
}
