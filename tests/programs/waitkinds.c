/* Waits of every kind, each in a function of its own, for lengths that are known. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int ready, pipes[2];

static NOINLINE void spin(uint64_t count)
{
    while (count-- > 0)
        __asm__ volatile("");
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void *holder(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    rest();
    pthread_mutex_unlock(&lock);
    spin(1000000); /* longer than a slice: what was woken has to wait for the CPU */
    rest();
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&signalled);
    pthread_mutex_unlock(&lock);
    rest();
    sem_post(&semaphore);
    rest();
    pthread_barrier_wait(&barrier);
    rest();
    if (write(pipes[1], "x", 1) != 1)
        abort();
    spin(600000);
    return NULL;
}

static void *ender(void *unused)
{
    rest();
    rest();
    return unused;
}

NOINLINE void takes_lock(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

NOINLINE void waits_for_signal(void)
{
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&signalled, &lock);
    pthread_mutex_unlock(&lock);
}

NOINLINE void takes_semaphore(void)
{
    sem_wait(&semaphore);
}

NOINLINE void waits_at_barrier(void)
{
    pthread_barrier_wait(&barrier);
}

NOINLINE void reads_pipe(void)
{
    char byte;

    if (read(pipes[0], &byte, 1) != 1)
        abort();
}

NOINLINE void joins(pthread_t thread)
{
    pthread_join(thread, NULL);
}

NOINLINE void sleeps(void)
{
    rest();
}

NOINLINE void waits_for_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        rest();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

NOINLINE void ends_program(void)
{
    exit(0);
}

int main(void)
{
    pthread_t a, b;

    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&semaphore, 0, 0);
    if (pipe(pipes) != 0 || pthread_create(&a, NULL, holder, NULL) != 0)
        return 1;
    sched_yield();
    takes_lock();
    waits_for_signal();
    takes_semaphore();
    waits_at_barrier();
    reads_pipe();
    sleeps();
    pthread_create(&b, NULL, ender, NULL);
    joins(b);
    joins(a);
    waits_for_child();
    puts("done");
    ends_program();
}
