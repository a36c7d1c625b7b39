/* The kernel's file as a loader places it: where its segments go, and where the UEFI entry is.
 * Freestanding, hostile input.
 */
#ifndef LIB_KERNEL_IMAGE_H
#define LIB_KERNEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_IMAGE_SEGMENTS_MAX 8
#define KERNEL_IMAGE_BYTES_MAX (256ull << 20) /* of memory */

/* ELF notes, a word of 64 bits each (docs/architecture/bare-metal.md, "Placement"). */
#define KERNEL_IMAGE_NOTE_NAME "Microtome"
#define KERNEL_IMAGE_NOTE_ENTRY 1 /* the entry's virtual address */
#define KERNEL_IMAGE_NOTE_NETWORK 2 /* there if runs can be sent over the network: 1 */

struct kernel_image_segment {
    uint64_t place; /* from boot_info.kernel_physical on */
    uint64_t memory_bytes; /* what the file does not have is zero */
    uint64_t file_offset;
    uint64_t file_bytes;
};

struct kernel_image {
    uint64_t bytes; /* of memory, from boot_info.kernel_physical on: a multiple of a page */
    uint64_t entry; /* the same */
    uint32_t segment_count;
    bool network; /* it was built with network streaming */
    struct kernel_image_segment segments[KERNEL_IMAGE_SEGMENTS_MAX];
};

/* NULL, or what is wrong with the file. */
const char *kernel_image_parse(const void *file, size_t bytes, struct kernel_image *image);

/* Copies the segments from the file to image->bytes bytes at `memory`; all else there becomes 0. */
void kernel_image_place(const struct kernel_image *image, const void *file, void *memory);

#endif
