/* patterns: accesses to memory of known kinds, for tests of who reports them.
 *
 *   patterns alone|shared|heap|small
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

/* Of a few small objects in a row, two are in one line. */
static uint64_t *small[4];
static pthread_barrier_t barrier;

static void make_small(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    for (uint32_t i = 0; i < 4; i++) {
        small[i] = malloc(sizeof *small[i]);
        *small[i] = 0;
    }
}

/* One of the two, with the other thread at its side. */
static void heat_small(uint32_t number)
{
    uint32_t first = (uintptr_t)small[0] / 64 == (uintptr_t)small[1] / 64 ? 0 : 1;

    for (uint32_t i = 0; i < 10; i++) {
        heat(small[first + number], ROUNDS / 10);
        pthread_barrier_wait(&barrier);
    }
}

static void *first_small(void *unused)
{
    heat_small(0);
    return unused;
}

static void *second_small(void *unused)
{
    heat_small(1);
    return unused;
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
    } else if (strcmp(kind, "small") == 0) {
        make_small();
        run(first_small, second_small, NULL);
    } else {
        run(on_stack, NULL, make_block());
    }
    printf("%s\n", kind);
    return 0;
}
