/* The program's first stack: read back as the program's start code reads it. */
#include <errno.h>
#include <linux/auxvec.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/exec/exec_stack.c"
#include "guest/exec/exec_strings.c"
#include "guest/exec/exec_writer.c"
#include "lib/bytes.h"
#include "tests/unit/test.h"

#define TOP 0x7ffffffff000ull
#define NEW_BYTES (256u << 10) /* of the new program's stack */
#define OLD 0x10000000ull /* the calling program's memory */
#define OLD_BYTES (512u << 10)

static uint8_t stack_memory[NEW_BYTES], *old_memory;
static struct vm_space new_space, old_space;
static int pages; /* looked for */

int vm_access(struct vm_space *space, uint64_t address, enum vm_access_kind kind, void **pointer,
              uint64_t *room)
{
    uint64_t start = space == &new_space ? TOP - NEW_BYTES : OLD;
    uint64_t bytes = space == &new_space ? NEW_BYTES : OLD_BYTES;

    assert_true((space == &new_space) == (kind == VM_ACCESS_FORCE));
    if (address < start || address - start >= bytes)
        return -EFAULT;
    pages++;
    *pointer = (space == &new_space ? stack_memory : old_memory) + (address - start);
    *room = 4096 - address % 4096;
    return 0;
}

void page_copy_bytes(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

struct image {
    struct exec_strings arguments, environment;
    struct exec_stack stack;
    struct process_given given;
    uint64_t base; /* the initial stack pointer */
};

static int survey(struct image *image, uint64_t room)
{
    int error = exec_strings_survey(&image->arguments, &room);

    return error ? error : exec_strings_survey(&image->environment, &room);
}

static void build(struct image *image)
{
    memset(stack_memory, 0, sizeof stack_memory);
    image->stack.arguments = &image->arguments;
    image->stack.environment = &image->environment;
    image->stack.top = TOP;
    assert_int_equal(survey(image, exec_strings_room(8u << 20)), 0);
    image->base = TOP - exec_stack_bytes(&image->stack);
    assert_int_equal(image->base % 16, 0);
    assert_int_equal(exec_stack_write(&image->stack, &new_space, &image->given), 0);
}

static uint64_t word(const struct image *image, size_t index)
{
    uint64_t at = image->base + index * 8 - (TOP - NEW_BYTES);

    assert_true(at + 8 <= NEW_BYTES);
    return bytes_load64(stack_memory + at);
}

static const char *string(const struct image *image, uint64_t address)
{
    const uint8_t *at = stack_memory + (address - (TOP - NEW_BYTES));

    assert_true(address >= image->base && address < TOP);
    assert_non_null(memchr(at, 0, TOP - address));
    return (const char *)at;
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
    static const char text[] =
        "version=1\0program=bin/x\0arg=x\0env=A=1\0arg=-v\0arg=\0env=B=\0cwd=/";
    struct manifest manifest;
    struct image image = {
        .arguments = {.manifest = &manifest, .key = "arg"},
        .environment = {.manifest = &manifest, .key = "env"},
        .stack = {.file_name = "/home/x",
                  .random = {1, 2, 3},
                  .auxv_count = 2,
                  .auxv = {{AT_PAGESZ, 4096}, {AT_ENTRY, 0x401000}}},
    };

    (void)state;
    assert_int_equal(manifest_open(&manifest, text, sizeof text), 0);
    build(&image);
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
    assert_memory_equal(string(&image, auxv(&image, 8, AT_RANDOM)), image.stack.random, 16);
    assert_int_equal(bytes_load64(stack_memory + NEW_BYTES - 8), 0);
    assert_int_equal(image.given.arguments, word(&image, 1));
    assert_int_equal(image.given.environment, word(&image, 5));
    assert_int_equal(image.given.end, auxv(&image, 8, AT_EXECFN));
    assert_int_equal(image.given.auxv, image.base + 8 * 8);
    assert_int_equal(image.given.auxv_bytes, (2 + 4) * 16);
}

/* Puts a list of pointers at OLD, and strings at the given places. */
static void point(const uint64_t *addresses, size_t count)
{
    memset(old_memory, 0, 4096);
    memcpy(old_memory, addresses, count * sizeof *addresses);
}

static void put(uint64_t address, const char *text)
{
    memcpy(old_memory + (address - OLD), text, strlen(text) + 1);
}

static void test_program_memory(void **state)
{
    const uint64_t addresses[] = {OLD + 0x1ffd, OLD + 0x3000, OLD + 0x1ffd};
    struct image image = {.arguments = {.space = &old_space, .list = OLD, .first = {"sh", "file"}},
                          .stack = {.file_name = "f"}};

    (void)state;
    put(OLD + 0x1ffd, "crosses a page");
    put(OLD + 0x3000, "");
    point(addresses, 3);
    image.arguments.first_count = 2;
    pages = 0;
    build(&image);
    assert_int_equal(word(&image, 0), 5);
    assert_string_equal(string(&image, word(&image, 1)), "sh");
    assert_string_equal(string(&image, word(&image, 2)), "file");
    assert_string_equal(string(&image, word(&image, 3)), "crosses a page");
    assert_string_equal(string(&image, word(&image, 4)), "");
    assert_string_equal(string(&image, word(&image, 5)), "crosses a page");
    assert_int_equal(word(&image, 6), 0);
    assert_int_equal(word(&image, 7), 0);
}

static void test_every_length_fits(void **state)
{
    const uint64_t address = OLD + 0x1000;

    (void)state;
    for (size_t length = 1; length < 5000; length += length < 60 ? 1 : 997) {
        struct image image = {.arguments = {.space = &old_space, .list = OLD},
                              .stack = {.file_name = "f"}};

        point(&address, 1);
        memset(old_memory + 0x1000, 'x', length);
        old_memory[0x1000 + length] = '\0';
        build(&image);
        assert_int_equal(strlen(string(&image, word(&image, 1))), length);
    }
}

static void test_refusals(void **state)
{
    uint64_t addresses[2] = {OLD + 0x1000};
    struct image image = {.arguments = {.space = &old_space, .list = OLD}};

    (void)state;
    memset(old_memory, 'x', OLD_BYTES);
    point(addresses, 2);
    old_memory[0x1000 + EXEC_STRING_BYTES_MAX - 1] = '\0';
    assert_int_equal(survey(&image, 6u << 20), 0);
    assert_int_equal(image.arguments.bytes, EXEC_STRING_BYTES_MAX);
    assert_int_equal(survey(&image, EXEC_STRING_BYTES_MAX + 8), 0);
    assert_int_equal(survey(&image, EXEC_STRING_BYTES_MAX + 7), -E2BIG);
    old_memory[0x1000 + EXEC_STRING_BYTES_MAX - 1] = 'x';
    assert_int_equal(survey(&image, 6u << 20), -E2BIG);
    addresses[0] = OLD + OLD_BYTES - 10; /* no NUL before the memory's end */
    point(addresses, 2);
    assert_int_equal(survey(&image, 6u << 20), -EFAULT);
    image.arguments.list = OLD + OLD_BYTES - 4;
    assert_int_equal(survey(&image, 6u << 20), -EFAULT);
}

/* The program may change its strings between the count and the copy. */
static void test_changed(void **state)
{
    const uint64_t address = OLD + 0x1000;
    struct image image = {.arguments = {.space = &old_space, .list = OLD},
                          .stack = {.file_name = "f"}};

    (void)state;
    for (int longer = 0; longer < 2; longer++) {
        point(&address, 1);
        put(OLD + 0x1000, "middle");
        build(&image);
        put(OLD + 0x1000, longer ? "much longer" : "short");
        assert_int_equal(exec_stack_write(&image.stack, &new_space, &image.given), -EFAULT);
    }
    point(&(uint64_t){0}, 1);
    assert_int_equal(exec_stack_write(&image.stack, &new_space, &image.given), -EFAULT);
}

static void test_room(void **state)
{
    (void)state;
    assert_int_equal(exec_strings_room(8u << 20), 2u << 20);
    assert_int_equal(exec_strings_room(64u << 10), 128u << 10);
    assert_int_equal(exec_strings_room(UINT64_MAX), 6u << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_program_memory),
        cmocka_unit_test(test_every_length_fits),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_room),
    };
    int result;

    old_memory = malloc(OLD_BYTES);
    result = cmocka_run_group_tests(tests, NULL, NULL);
    free(old_memory);
    return result;
}
