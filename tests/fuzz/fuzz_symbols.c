/* Fuzzes what reads ELF and DWARF: any file gives names and frames, or none, and keeps its bounds.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/symbols/symbols.h"
#include "tests/fuzz/fuzz.h"

#define TEXT_OFFSET 0x1000u /* of the seeds' code in their files */
#define TEXT_BYTES 64u

static void look_up(struct symbols *symbols, uint64_t address)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    struct symbols_place place;
    uint32_t count;

    if (symbols_find(symbols, address, &place) && place.name != NULL)
        fuzz_check(place.start <= address && address < place.end && strlen(place.name) < SIZE_MAX);
    count = symbols_frames(symbols, address, frames);
    fuzz_check(count >= 1 && count <= SYMBOLS_FRAMES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        fuzz_check(frames[i].function == NULL || strlen(frames[i].function) < SIZE_MAX);
        fuzz_check(frames[i].file == NULL || strlen(frames[i].file) < SIZE_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct symbols_options options = {.no_debuginfod = true};
    char path[64];
    struct trace_map map = {.meta = {.end = UINT64_MAX}, .path = path};
    struct trace_info info = {.maps = &map, .map_count = 1};
    struct symbols *symbols;
    const char *file;

    fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    fuzz_check(symbols_open(&symbols, &info, &options) == 0);
    for (uint64_t address = TEXT_OFFSET; address < TEXT_OFFSET + TEXT_BYTES; address += 4)
        look_up(symbols, address);
    for (size_t i = 0; symbols_problem(symbols, i, &file) != NULL; i++)
        fuzz_check(i < 1);
    symbols_close(symbols);
    close(fd);
    return 0;
}
