/* An OpenMP program: parallel loops, a reduction, tasks, a critical section; its output depends on
 * nothing else.  parallel [ROUNDS]: so many times, once by default. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 200000

static uint64_t fibonacci(unsigned n)
{
    uint64_t a, b;

    if (n < 12)
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
#pragma omp task shared(a)
    a = fibonacci(n - 1);
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void round_once(uint64_t *values)
{
    uint64_t sum = 0, most = 0, result = 0;
    int threads = 0;

#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp parallel for schedule(dynamic, 1000)
    for (int i = 0; i < N; i++)
        values[i] = (uint64_t)i * 2654435761u % 1000003;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += values[i];
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        if (values[i] > 999990) {
#pragma omp critical
            most = values[i] > most ? values[i] : most;
        }
    }
#pragma omp parallel
#pragma omp single
    result = fibonacci(20);
    printf("threads %d sum %lu most %lu fibonacci %lu\n", threads, sum, most, result);
}

int main(int argc, char **argv)
{
    uint64_t *values = malloc(N * sizeof *values);

    for (int rounds = argc > 1 ? atoi(argv[1]) : 1; rounds > 0; rounds--)
        round_once(values);
    free(values);
    return 0;
}
