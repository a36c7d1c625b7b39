/* Two threads add to one sum, under one lock that is held for too long: an example of
 * docs/first-day.md. */
#include <pthread.h>
#include <stdio.h>

#define THREADS 2
#define SALES 2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;

__attribute__((noinline)) static unsigned long work_out(unsigned long value)
{
    for (int i = 0; i < 20000; i++)
        value = value * 1103515245 + 12345;
    return value & 0xff;
}

__attribute__((noinline)) static void sell(unsigned long value)
{
    pthread_mutex_lock(&lock);
    sum += work_out(value); /* needs no lock */
    pthread_mutex_unlock(&lock);
}

static void *till(void *first)
{
    for (unsigned long i = 0; i < SALES; i++)
        sell((unsigned long)first + i);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (unsigned long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, till, (void *)(i * SALES));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("sum %lu\n", sum);
    return 0;
}
