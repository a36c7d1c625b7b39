/* Fuzzes the reader of the kernel's file: what it accepts can be placed in as much memory as it
 * says. */
#include "lib/boot/kernel_image.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kernel_image image;
    uint64_t end = 0;
    void *memory;

    if (kernel_image_parse(data, size, &image) != NULL)
        return 0;
    fuzz_check(image.segment_count >= 1 && image.segment_count <= KERNEL_IMAGE_SEGMENTS_MAX);
    fuzz_check(image.bytes % 4096 == 0 && image.entry < image.bytes);
    for (uint32_t i = 0; i < image.segment_count; i++) {
        const struct kernel_image_segment *s = &image.segments[i];

        fuzz_check(s->place >= end && s->file_bytes <= s->memory_bytes);
        fuzz_check(s->file_offset <= size && s->file_bytes <= size - s->file_offset);
        end = s->place + s->memory_bytes;
        fuzz_check(end <= image.bytes);
    }
    if (image.bytes > 1 << 20) /* slow to fill */
        return 0;
    memory = malloc(image.bytes);
    fuzz_check(memory != NULL);
    kernel_image_place(&image, data, memory);
    free(memory);
    return 0;
}
