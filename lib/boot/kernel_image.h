/* Parses the kernel's file for a loader: where its segments belong, and where the UEFI entry is.
 * Freestanding; the input is hostile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_IMAGE_SEGMENTS_MAX 8
#define KERNEL_IMAGE_BYTES_MAX (256ull << 20) /* of memory */

/* ELF notes, each a 64-bit word (docs/architecture/bare-metal.md, "Placement"). */
#define KERNEL_IMAGE_NOTE_NAME "Microtome"
#define KERNEL_IMAGE_NOTE_ENTRY 1 /* the entry's virtual address */
#define KERNEL_IMAGE_NOTE_NETWORK 2 /* 1; present if runs can be sent over the network */

struct kernel_image_segment {
    uint64_t place; /* offset from boot_info.kernel_physical */
    uint64_t memory_bytes; /* bytes beyond file_bytes are zero */
    uint64_t file_offset;
    uint64_t file_bytes;
};

struct kernel_image {
    uint64_t bytes; /* size in memory from boot_info.kernel_physical: a multiple of a page */
    uint64_t entry; /* offset from boot_info.kernel_physical */
    uint32_t segment_count;
    bool network; /* the kernel was built with network streaming */
    struct kernel_image_segment segments[KERNEL_IMAGE_SEGMENTS_MAX];
};

/* Returns NULL, or what is wrong with the file. */
const char *kernel_image_parse(const void *file, size_t bytes, struct kernel_image *image);

/* Copies the segments from the file to `memory` (image->bytes bytes) and fills the rest with 0. */
void kernel_image_place(const struct kernel_image *image, const void *file, void *memory);
