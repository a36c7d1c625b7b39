/* accesses: memory accesses of known number, place and order.
 *
 *   accesses sequential|stride|chase|stores|swap|threads COUNT
 *
 * Each loop is a function of its own, in assembler: one access a round, and no other.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_BYTES (8u << 20) /* eight times the last-level cache of the modelled processor */
#define STRIDE 64u
#define PAGE_STEP 4160u /* a line on: no two accesses in a row are to consecutive lines */

static uint8_t array[ARRAY_BYTES] __attribute__((aligned(4096)));
static uint64_t hot[8] __attribute__((aligned(64)));
static uint64_t own[2][8] __attribute__((aligned(64)));

/* Accesses `count` places, `step` bytes apart, of a block of `mask` + 1 bytes, which the next round
 * starts over. */
void access_load(const uint8_t *block, uint64_t count, uint64_t step, uint64_t mask);
void access_store(uint8_t *block, uint64_t count, uint64_t step, uint64_t mask);
void access_swap(uint8_t *block, uint64_t count, uint64_t step, uint64_t mask);
void access_chase(const void *first, uint64_t count);
__asm__(".text\n"
        ".macro WALK name access:vararg\n"
        ".globl \\name\n"
        ".type \\name, @function\n"
        "\\name:\n"
        "   xor %r8d, %r8d\n"
        "1: \\access\n"
        "   add %rdx, %r8\n"
        "   and %rcx, %r8\n"
        "   dec %rsi\n"
        "   jnz 1b\n"
        "   ret\n"
        ".size \\name, .-\\name\n"
        ".endm\n"
        "WALK access_load mov (%rdi, %r8), %rax\n"
        "WALK access_store mov %rsi, (%rdi, %r8)\n"
        "WALK access_swap lock incq (%rdi, %r8)\n"
        ".globl access_chase\n"
        ".type access_chase, @function\n"
        "access_chase:\n"
        "1: mov (%rdi), %rdi\n"
        "   dec %rsi\n"
        "   jnz 1b\n"
        "   ret\n"
        ".size access_chase, .-access_chase\n");

/* A list through all lines of the array, far apart. */
static void link_lines(void)
{
    uint64_t lines = ARRAY_BYTES / STRIDE, at = 0;

    for (uint64_t i = 0; i < lines; i++) {
        uint64_t next = (at + 4097 * 3) % lines; /* odd: it reaches every one */

        *(void **)(void *)(array + at * STRIDE) = array + next * STRIDE;
        at = next;
    }
}

static uint64_t count;

static void *run_thread(void *of)
{
    uint64_t *line = of;

    for (uint64_t i = 0; i < 100; i++)
        access_store((uint8_t *)line, count / 100, 8, 63);
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run_thread, own[i]) != 0)
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("lines %p %p\n", (void *)own[0], (void *)own[1]);
}

int main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[1] : "";
    char *end = NULL;

    count = argc == 3 ? strtoull(argv[2], &end, 10) : 0;
    if (argc != 3 || *end || count == 0) {
        fputs("usage: accesses sequential|stride|chase|stores|swap|threads COUNT\n", stderr);
        return 2;
    }
    if (strcmp(what, "threads") == 0) {
        run_threads();
        return 0;
    }
    printf("array %p hot %p\n", (void *)array, (void *)hot);
    if (strcmp(what, "sequential") == 0) {
        access_load((const uint8_t *)hot, count, 8, sizeof hot - 1);
    } else if (strcmp(what, "stride") == 0) {
        memset(array, 1, sizeof array); /* no page faults later */
        access_load(array, count, STRIDE, 0x7ffff); /* half of the last-level cache */
    } else if (strcmp(what, "chase") == 0) {
        link_lines();
        access_chase(array, count);
    } else if (strcmp(what, "stores") == 0) {
        memset(array, 1, sizeof array); /* no page faults later */
        access_store(array, count, PAGE_STEP, ARRAY_BYTES - 1);
    } else if (strcmp(what, "swap") == 0) {
        access_swap((uint8_t *)hot, count, 8, sizeof hot - 1);
    } else {
        fprintf(stderr, "accesses: %s: unknown\n", what);
        return 2;
    }
    return 0;
}
