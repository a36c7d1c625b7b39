/* Fuzzes the parsers of names of code that is in no file: perf maps, jitdumps, CPython's tables of
 * lines.  The first byte says which. */
#include <string.h>

#include "host/symbols/symbols_python.h"
#include "host/trace/trace_jit.h"
#include "tests/fuzz/fuzz.h"

static void look_up(const struct trace_jit *jit, uint64_t address)
{
    const struct trace_jit_code *code = trace_jit_find(jit, address);
    const struct trace_jit_line *line;

    if (code == NULL)
        return;
    fuzz_check(strlen(code->name) < SIZE_MAX);
    fuzz_check(address >= TRACE_JIT_PLACES || (code->start <= address && address < code->end));
    line = trace_jit_line(jit, code, address);
    fuzz_check(line == NULL || strlen(line->file) < SIZE_MAX);
}

static void read_file(const uint8_t *data, size_t size, uint32_t kind)
{
    struct trace_jit_file file = {.meta.kind = kind, .count = size};
    struct trace_jit jit = {0};

    file.bytes = malloc(size + 1);
    fuzz_check(file.bytes != NULL);
    memcpy(file.bytes, data, size);
    file.bytes[size] = 0;
    fuzz_check(trace_jit_add(&jit, &file) == 0 && trace_jit_finish(&jit) == 0);
    for (size_t i = 0; i < jit.range_count; i++) {
        fuzz_check(jit.ranges[i].start < jit.ranges[i].end);
        fuzz_check(i == 0 || jit.ranges[i - 1].end <= jit.ranges[i].start);
        look_up(&jit, jit.ranges[i].start);
        look_up(&jit, jit.ranges[i].end - 1);
        look_up(&jit, jit.ranges[i].end);
        for (uint64_t time = 0; time < 3; time++)
            look_up(&jit, trace_jit_place(&jit, jit.ranges[i].start, time << (time * 20)));
    }
    trace_jit_free(&jit);
    free(file.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *table;

    if (size == 0)
        return 0;
    if (data[0] % 3 != 2) {
        read_file(data + 1, size - 1, data[0] % 3 == 0 ? HR_JIT_PERF_MAP : HR_JIT_DUMP);
        return 0;
    }
    table = malloc(size); /* ends where the table does */
    fuzz_check(table != NULL);
    memcpy(table, data + 1, size - 1);
    for (uint32_t offset = 0; offset < 64; offset += 2)
        symbols_python_line(table, size - 1, 1, offset);
    free(table);
    return 0;
}
