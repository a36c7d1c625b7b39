/* Fuzzes the ELF validator: what it accepts must be safe to load. */
#include <string.h>

#include "lib/program/elf64.h"
#include "tests/fuzz/fuzz.h"

static void check_inside(uint64_t offset, uint64_t bytes, size_t size)
{
    fuzz_check(offset <= size && bytes <= size - offset);
}

static void check_segments(const struct elf64_image *image, size_t size)
{
    uint64_t end = image->relocatable ? 0 : 0x10000;
    int entry_found = 0;

    for (uint32_t i = 0; i < image->segment_count; i++) {
        const struct elf64_segment *s = &image->segments[i];

        check_inside(s->file_offset, s->file_bytes, size);
        fuzz_check(s->memory_bytes > 0 && s->file_bytes <= s->memory_bytes);
        fuzz_check(s->address >= end);
        end = s->address + s->memory_bytes;
        fuzz_check(end > s->address && end <= ELF64_USER_END);
        fuzz_check(s->file_bytes == 0 || s->address % ELF64_PAGE == s->file_offset % ELF64_PAGE);
        entry_found |= (s->flags & 1) && image->entry >= s->address && image->entry < end;
    }
    fuzz_check(entry_found);
    fuzz_check(image->low % ELF64_PAGE == 0 && image->high % ELF64_PAGE == 0);
    fuzz_check(image->low <= image->segments[0].address && image->high >= end);
}

static void check_program_headers(const struct elf64_image *image, const uint8_t *data)
{
    uint64_t bytes = (uint64_t)image->program_header_count * image->program_header_bytes;
    uint64_t in_file;

    if (!image->program_headers)
        return;
    memcpy(&in_file, data + 32, sizeof in_file); /* e_phoff */
    for (uint32_t i = 0; i < image->segment_count; i++) {
        const struct elf64_segment *s = &image->segments[i];
        uint64_t offset = image->program_headers - s->address;

        if (image->program_headers >= s->address && offset < s->file_bytes &&
            bytes <= s->file_bytes - offset && s->file_offset + offset == in_file)
            return;
    }
    fuzz_check(!"program headers lie where no segment puts them");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf64_image image;
    enum elf64_status status = elf64_parse(data, size, &image);

    fuzz_check(strcmp(elf64_status_text(status), "unknown status") != 0);
    if (status != ELF64_OK)
        return 0;
    fuzz_check(image.segment_count > 0 && image.segment_count <= ELF64_SEGMENTS_MAX);
    check_segments(&image, size);
    check_program_headers(&image, data);
    check_inside(image.interpreter_offset, image.interpreter_bytes, size);
    if (image.interpreter_bytes)
        fuzz_check(data[image.interpreter_offset + image.interpreter_bytes - 1] == 0);
    check_inside(image.build_id_offset, image.build_id_bytes, size);
    fuzz_check(image.build_id_bytes <= 64);
    return 0;
}
