/* This process as a trace's load maps would show it, and its registers and stack as a sample: for
 * unit tests, fuzz targets and benches of the unwinder.
 */
#ifndef TESTS_OWN_PROCESS_H
#define TESTS_OWN_PROCESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "host/trace/trace_info.h"
#include "host/unwind/unwind.h"

#define OWN_PROCESS_CHECK(condition)                                                \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)
#define OWN_MAPS_MAX 256
#define CAPTURE_STACK_BYTES HR_STACK_BYTES_MAX

struct own_process {
    struct trace_info info;
    struct trace_map maps[OWN_MAPS_MAX];
};

static inline void own_process_free(struct own_process *own)
{
    for (size_t i = 0; i < own->info.map_count; i++)
        free(own->maps[i].path);
    free(own);
}

static inline struct own_process *own_process_read(void)
{
    struct own_process *own = calloc(1, sizeof *own);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4352], path[4096], flags[8];
    unsigned long long start, end, offset;

    OWN_PROCESS_CHECK(own != NULL);
    OWN_PROCESS_CHECK(maps != NULL);
    trace_info_init(&own->info);
    own->info.maps = own->maps;
    while (fgets(line, sizeof line, maps) != NULL) {
        struct trace_map *map = &own->maps[own->info.map_count];

        if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %4095s", &start, &end, flags, &offset, path) !=
                5 ||
            flags[2] != 'x' || path[0] != '/')
            continue;
        OWN_PROCESS_CHECK(own->info.map_count < OWN_MAPS_MAX);
        map->meta = (struct hr_meta_map){
            .start = start, .end = end, .file_offset = offset, .flags = HR_MAP_READ | HR_MAP_EXEC};
        map->path = strdup(path);
        own->info.map_count++;
    }
    fclose(maps);
    return own;
}

struct capture {
    struct unwind_sample sample;
    uint8_t stack[CAPTURE_STACK_BYTES];
};

/* Where the mapping that holds an address ends. */
static inline uint64_t mapping_end(uint64_t address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long long start, end;
    uint64_t found = 0;
    char line[4352];

    OWN_PROCESS_CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%llx-%llx", &start, &end) == 2 && start <= address && address < end)
            found = end;
    fclose(maps);
    OWN_PROCESS_CHECK(found != 0);
    return found;
}

/* The stack of whoever called getcontext; it must not have returned.  Redzones are stack too. */
__attribute__((no_sanitize("address"), unused)) static void
capture_context(struct capture *c, const ucontext_t *context)
{
    static const int order[HR_STACK_REGISTERS] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    uint64_t rsp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    const volatile uint8_t *from = (const volatile uint8_t *)rsp;
    uint64_t bytes = mapping_end(rsp) - rsp;

    if (bytes > sizeof c->stack)
        bytes = sizeof c->stack;
    for (uint64_t i = 0; i < bytes; i++)
        c->stack[i] = from[i];
    for (int i = 0; i < (int)HR_STACK_REGISTERS; i++)
        c->sample.registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
    c->sample.ip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    c->sample.stack = c->stack;
    c->sample.stack_bytes = bytes;
}

#endif
