/* critical: an OpenMP loop with a fault: once, a critical section takes 100,000 times as long as
 * usual. */
#include <stdint.h>
#include <stdio.h>

static uint64_t total;

__attribute__((noinline)) uint64_t compute(uint64_t value, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

__attribute__((noinline)) void merge(uint64_t value, uint64_t iterations)
{
    total += compute(value, iterations);
}

__attribute__((noinline)) void step(uint64_t n)
{
    uint64_t value = compute(n, 1000);

#pragma omp critical(totals)
    merge(value, n == 500 ? 2000000 : 20);
}

int main(void)
{
#pragma omp parallel for num_threads(4) schedule(dynamic, 1)
    for (int n = 0; n < 2000; n++)
        step((uint64_t)n);
    printf("%llx\n", (unsigned long long)total);
    return 0;
}
