/* Counts samples by address, reads the code there and disassembles it. */
#include "host/annotate/annotate_code.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/array.h"
#include "host/object/elf_place.h"
#include "host/object/symbols_file.h"

#define TEXT_BYTES_MAX 192u /* of one instruction; capstone's longest are shorter */

int annotate_counts_init(struct annotate_counts *counts, uint64_t start, uint64_t end, int event)
{
    uint64_t bytes = end - start < ANNOTATE_CODE_BYTES_MAX ? end - start : ANNOTATE_CODE_BYTES_MAX;

    *counts = (struct annotate_counts){.start = start, .end = start + bytes, .event = event};
    counts->samples = calloc(bytes + 1, sizeof counts->samples[0]);
    counts->sums = calloc(bytes + 1, sizeof counts->sums[0]);
    return counts->samples != NULL && counts->sums != NULL ? 0 : -ENOMEM;
}

int annotate_counts_all(struct annotate_counts *counts)
{
    counts->all = calloc(counts->end - counts->start + 1, sizeof counts->all[0]);
    return counts->all != NULL ? 0 : -ENOMEM;
}

void annotate_counts_sum(const struct annotate_counts *counts, uint64_t address, uint32_t bytes,
                         uint64_t sums[HR_EVENTS_MAX])
{
    for (uint32_t i = 0; counts->all != NULL && i < bytes; i++)
        for (uint32_t e = 0; e < HR_EVENTS_MAX; e++)
            sums[e] += counts->all[address - counts->start + i][e];
}

void annotate_counts_free(struct annotate_counts *counts)
{
    free(counts->all);
    free(counts->samples);
    free(counts->sums);
    *counts = (struct annotate_counts){0};
}

void annotate_counts_add(struct annotate_counts *counts, const struct trace_samples *samples)
{
    const struct trace_slot *previous = samples->previous;
    bool resumed = samples->count != 0 && (samples->slots[0].flags & HR_SAMPLE_RESUMED) != 0;
    bool adds = counts->event >= 0 && (uint32_t)counts->event < samples->event_count && !resumed;

    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        uint64_t place = sample->ip - counts->start;

        if (place < counts->end - counts->start) {
            uint64_t rise =
                adds ? sample->counters[counts->event] - previous->counters[counts->event] : 0;

            counts->samples[place] += trace_samples_weight(samples, n);
            counts->total_samples += trace_samples_weight(samples, n);
            counts->sums[place] += rise;
            counts->total_sum += rise;
            for (uint32_t e = 0; counts->all != NULL && !resumed && e < samples->event_count; e++)
                counts->all[place][e] += sample->counters[e] - previous->counters[e];
        }
        previous = sample;
    }
}

struct listing { /* being made */
    struct annotate_code *code;
    const struct annotate_counts *counts;
    size_t text_used;
    size_t text_capacity;
};

/* Texts move while they are gathered: until the end `text` is an offset. */
static int add_text(struct listing *l, const char *text)
{
    size_t bytes = strlen(text) + 1;

    if (l->text_used + bytes > l->text_capacity) {
        size_t capacity = l->text_capacity * 2 + 4096;
        char *texts = realloc(l->code->texts, capacity);

        if (texts == NULL)
            return -ENOMEM;
        l->code->texts = texts;
        l->text_capacity = capacity;
    }
    memcpy(l->code->texts + l->text_used, text, bytes);
    l->text_used += bytes;
    return 0;
}

static int add(struct listing *l, uint64_t address, uint32_t bytes, uint64_t target,
               const char *text)
{
    struct annotate_code *code = l->code;
    struct annotate_instruction *one;
    uint64_t place = address - l->counts->start;

    if (array_grow(&code->instructions, code->count, sizeof *one) != 0)
        return -ENOMEM;
    one = &code->instructions[code->count];
    *one = (struct annotate_instruction){
        .address = address, .bytes = (uint8_t)bytes, .target = target};
    for (uint32_t i = 0; i < bytes; i++) {
        one->samples += l->counts->samples[place + i];
        one->sum += l->counts->sums[place + i];
    }
    one->text = (const char *)(uintptr_t)l->text_used;
    code->count++;
    return add_text(l, text);
}

/* `tag` is that of common addresses: the code is disassembled at the address to be shown. */
static uint64_t target_of(csh handle, const cs_insn *insn, uint64_t tag)
{
    const cs_x86 *x86 = &insn->detail->x86;

    if (!cs_insn_group(handle, insn, CS_GRP_JUMP) && !cs_insn_group(handle, insn, CS_GRP_CALL))
        return 0;
    return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM
               ? (uint64_t)x86->operands[0].imm | tag
               : 0;
}

/* Whether samples say that an instruction begins inside of `bytes` from `place` on. */
static bool out_of_step(const struct annotate_counts *counts, uint64_t place, uint32_t bytes)
{
    for (uint32_t i = 1; i < bytes; i++)
        if (counts->samples[place + i] != 0)
            return true;
    return false;
}

static int disassemble(struct listing *l, const uint8_t *bytes, size_t count, csh handle,
                       cs_insn *insn)
{
    uint64_t address = l->counts->start, tag = address - trace_spaces_shown(address);
    char text[TEXT_BYTES_MAX];
    int error = 0;

    while (count != 0 && error == 0) {
        const uint8_t *next = bytes;
        uint64_t next_address = trace_spaces_shown(address), place = address - l->counts->start;
        size_t left = count;

        if (cs_disasm_iter(handle, &next, &left, &next_address, insn) &&
            !out_of_step(l->counts, place, insn->size)) {
            snprintf(text, sizeof text, "%-7s %s", insn->mnemonic, insn->op_str);
            text[strcspn(text, "\n")] = 0;
            for (size_t end = strlen(text); end > 0 && text[end - 1] == ' '; end--)
                text[end - 1] = 0;
            error = add(l, address, insn->size, target_of(handle, insn, tag), text);
            bytes += insn->size;
            count -= insn->size;
            address += insn->size;
        } else {
            snprintf(text, sizeof text, "%-7s 0x%02x", ".byte", *bytes);
            error = add(l, address, 1, 0, text);
            bytes++;
            count--;
            address++;
        }
    }
    return error;
}

static int open_capstone(csh *handle, enum annotate_syntax syntax)
{
    if (cs_open(CS_ARCH_X86, CS_MODE_64, handle) != CS_ERR_OK)
        return -ENOMEM;
    cs_option(*handle, CS_OPT_DETAIL, CS_OPT_ON);
    if (syntax == ANNOTATE_ATT)
        cs_option(*handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    return 0;
}

static int list_code(struct listing *l, const uint8_t *bytes, size_t count,
                     enum annotate_syntax syntax)
{
    csh handle;
    cs_insn *insn;
    int error = open_capstone(&handle, syntax);

    if (error != 0)
        return error;
    insn = cs_malloc(handle);
    error = insn != NULL ? disassemble(l, bytes, count, handle, insn) : -ENOMEM;
    if (insn != NULL)
        cs_free(insn, 1);
    cs_close(&handle);
    return error;
}

/* What has samples but no code: one line for each address. */
static int list_addresses(struct listing *l, uint64_t from)
{
    int error = 0;

    for (uint64_t a = from; a < l->counts->end && error == 0; a++)
        if (l->counts->samples[a - l->counts->start] != 0)
            error = add(l, a, 1, 0, "(its code is not there)");
    return error;
}

/* Reads up to `room` bytes of the code at a run-time address: how many there are. */
static size_t read_code(const struct trace_map *map, const struct symbols_file *file,
                        uint64_t address, uint8_t *bytes, size_t room)
{
    uint64_t linked = address, offset, left;
    bool kernel = (map->meta.flags & HR_MAP_KERNEL) != 0; /* runs where it was linked */
    ssize_t got = 0;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_begin(file->fd, ELF_C_READ, NULL);
    if (elf == NULL)
        return 0;
    if ((kernel ||
         elf_place_address(elf, address - map->meta.start + map->meta.file_offset, &linked)) &&
        elf_place_code(elf, linked, &offset, &left) && offset <= INT64_MAX)
        got = pread(file->fd, bytes, left < room ? left : room, (off_t)offset);
    elf_end(elf);
    return got > 0 ? (size_t)got : 0;
}

static size_t find_code(const struct annotate_counts *counts, const struct trace_info *info,
                        const struct symbols_options *options, uint8_t *bytes)
{
    const char *program = symbols_file_program(info);
    uint32_t view = trace_spaces_view(&info->processes.spaces, counts->start);
    const struct trace_map *map = NULL;
    struct trace_map of_view;
    struct symbols_file file;
    size_t got = 0;

    for (size_t i = info->map_count; i-- > 0 && map == NULL;) /* later ones win */
        if (counts->start >= info->maps[i].meta.start && counts->start < info->maps[i].meta.end)
            map = &info->maps[i];
    if (view != UINT32_MAX) {
        trace_info_view(info, view, &of_view);
        map = &of_view;
    }
    if (map == NULL || !symbols_file_named(map) ||
        symbols_file_open(&file, map, program != NULL && strcmp(program, map->path) == 0,
                          options) != 0)
        return 0;
    got = read_code(map, &file, counts->start, bytes, counts->end - counts->start);
    symbols_file_close(&file);
    return got;
}

static struct annotate_instruction *find(struct annotate_code *code, uint64_t address)
{
    uint32_t low = 0, high = code->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (code->instructions[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code->count && code->instructions[low].address == address
               ? &code->instructions[low]
               : NULL;
}

static void finish(struct annotate_code *code)
{
    for (uint32_t i = 0; i < code->count; i++) {
        struct annotate_instruction *one = &code->instructions[i], *target;

        one->text = code->texts + (uintptr_t)one->text;
        if (one->target != 0 && (target = find(code, one->target)) != NULL)
            target->jumped_to = true;
    }
}

int annotate_code_read(struct annotate_code *code, const struct annotate_counts *counts,
                       const struct trace_info *info, const struct symbols_options *options,
                       enum annotate_syntax syntax)
{
    struct listing l = {.code = code, .counts = counts};
    uint8_t *bytes = malloc(counts->end - counts->start + 1);
    size_t got;
    int error;

    *code = (struct annotate_code){0};
    if (bytes == NULL)
        return -ENOMEM;
    got = find_code(counts, info, options, bytes);
    code->has_code = got != 0;
    error = list_code(&l, bytes, got, syntax);
    if (error == 0)
        error = list_addresses(&l, counts->start + got);
    if (error == 0)
        finish(code);
    else
        annotate_code_free(code);
    free(bytes);
    return error;
}

void annotate_code_free(struct annotate_code *code)
{
    free(code->instructions);
    free(code->texts);
    *code = (struct annotate_code){0};
}
