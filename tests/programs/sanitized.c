/* Threads that count under a lock and use the heap: for programs built with sanitizers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;

static void *work(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        char *bytes = malloc(100);

        bytes[50] = (char)i;
        pthread_mutex_lock(&lock);
        count += bytes[50] == (char)i;
        pthread_mutex_unlock(&lock);
        free(bytes);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", count);
    return 0;
}
