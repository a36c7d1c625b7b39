/* spin: loops of exactly known instruction counts, the oracle for accuracy. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In assembler, so that no compiler changes the counts given in `shapes` below. */
void spin_loop(uint64_t count);
void spin_nested(uint64_t count);
void spin_calls(uint64_t count);
void spin_memory(uint64_t count);
__asm__(".text\n"
        ".type spin_loop, @function\n"
        "spin_loop:\n"
        "1: dec %rdi\n"
        "   jnz 1b\n"
        "   ret\n"
        ".size spin_loop, .-spin_loop\n"

        ".type spin_nested, @function\n"
        "spin_nested:\n"
        "1: mov $1000, %ecx\n"
        "2: dec %ecx\n"
        "   jnz 2b\n"
        "   dec %rdi\n"
        "   jnz 1b\n"
        "   ret\n"
        ".size spin_nested, .-spin_nested\n"

        ".type spin_leaf, @function\n"
        "spin_leaf:\n"
        "   ret\n"
        ".size spin_leaf, .-spin_leaf\n"

        ".type spin_calls, @function\n"
        "spin_calls:\n"
        "1: call spin_leaf\n"
        "   dec %rdi\n"
        "   jnz 1b\n"
        "   ret\n"
        ".size spin_calls, .-spin_calls\n"

        ".type spin_memory, @function\n"
        "spin_memory:\n"
        "1: mov %rdi, -8(%rsp)\n"
        "   add -8(%rsp), %rax\n"
        "   nop\n"
        "   dec %rdi\n"
        "   jnz 1b\n"
        "   ret\n"
        ".size spin_memory, .-spin_memory\n");

struct shape {
    const char *name;
    void (*run)(uint64_t count);
    uint64_t instructions; /* per iteration */
};

static const struct shape shapes[] = {
    {"loop", spin_loop, 2},
    {"nested", spin_nested, 2003},
    {"calls", spin_calls, 4},
    {"memory", spin_memory, 5},
};

int main(int argc, char **argv)
{
    const struct shape *shape = &shapes[0];
    char *end = NULL;
    errno = 0;
    uint64_t count = argc > 1 ? strtoull(argv[1], &end, 10) : 0;
    if (argc < 2 || argc > 3 || *end || errno || count == 0) {
        fputs("usage: spin COUNT [loop|nested|calls|memory]\n", stderr);
        return 2;
    }
    if (argc == 3) {
        size_t i = 0;
        while (i < sizeof(shapes) / sizeof(shapes[0]) && strcmp(shapes[i].name, argv[2]) != 0)
            i++;
        if (i == sizeof(shapes) / sizeof(shapes[0])) {
            fprintf(stderr, "spin: unknown shape %s\n", argv[2]);
            return 2;
        }
        shape = &shapes[i];
    }
    shape->run(count);
    printf("spin: %s: %llu instructions\n", shape->name,
           (unsigned long long)(count * shape->instructions));
    return 0;
}
