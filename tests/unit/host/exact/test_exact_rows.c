/* From blocks, as the plugin leaves them, to addresses; and what cannot have come from the plugin.
 */
#include "host/exact/exact_rows.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/test.h"

#define THREAD 2u

static int fd;
static uint8_t *bytes;
static struct exact_header *header;

static void begin(void)
{
    fd = exact_memory_create();
    assert_true(fd >= 0);
    bytes = mmap(NULL, EXACT_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(bytes != MAP_FAILED);
    header = (void *)bytes;
    header->magic = EXACT_MAGIC;
    header->version = EXACT_VERSION;
    header->threads = THREAD + 1;
    header->tids[THREAD] = 1001;
}

static void end(void)
{
    munmap(bytes, EXACT_FILE_BYTES);
    close(fd);
}

static struct exact_counter *counter(uint32_t block)
{
    return (struct exact_counter *)(void *)(bytes + EXACT_TABLES_AT + THREAD * EXACT_TABLE_BYTES) +
           block;
}

static void add_block(uint64_t start, const char *lengths, const char *code, uint64_t entered,
                      uint64_t passed)
{
    size_t count = strlen(lengths), code_bytes = 0;
    struct exact_block *block = (void *)(bytes + EXACT_BLOCKS_AT);
    uint8_t *to = bytes + EXACT_CODE_AT + header->code_bytes;

    for (size_t i = 0; i < count; i++)
        code_bytes += (size_t)lengths[i];
    memcpy(to, lengths, count);
    memcpy(to + count, code, code_bytes);
    block[++header->blocks] = (struct exact_block){.start = start,
                                                   .code = header->code_bytes,
                                                   .instructions = (uint16_t)count,
                                                   .bytes = (uint16_t)code_bytes};
    header->code_bytes += (uint32_t)(count + code_bytes);
    *counter(header->blocks) = (struct exact_counter){entered, passed};
}

static void read_rows(struct exact_rows *rows)
{
    struct exact_memory memory;
    struct exact_called called;
    struct exact_code code;

    assert_int_equal(exact_memory_open(&memory, fd), 0);
    assert_int_equal(exact_code_read(&code, &memory), 0);
    assert_int_equal(exact_called_find(&called, &memory, &code), 0);
    assert_int_equal(exact_rows_read(rows, &memory, &code, &called, THREAD), 0);
    exact_called_free(&called);
    exact_code_free(&code);
    exact_memory_close(&memory);
}

static void expect(const struct exact_row *row, uint64_t address, uint64_t instructions,
                   uint64_t branches, uint64_t taken, uint64_t reads, uint64_t writes,
                   uint64_t calls)
{
    const struct exact_row expected = {address,
                                       {instructions, branches, taken, reads, writes, calls}};

    assert_memory_equal(row, &expected, sizeof expected);
}

static void adds_up(void **state)
{
    struct exact_cut *cuts = NULL;
    struct exact_rows rows;

    (void)state;
    begin();
    /* mov (%rdi), %rax; mov %rax, (%rsi); jne: 100 times, 30 not taken */
    add_block(0x1000, "\3\3\2", "\x48\x8b\x07\x48\x89\x06\x75\x10", 100, 30);
    /* the same code, entered at its second instruction, as after a fault */
    add_block(0x1003, "\3\2", "\x48\x89\x06\x75\x10", 2, 1);
    /* call 0x2000, and rep movsb: 11 times, the last without a byte */
    add_block(0x1008, "\5", "\xe8\xf3\x0f\0\0", 31, 0);
    add_block(0x2000, "\2", "\xf3\xa4", 11, 1);
    cuts = (void *)(bytes + EXACT_CUTS_AT);
    cuts[5] = (struct exact_cut){.block = 1, .instruction = 1, .thread = THREAD, .count = 2};
    read_rows(&rows);
    assert_int_equal(rows.count, 5);
    expect(&rows.all[0], 0x1000, 100, 0, 0, 100, 0, 0);
    expect(&rows.all[1], 0x1003, 100, 0, 0, 0, 100, 0);
    expect(&rows.all[2], 0x1006, 100, 100, 69, 0, 0, 0);
    expect(&rows.all[3], 0x1008, 31, 31, 31, 0, 31, 0);
    expect(&rows.all[4], 0x2000, 11, 0, 0, 10, 10, 31);
    exact_rows_free(&rows);
    end();
}

static void follows_edges(void **state)
{
    struct exact_edge *edges;
    struct exact_rows rows;

    (void)state;
    begin();
    add_block(0x1000, "\2", "\xff\xd0", 9, 0); /* call *%rax */
    add_block(0x2000, "\2", "\xff\xe0", 9, 0); /* jmp *%rax */
    add_block(0x3000, "\1", "\xc3", 4, 0);
    add_block(0x4000, "\1", "\xc3", 5, 0);
    edges = (void *)(bytes + EXACT_EDGES_AT);
    edges[1] = (struct exact_edge){.to = 0x2000, .count = 9, .block = 1, .thread = THREAD};
    edges[2] = (struct exact_edge){.to = 0x2000, .count = 1, .block = 2, .thread = THREAD};
    edges[3] = (struct exact_edge){.to = 0x3000, .count = 4, .block = 2, .thread = THREAD};
    edges[4] = (struct exact_edge){.to = 0x5000, .count = 4, .block = 1, .thread = THREAD};
    read_rows(&rows);
    assert_int_equal(rows.count, 4); /* nothing was executed at 0x5000 */
    expect(&rows.all[0], 0x1000, 9, 9, 9, 0, 9, 0);
    expect(&rows.all[1], 0x2000, 9, 9, 9, 0, 0, 10);
    expect(&rows.all[2], 0x3000, 4, 4, 4, 4, 0, 0); /* a jump, and no call comes here */
    expect(&rows.all[3], 0x4000, 5, 5, 5, 5, 0, 0);
    exact_rows_free(&rows);
    end();
}

static void expect_bad(int error)
{
    struct exact_memory memory;

    assert_int_equal(exact_memory_open(&memory, fd), error);
    end();
}

static void refuses(void **state)
{
    struct exact_block *block;

    (void)state;
    begin();
    header->magic = 0;
    expect_bad(-ENODATA);
    begin();
    header->version++;
    expect_bad(-EBADMSG);
    begin();
    header->blocks = EXACT_BLOCKS_MAX;
    expect_bad(-EBADMSG);
    begin();
    header->threads = EXACT_THREADS_MAX + 1;
    expect_bad(-EBADMSG);
    for (int i = 0; i < 6; i++) {
        begin();
        add_block(0x1000, "\3\3\2", "\x48\x8b\x07\x48\x89\x06\x75\x10", 100, 30);
        block = (struct exact_block *)(void *)(bytes + EXACT_BLOCKS_AT) + 1;
        if (i == 0)
            block->code = UINT32_MAX;
        if (i == 1)
            block->instructions = 0;
        if (i == 2)
            block->bytes = 9;
        if (i == 3)
            block->start |= 1ull << 63;
        if (i == 4)
            bytes[EXACT_CODE_AT] = 0;
        if (i == 5)
            ((struct exact_cut *)(void *)(bytes + EXACT_CUTS_AT))->block = 2;
        expect_bad(-EBADMSG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adds_up), cmocka_unit_test(follows_edges),
                                       cmocka_unit_test(refuses)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
