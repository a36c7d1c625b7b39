/* The emulator's main thread is moved to the CPU of the thread that has the guest's CPUs. */
#include "tests/unit/test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/launch/launch_near.h"

#define FIRST_NS 50000000u
#define STEP_NS 10000000u
#define LONG_NS 20000000000u

/* The CPU thread of a process that stands in for the emulator; it waits on the given CPU. */
static void *cpu_thread(void *cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((unsigned int)(uintptr_t)cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        _exit(1);
    pthread_setname_np(pthread_self(), "ALL CPUs/TCG");
    if (write(STDOUT_FILENO, "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
    return NULL;
}

/* Starts a process with such a thread on `cpu`; a negative one: without. */
static pid_t start(int cpu)
{
    int ends[2];
    pid_t child;
    char byte;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        pthread_t thread;

        dup2(ends[1], STDOUT_FILENO);
        if (cpu < 0 || pthread_create(&thread, NULL, cpu_thread, (void *)(uintptr_t)cpu) != 0)
            _exit(write(STDOUT_FILENO, "", 1) == 1 && pause());
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Returns the last CPU that this process may use. */
static int last_cpu(cpu_set_t *all)
{
    int cpu = CPU_SETSIZE - 1;

    assert_int_equal(sched_getaffinity(0, sizeof *all, all), 0);
    while (!CPU_ISSET((unsigned int)cpu, all))
        cpu--;
    return cpu;
}

static void moves_the_main_thread(void **state)
{
    struct launch_near near;
    cpu_set_t all, set;
    int cpu = last_cpu(&all);
    pid_t child = start(cpu);

    (void)state;
    launch_near_start(&near, child);
    assert_true(launch_near_deadline(&near) == UINT64_MAX); /* not while the guest boots */
    launch_near_begin(&near, 0);
    launch_near_begin(&near, STEP_NS); /* begun already */
    assert_int_equal(launch_near_deadline(&near), FIRST_NS);
    launch_near_follow(&near, FIRST_NS); /* finds the thread */
    assert_int_equal(sched_getaffinity(child, sizeof set, &set), 0);
    assert_true(CPU_EQUAL(&set, &all));
    assert_true(launch_near_deadline(&near) <= FIRST_NS + STEP_NS);
    launch_near_follow(&near, FIRST_NS + STEP_NS);
    assert_int_equal(sched_getaffinity(child, sizeof set, &set), 0);
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_true(CPU_ISSET((unsigned int)cpu, &set));
    assert_int_equal(sched_getscheduler(child) & ~SCHED_RESET_ON_FORK, SCHED_BATCH);
    assert_true(launch_near_deadline(&near) > FIRST_NS + STEP_NS);
    assert_true(launch_near_deadline(&near) < LONG_NS);
    end(child);
    launch_near_follow(&near, LONG_NS);
    assert_true(launch_near_deadline(&near) == UINT64_MAX); /* the process is gone */
}

static void gives_up(void **state)
{
    struct launch_near near;
    cpu_set_t all, set;
    pid_t child = start(-1);

    (void)state;
    last_cpu(&all);
    launch_near_start(&near, child);
    launch_near_begin(&near, 0);
    launch_near_follow(&near, FIRST_NS);
    assert_true(launch_near_deadline(&near) < LONG_NS);
    launch_near_follow(&near, LONG_NS);
    assert_true(launch_near_deadline(&near) == UINT64_MAX);
    assert_int_equal(sched_getaffinity(child, sizeof set, &set), 0);
    assert_true(CPU_EQUAL(&set, &all));
    end(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_the_main_thread),
        cmocka_unit_test(gives_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
