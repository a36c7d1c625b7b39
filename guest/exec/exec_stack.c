/* Lays out the program's first stack: argc, argv, envp, auxiliary vector, then the strings. */
#include "guest/exec/exec_stack.h"

#include <errno.h>
#include <linux/auxvec.h>
#include <string.h>

#include "lib/bytes.h"
#include "lib/round.h"

#define ADDED_AUXV 4u /* AT_EXECFN, AT_RANDOM, AT_PLATFORM, AT_NULL */
#define END_BYTES 8u /* zero bytes at the very top, as Linux leaves them */

static const char platform[] = "x86_64";

struct strings {
    uint64_t count;
    uint64_t bytes; /* NULs included */
};

static struct strings exec_stack_survey(const struct manifest *m, const char *key)
{
    struct strings s = {0, 0};
    size_t position = 0;
    const char *text;

    while ((text = manifest_next(m, key, &position)) != NULL) {
        s.count++;
        s.bytes += strlen(text) + 1;
    }
    return s;
}

/* Pointers and vector come first, then padding, then the text that they point to. */
static uint64_t table_bytes(const struct exec_stack *stack, uint64_t arguments,
                            uint64_t environment)
{
    uint64_t words =
        1 + arguments + 1 + environment + 1 + 2 * ((uint64_t)stack->auxv_count + ADDED_AUXV);

    return words * sizeof(uint64_t);
}

int64_t exec_stack_bytes(const struct exec_stack *stack)
{
    struct strings arguments = exec_stack_survey(stack->manifest, "arg");
    struct strings environment = exec_stack_survey(stack->manifest, "env");
    uint64_t bytes = table_bytes(stack, arguments.count, environment.count) + arguments.bytes +
                     environment.bytes + strlen(stack->file_name) + 1 + sizeof platform +
                     EXEC_STACK_RANDOM_BYTES + END_BYTES;

    if (!arguments.count)
        return -EINVAL;
    return bytes > EXEC_STACK_BYTES_MAX ? -E2BIG : (int64_t)round_up(bytes, 16);
}

struct cursor {
    uint8_t *image;
    uint64_t base; /* address of image[0] */
    uint64_t words; /* offset where the next word goes */
    uint64_t text; /* offset where the next text goes */
};

static void put_word(struct cursor *c, uint64_t value)
{
    bytes_store64(c->image + c->words, value);
    c->words += sizeof value;
}

/* Copies bytes to the text part; returns their address. */
static uint64_t put_bytes(struct cursor *c, const void *from, size_t bytes)
{
    uint64_t address = c->base + c->text;

    memcpy(c->image + c->text, from, bytes);
    c->text += bytes;
    return address;
}

static void put_strings(struct cursor *c, const struct manifest *m, const char *key)
{
    size_t position = 0;
    const char *text;

    while ((text = manifest_next(m, key, &position)) != NULL)
        put_word(c, put_bytes(c, text, strlen(text) + 1));
    put_word(c, 0);
}

static void put_pair(struct cursor *c, uint64_t type, uint64_t value)
{
    put_word(c, type);
    put_word(c, value);
}

void exec_stack_write(const struct exec_stack *stack, void *image, size_t bytes)
{
    struct strings arguments = exec_stack_survey(stack->manifest, "arg");
    struct strings environment = exec_stack_survey(stack->manifest, "env");
    struct cursor c = {.image = image, .base = stack->top - bytes};
    uint64_t random, platform_address;

    memset(image, 0, bytes);
    c.text = bytes - END_BYTES - (strlen(stack->file_name) + 1) - environment.bytes -
             arguments.bytes - sizeof platform - EXEC_STACK_RANDOM_BYTES;
    put_word(&c, arguments.count);
    random = put_bytes(&c, stack->random, sizeof stack->random);
    platform_address = put_bytes(&c, platform, sizeof platform);
    put_strings(&c, stack->manifest, "arg");
    put_strings(&c, stack->manifest, "env");
    for (uint32_t i = 0; i < stack->auxv_count; i++)
        put_pair(&c, stack->auxv[i].type, stack->auxv[i].value);
    put_pair(&c, AT_RANDOM, random);
    put_pair(&c, AT_PLATFORM, platform_address);
    put_pair(&c, AT_EXECFN, put_bytes(&c, stack->file_name, strlen(stack->file_name) + 1));
    put_pair(&c, AT_NULL, 0);
}
