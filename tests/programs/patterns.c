/* patterns: accesses to memory of known kinds, for tests of who reports them.
 *
 *   patterns alone|shared|heap
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS (1u << 17)
#define ROUNDS 200000u

struct item { /* 8 MiB of them: more than the caches hold */
    struct item *next;
    char rest[56];
};

struct __attribute__((aligned(64))) pair { /* of two threads */
    uint64_t left, right;
};

struct __attribute__((aligned(64))) apart {
    uint64_t count;
};

static struct item list[ITEMS] __attribute__((aligned(64)));
static uint64_t hot __attribute__((aligned(64)));
static struct pair pair;
static struct apart apart[2];
static uint64_t total __attribute__((aligned(64)));
static uint64_t cold_a[64] __attribute__((aligned(64))), cold_b[64], cold_c[64];

static void link_items(void)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t next = (at + 12291) % ITEMS;

        list[at].next = &list[next];
        at = next;
    }
}

static void chase(void)
{
    const struct item *volatile result;
    const struct item *at = list;

    for (uint32_t i = 0; i < ROUNDS; i++)
        at = at->next;
    result = at;
    (void)result;
}

/* Reads and writes one number. */
static void heat(volatile uint64_t *number, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        (*number)++;
}

static void *left(void *unused)
{
    for (uint32_t i = 0; i < 100; i++) {
        heat(&pair.left, ROUNDS / 100);
        heat(&apart[0].count, ROUNDS / 100);
        heat(&total, ROUNDS / 100);
    }
    return unused;
}

static void *right(void *unused)
{
    for (uint32_t i = 0; i < 100; i++) {
        heat(&pair.right, ROUNDS / 100);
        heat(&apart[1].count, ROUNDS / 100);
        heat(&total, ROUNDS / 100);
    }
    return unused;
}

static uint64_t *make_block(void)
{
    uint64_t *block = malloc(4096);

    memset(block, 0, 4096);
    return block;
}

static void *on_stack(void *block)
{
    volatile uint64_t own[8] = {0};

    heat(&own[3], ROUNDS);
    heat(block, ROUNDS / 2);
    return NULL;
}

static void run(void *(*first)(void *), void *(*second)(void *), void *argument)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, first, argument);
    if (second != NULL)
        pthread_create(&threads[1], NULL, second, argument);
    pthread_join(threads[0], NULL);
    if (second != NULL)
        pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";

    if (strcmp(kind, "alone") == 0) {
        link_items();
        chase();
        heat(&hot, ROUNDS);
        heat(&cold_a[1], 1000);
        heat(&cold_b[1], 1000);
        heat(&cold_c[1], 1000);
    } else if (strcmp(kind, "shared") == 0) {
        run(left, right, NULL);
    } else {
        run(on_stack, NULL, make_block());
    }
    printf("%s\n", kind);
    return 0;
}
