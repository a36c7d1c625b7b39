/* A QEMU plugin that counts every instruction of ring 3 by address: `hr run --mode exact`.
 *
 * It supports one CPU.  Code is counted by translated blocks, in a table of the current thread, in
 * memory shared with hr (include/exact_counts.h), so that the counts survive the emulator.  The
 * kernel says which thread runs and which instructions did not complete (include/exact_notes.h).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "include/exact_counts.h"
#include "include/exact_notes.h"
#include "plugin/instruction.h"
#include "plugin/qemu_plugin.h"

#define INDEX_SLOTS (EXACT_BLOCKS_MAX * 2)
#define TIDS 65536u
#define PAGE_BYTES 4096u
#define INSTRUCTION_BYTES_MAX 15u

struct block { /* data to count a block; never freed */
    uint64_t start;
    uint64_t behind; /* address after its conditional branch; 0: it has none */
    uint32_t number;
    uint16_t instructions;
    bool indirect; /* it ends in a jump or call whose target is not in the code */
    uint64_t edge_to; /* target of the edge that was counted last */
    uint32_t edge_thread;
    uint64_t *edge_count;
};

int qemu_plugin_version = 1;

static bool copies_bytes; /* qemu_plugin_insn_data copies */
static struct exact_header *header;
static struct exact_block *blocks;
static uint8_t *code;
static struct exact_cut *cuts;
static struct exact_edge *edges;
static uint8_t *tables;
static struct block **by_key; /* the blocks by their contents, INDEX_SLOTS entries */
static uint16_t thread_of[TIDS]; /* guess by the low bits of the tid */

static struct block nowhere; /* not a block, so nothing follows it */
static struct block *last = &nowhere; /* last block entered */
static struct exact_counter *counters; /* of the current thread */
static uint32_t thread;

/* Before QEMU looks at the version: from QEMU 9.0 on, plugins for version 1 are refused. */
__attribute__((constructor)) static void choose_version(void)
{
    if (qemu_plugin_scoreboard_new)
        qemu_plugin_version = 2;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* ---- what follows a block ---- */

static struct exact_edge *find_edge(const struct block *from, uint64_t to)
{
    uint32_t i = (uint32_t)(mix(mix(to, from->number), thread) >> 20) % EXACT_EDGES;

    for (; edges[i].block != 0; i = (i + 1) % EXACT_EDGES)
        if (edges[i].to == to && edges[i].block == from->number && edges[i].thread == thread)
            return &edges[i];
    if (header->edges >= EXACT_EDGES / 4 * 3)
        return NULL;
    header->edges++;
    edges[i] = (struct exact_edge){.to = to, .block = from->number, .thread = thread};
    return &edges[i];
}

__attribute__((noinline)) static void count_edge(struct block *from, uint64_t to)
{
    if (from->edge_count == NULL || from->edge_to != to || from->edge_thread != thread) {
        struct exact_edge *edge = find_edge(from, to);

        from->edge_to = to;
        from->edge_thread = thread;
        from->edge_count = edge != NULL ? &edge->count : &header->lost_edges;
    }
    ++*from->edge_count;
}

static inline void follow(struct block *from, uint64_t to)
{
    if (from->behind == to)
        counters[from->number].passed++;
    else if (__builtin_expect(from->indirect, 0))
        count_edge(from, to);
}

static void enter(unsigned /* cpu */, void *data)
{
    struct block *block = data, *from = last;

    last = block;
    counters[block->number].entered++;
    follow(from, block->start); /* at the end: a call here would need saved registers */
}

static void enter_homeless(unsigned /* cpu */, void *data)
{
    header->homeless += (uintptr_t)data;
    last = &nowhere;
}

/* ---- notes of the kernel ---- */

static uint32_t find_thread(uint32_t tid)
{
    uint32_t found = thread_of[tid % TIDS];

    if (tid == 0)
        return EXACT_THREAD_NONE;
    if (found != 0 && header->tids[found] == tid)
        return found;
    for (found = EXACT_THREAD_OTHERS + 1; found < header->threads; found++)
        if (header->tids[found] == tid)
            break;
    if (found == EXACT_THREADS_MAX)
        return EXACT_THREAD_OTHERS;
    if (found == header->threads) {
        header->tids[found] = tid;
        header->threads++;
    }
    thread_of[tid % TIDS] = (uint16_t)found;
    return found;
}

static void run_thread(uint32_t tid)
{
    thread = find_thread(tid);
    counters = (struct exact_counter *)(void *)(tables + thread * EXACT_TABLE_BYTES);
    last = &nowhere;
}

/* Returns the index of the block's instruction at the address, and its kind; the block's count if
 * there is none. */
static uint32_t find_instruction(const struct block *block, uint64_t address,
                                 enum instruction_kind *kind)
{
    const uint8_t *lengths = code + blocks[block->number].code;
    uint64_t at = block->start;
    uint32_t i = 0;

    while (i < block->instructions && at != address)
        at += lengths[i++];
    if (i < block->instructions)
        *kind =
            instruction_kind_of(lengths + block->instructions + (at - block->start), lengths[i]);
    return i;
}

static void count_fault(uint64_t address)
{
    enum instruction_kind kind = INSTRUCTION_PLAIN;
    uint32_t number = last->number, instruction = find_instruction(last, address, &kind);
    uint32_t i = (uint32_t)(mix(mix(address, number), thread) >> 20) % EXACT_CUTS;

    if (kind == INSTRUCTION_PRIVILEGED) /* it counts as executed */
        return;
    if (instruction == last->instructions || header->cuts >= EXACT_CUTS / 4 * 3) {
        header->lost_cuts++;
        return;
    }
    while (cuts[i].block != 0 && (cuts[i].block != number || cuts[i].instruction != instruction ||
                                  cuts[i].thread != thread))
        i = (i + 1) % EXACT_CUTS;
    if (cuts[i].block == 0) {
        header->cuts++;
        cuts[i] = (struct exact_cut){
            .block = number, .instruction = (uint16_t)instruction, .thread = (uint16_t)thread};
    }
    cuts[i].count++;
}

static void take_note(uint32_t kind, uint64_t value)
{
    if (kind == EXACT_NOTE_THREAD)
        run_thread((uint32_t)value);
    else if (kind == EXACT_NOTE_FAULT)
        count_fault(value);
    else if (kind == EXACT_NOTE_RESUME)
        follow(last, value);
    last = &nowhere;
}

static uint32_t note_kind, note_loads;
static uint64_t note_value;

static void begin_note(unsigned /* cpu */, uint32_t /* access */, uint64_t address, void *)
{
    note_kind = (uint32_t)(address % EXACT_WINDOW_BYTES);
    note_value = 0;
    note_loads = 0;
}

static void continue_note(unsigned /* cpu */, uint32_t /* access */, uint64_t address, void *)
{
    note_value |= address % EXACT_WINDOW_BYTES << 12 * note_loads;
    if (++note_loads == EXACT_VALUE_LOADS)
        take_note(note_kind, note_value);
}

/* ---- translation ---- */

static void read_bytes(const struct qemu_plugin_insn *instruction, uint8_t *to, size_t bytes)
{
    const void *(*data)(const struct qemu_plugin_insn *) =
        (const void *(*)(const struct qemu_plugin_insn *))(void (*)(void))qemu_plugin_insn_data;

    if (copies_bytes)
        (void)qemu_plugin_insn_data(instruction, to, bytes);
    else
        memcpy(to, data(instruction), bytes);
}

static void look_for_notes(const struct qemu_plugin_tb *tb)
{
    static const uint8_t first[] = {EXACT_FIRST_BYTES}, next[] = {EXACT_NEXT_BYTES};
    uint8_t bytes[sizeof first];

    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(tb, i);

        if (qemu_plugin_insn_size(one) != sizeof first)
            continue;
        read_bytes(one, bytes, sizeof bytes);
        if (memcmp(bytes, first, sizeof first) == 0)
            qemu_plugin_register_vcpu_mem_cb(one, begin_note, QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_RW, NULL);
        else if (memcmp(bytes, next, sizeof next) == 0)
            qemu_plugin_register_vcpu_mem_cb(one, continue_note, QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_RW, NULL);
    }
}

struct draft { /* a block as it is translated */
    uint64_t start;
    uint32_t instructions;
    uint32_t bytes;
    uint32_t last; /* offset of its last instruction */
    uint8_t code[EXACT_BLOCK_INSTRUCTIONS_MAX * 16]; /* lengths, then the instructions */
};

static bool read_block(const struct qemu_plugin_tb *tb, size_t first, size_t count, struct draft *d)
{
    if (count == 0 || count > EXACT_BLOCK_INSTRUCTIONS_MAX)
        return false;
    d->start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, first));
    d->instructions = (uint32_t)count;
    d->bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(tb, first + i);
        size_t bytes = qemu_plugin_insn_size(one);

        if (bytes == 0 || bytes > INSTRUCTION_BYTES_MAX)
            return false;
        d->code[i] = (uint8_t)bytes;
        d->last = d->bytes;
        read_bytes(one, d->code + count + d->bytes, bytes);
        d->bytes += (uint32_t)bytes;
    }
    return true;
}

static bool is_draft(const struct block *block, const struct draft *d)
{
    const struct exact_block *shared = &blocks[block->number];

    return shared->start == d->start && shared->instructions == d->instructions &&
           shared->bytes == d->bytes &&
           memcmp(code + shared->code, d->code, d->instructions + d->bytes) == 0;
}

static struct block *make_block(const struct draft *d)
{
    uint32_t bytes = d->instructions + d->bytes;
    struct block *block;
    enum instruction_kind kind =
        instruction_kind_of(d->code + d->instructions + d->last, d->code[d->instructions - 1]);

    if (header->blocks + 1 >= EXACT_BLOCKS_MAX || EXACT_CODE_BYTES - header->code_bytes < bytes)
        return NULL;
    block = calloc(1, sizeof *block);
    if (block == NULL)
        return NULL;
    block->number = header->blocks + 1;
    block->start = d->start;
    block->instructions = (uint16_t)d->instructions;
    block->behind = kind == INSTRUCTION_CONDITIONAL ? d->start + d->bytes : 0;
    block->indirect = kind == INSTRUCTION_INDIRECT;
    memcpy(code + header->code_bytes, d->code, bytes);
    blocks[block->number] = (struct exact_block){.start = d->start,
                                                 .code = header->code_bytes,
                                                 .instructions = (uint16_t)d->instructions,
                                                 .bytes = (uint16_t)d->bytes};
    header->code_bytes += bytes;
    header->blocks++;
    return block;
}

/* Code that is translated again is one block, unless it was changed. */
static struct block *find_block(const struct draft *d)
{
    uint64_t hash = mix(d->start, d->instructions);
    uint32_t i;

    for (uint32_t n = 0; n < d->bytes; n++)
        hash = mix(hash, d->code[d->instructions + n]);
    for (i = (uint32_t)(hash >> 20) % INDEX_SLOTS; by_key[i] != NULL; i = (i + 1) % INDEX_SLOTS)
        if (is_draft(by_key[i], d))
            return by_key[i];
    by_key[i] = make_block(d);
    return by_key[i];
}

static struct block *block_of(const struct qemu_plugin_tb *tb, size_t first, size_t count)
{
    static struct draft draft;

    return read_block(tb, first, count, &draft) ? find_block(&draft) : NULL;
}

/* QEMU 7.2 lists an instruction that crosses the end of the block's page as the last one, but then
 * drops it and translates it separately.  Callbacks for it are then never called. */
static bool may_be_taken_back(const struct qemu_plugin_tb *tb, size_t count)
{
    uint64_t last_start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, count - 1));

    return count > 1 && last_start % PAGE_BYTES + INSTRUCTION_BYTES_MAX > PAGE_BYTES;
}

static void translated(uint64_t /* id */, struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    struct block *block, *apart = NULL;

    if (qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)) >> 63 != 0) {
        look_for_notes(tb);
        return;
    }
    if (may_be_taken_back(tb, count)) {
        count--;
        apart = block_of(tb, count, 1);
        qemu_plugin_register_vcpu_insn_exec_cb(
            qemu_plugin_tb_get_insn(tb, count), apart != NULL ? enter : enter_homeless,
            QEMU_PLUGIN_CB_NO_REGS, apart != NULL ? (void *)apart : (void *)1);
    }
    block = block_of(tb, 0, count);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, block != NULL ? enter : enter_homeless,
                                         QEMU_PLUGIN_CB_NO_REGS,
                                         block != NULL ? (void *)block : (void *)count);
}

/* ---- start ---- */

static int map_counts(int fd)
{
    uint8_t *memory = mmap(NULL, EXACT_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    by_key = calloc(INDEX_SLOTS, sizeof *by_key);
    if (memory == MAP_FAILED || by_key == NULL)
        return -1;
    header = (struct exact_header *)(void *)memory;
    blocks = (struct exact_block *)(void *)(memory + EXACT_BLOCKS_AT);
    code = memory + EXACT_CODE_AT;
    cuts = (struct exact_cut *)(void *)(memory + EXACT_CUTS_AT);
    edges = (struct exact_edge *)(void *)(memory + EXACT_EDGES_AT);
    tables = memory + EXACT_TABLES_AT;
    return 0;
}

/* Parses -plugin exact.so,fd=N: the descriptor of the memory, EXACT_FILE_BYTES of zeros. */
int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
    copies_bytes = info->version >= 3;
    if (!info->system || info->cpus_max != 1) {
        qemu_plugin_outs("exact.so counts on one CPU of a whole machine only\n");
        return -1;
    }
    if (argc != 1 || strncmp(argv[0], "fd=", 3) != 0 || map_counts(atoi(argv[0] + 3)) != 0)
        return -1;
    nowhere.behind = UINT64_MAX; /* not the address of a block */
    header->version = EXACT_VERSION;
    header->threads = EXACT_THREAD_OTHERS + 1;
    run_thread(0);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    header->magic = EXACT_MAGIC;
    return 0;
}
