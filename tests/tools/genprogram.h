/* What a made-up trace is of: an ELF program that --elf names, or one that is made up. */
#ifndef TESTS_TOOLS_GENPROGRAM_H
#define TESTS_TOOLS_GENPROGRAM_H

#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/program/elf64.h"
#include "tests/tools/gencalls.h"
#include "tests/tools/tracesink.h"

struct program {
    const char *path; /* NULL: made up */
    struct hr_meta_map map;
    uint8_t build_id[64];
    uint64_t text_start;
    uint64_t text_bytes;
    struct calls_program calls;
};

#define PROGRAM_MADE_UP ((struct program){.text_start = 0x401000, .text_bytes = 512u << 10})

/* Takes addresses and build-id from an ET_EXEC program. */
static inline void program_open(struct program *program, const char *path)
{
    int fd = open(path, O_RDONLY);
    struct elf64_image image;
    struct stat status;
    const uint8_t *bytes;

    if (fd < 0 || fstat(fd, &status) != 0)
        fail(path);
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    program->path = realpath(path, NULL);
    if (bytes == MAP_FAILED || program->path == NULL)
        fail(path);
    errno = ENOEXEC;
    if (elf64_parse(bytes, (size_t)status.st_size, &image) != ELF64_OK ||
        image.build_id_bytes > sizeof program->build_id)
        fail(path);
    for (uint32_t i = 0; i < image.segment_count; i++) {
        const struct elf64_segment *s = &image.segments[i];

        if ((s->flags & 1) == 0)
            continue;
        program->map = (struct hr_meta_map){
            .start = s->address,
            .end = s->address + s->memory_bytes,
            .file_offset = s->file_offset,
            .flags = HR_MAP_READ | HR_MAP_EXEC,
            .build_id_bytes = (uint16_t)image.build_id_bytes,
            .path_bytes = (uint16_t)strlen(program->path),
        };
        program->text_start = s->address;
        program->text_bytes = s->memory_bytes;
    }
    memcpy(program->build_id, bytes + image.build_id_offset, image.build_id_bytes);
    munmap((void *)(uintptr_t)bytes, (size_t)status.st_size);
    calls_read(&program->calls, fd, program->map.start, program->map.end);
    close(fd);
}

#define PROGRAM_TAIL_BYTES (64 + PATH_MAX)

/* Writes what follows a map: the build-id and the path.  Returns the bytes. */
static inline size_t program_tail(const struct program *program, uint8_t tail[PROGRAM_TAIL_BYTES])
{
    memcpy(tail, program->build_id, program->map.build_id_bytes);
    memcpy(tail + program->map.build_id_bytes, program->path, program->map.path_bytes);
    return (size_t)program->map.build_id_bytes + program->map.path_bytes;
}

static inline void add_program(struct trace_writer *w, const struct program *program)
{
    uint8_t tail[PROGRAM_TAIL_BYTES];

    if (program->path != NULL)
        add(w, HR_META_MAP, TRACE_NO_TIME, &program->map, sizeof program->map, tail,
            program_tail(program, tail));
}

/* Who calls whom in it. */
static inline void program_calls(struct program *program, uint64_t seed)
{
    if (program->calls.count == 0) {
        free(program->calls.functions);
        calls_make_up(&program->calls, program->text_start, program->text_bytes);
    }
    if (program->calls.functions == NULL)
        fail("functions");
    calls_connect(&program->calls, seed);
}

#endif
