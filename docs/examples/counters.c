/* counters: two threads look up names in a table and count what they find. */
#include <pthread.h>
#include <stdio.h>

#define NAMES (1u << 16)
#define ROUNDS 1000000u

struct counters { /* of a thread */
    unsigned long found, missed;
};

static unsigned table[NAMES]; /* 256 KiB */
static struct counters counters[2] __attribute__((aligned(64)));

static int look_up(unsigned name)
{
    return table[name % NAMES] != 0;
}

static void count(struct counters *c, int found)
{
    if (found)
        c->found++;
    else
        c->missed++;
}

static void *work(void *argument)
{
    struct counters *c = argument;
    unsigned name = 1;

    for (unsigned i = 0; i < ROUNDS; i++) {
        name = name * 1664525u + 1013904223u;
        count(c, look_up(name >> 8));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];

    for (unsigned i = 0; i < NAMES; i += 2)
        table[i] = i + 1;
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &counters[i]);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu found\n", counters[0].found + counters[1].found);
    return 0;
}
