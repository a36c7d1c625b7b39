/* The program's first stack: read back as the program's start code reads it. */
#include <errno.h>
#include <linux/auxvec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/exec/exec_stack.c"
#include "tests/unit/test.h"

#define TOP 0x7ffffffff000ull

struct image {
    uint8_t *bytes;
    size_t count;
};

static const char text[] = "version=1\0program=bin/x\0arg=x\0env=A=1\0arg=-v\0arg=\0env=B=\0cwd=/";

static struct image build(const struct exec_stack *stack)
{
    int64_t count = exec_stack_bytes(stack);
    struct image image = {.count = (size_t)count};

    assert_true(count > 0);
    image.bytes = malloc(image.count);
    exec_stack_write(stack, image.bytes, image.count);
    return image;
}

static uint64_t word(const struct image *image, size_t index)
{
    assert_true((index + 1) * 8 <= image->count);
    return bytes_load64(image->bytes + index * 8);
}

static const char *string(const struct image *image, uint64_t address)
{
    uint64_t base = TOP - image->count;

    assert_true(address >= base && address < TOP);
    assert_non_null(memchr(image->bytes + (address - base), 0, TOP - address));
    return (const char *)image->bytes + (address - base);
}

static uint64_t auxv(const struct image *image, size_t at, uint64_t type)
{
    for (;; at += 2) {
        if (word(image, at) == type)
            return word(image, at + 1);
        assert_int_not_equal(word(image, at), AT_NULL);
    }
}

static void test_layout(void **state)
{
    struct manifest manifest;
    struct exec_stack stack = {.manifest = &manifest,
                               .file_name = "/home/x",
                               .random = {1, 2, 3},
                               .top = TOP,
                               .auxv_count = 2,
                               .auxv = {{AT_PAGESZ, 4096}, {AT_ENTRY, 0x401000}}};
    struct image image;

    (void)state;
    assert_int_equal(manifest_open(&manifest, text, sizeof text), 0);
    image = build(&stack);
    assert_int_equal((TOP - image.count) % 16, 0);
    assert_int_equal(word(&image, 0), 3);
    assert_string_equal(string(&image, word(&image, 1)), "x");
    assert_string_equal(string(&image, word(&image, 2)), "-v");
    assert_string_equal(string(&image, word(&image, 3)), "");
    assert_int_equal(word(&image, 4), 0);
    assert_string_equal(string(&image, word(&image, 5)), "A=1");
    assert_string_equal(string(&image, word(&image, 6)), "B=");
    assert_int_equal(word(&image, 7), 0);
    assert_int_equal(auxv(&image, 8, AT_PAGESZ), 4096);
    assert_int_equal(auxv(&image, 8, AT_ENTRY), 0x401000);
    assert_string_equal(string(&image, auxv(&image, 8, AT_EXECFN)), "/home/x");
    assert_string_equal(string(&image, auxv(&image, 8, AT_PLATFORM)), "x86_64");
    assert_memory_equal(string(&image, auxv(&image, 8, AT_RANDOM)), stack.random, 16);
    assert_int_equal(bytes_load64(image.bytes + image.count - 8), 0);
    free(image.bytes);
}

static void test_every_length_fits(void **state)
{
    char bytes[256];

    (void)state;
    for (size_t length = 0; length < 40; length++) {
        struct manifest manifest;
        struct exec_stack stack = {.manifest = &manifest, .file_name = "f", .top = TOP};
        size_t used =
            (size_t)snprintf(bytes, sizeof bytes, "version=1%carg=%0*d", 0, (int)length, 0);
        struct image image;

        assert_int_equal(manifest_open(&manifest, bytes, used + 1), 0);
        image = build(&stack);
        assert_int_equal(image.count % 16, 0);
        assert_int_equal(strlen(string(&image, word(&image, 1))), length ? length : 1);
        free(image.bytes);
    }
}

static void test_refusals(void **state)
{
    static const char empty[] = "version=1\0env=A=1";
    size_t room = RUN_MANIFEST_BYTES_MAX;
    char *many = calloc(room, 1);
    struct manifest manifest;
    struct exec_stack stack = {.manifest = &manifest, .file_name = "f", .top = TOP};
    size_t used;

    (void)state;
    assert_int_equal(manifest_open(&manifest, empty, sizeof empty), 0);
    assert_int_equal(exec_stack_bytes(&stack), -EINVAL);
    used = manifest_append(many, room, 0, "version", "1");
    while (used && used < room - 16)
        used = manifest_append(many, room, used, "arg", "");
    assert_int_equal(manifest_open(&manifest, many, used), 0);
    stack.file_name = "f";
    assert_int_equal(exec_stack_bytes(&stack),
                     (int64_t)round_up(table_bytes(&stack, (used - 10) / 5, 0) + (used - 10) / 5 +
                                           2 + sizeof platform + 16 + 8,
                                       16));
    char *name = malloc(EXEC_STACK_BYTES_MAX);
    memset(name, 'n', EXEC_STACK_BYTES_MAX);
    name[EXEC_STACK_BYTES_MAX - 1] = '\0';
    stack.file_name = name;
    assert_int_equal(exec_stack_bytes(&stack), -E2BIG);
    free(name);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_every_length_fits),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
