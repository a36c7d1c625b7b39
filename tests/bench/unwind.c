/* How many copied stacks the unwinder follows in a second of CPU time: this process's own, again
 * and again. Usage: unwind [ROUNDS].  Prints stacks a second with all rules known, frames a stack,
 * and stacks a second without any rule known.
 */
#include <search.h>
#include <time.h>

#include "tests/own_process.h"

#define STACKS 64
#define DEPTH 4 /* of nested sorts, three frames and more each */

static struct capture *captures[STACKS];
static int taken;

static int compare(const void *a, const void *b, void *depth);

__attribute__((noinline)) static int sort(int depth)
{
    int numbers[6] = {depth, 5, 3, 4, 1, 2};

    qsort_r(numbers, 6, sizeof numbers[0], compare, &depth);
    return numbers[0];
}

static int compare(const void *a, const void *b, void *context)
{
    int left = *(const int *)a, right = *(const int *)b, depth = *(const int *)context;
    ucontext_t here;

    if (depth != 0 && taken < STACKS)
        sort(depth - 1);
    if (depth == 0 && taken < STACKS) {
        captures[taken] = malloc(sizeof *captures[0]);
        OWN_PROCESS_CHECK(captures[taken] != NULL && getcontext(&here) == 0);
        capture_context(captures[taken++], &here);
    }
    return (left > right) - (left < right);
}

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Follows every stack once; how many frames they have. */
static uint64_t follow_all(struct unwind *unwind, struct stacks *stacks)
{
    static uint64_t addresses[UNWIND_FRAMES_MAX];
    uint64_t frames = 0;

    for (int i = 0; i < taken; i++) {
        uint32_t node = unwind_stack(unwind, &captures[i]->sample, stacks);

        OWN_PROCESS_CHECK(stacks_root(stacks, node) == HR_STACK_WHOLE);
        frames += stacks_addresses(stacks, node, addresses, UNWIND_FRAMES_MAX);
    }
    return frames;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5000, cold_rounds = 20;
    struct own_process *own = own_process_read();
    struct unwind *unwind;
    struct stacks stacks;
    uint64_t frames = 0;
    double begin, warm, cold = 0;

    sort(DEPTH);
    OWN_PROCESS_CHECK(stacks_init(&stacks) == 0);
    for (int i = 0; i < cold_rounds; i++) {
        begin = cpu_seconds();
        OWN_PROCESS_CHECK(unwind_open(&unwind, &own->info, NULL) == 0);
        follow_all(unwind, &stacks);
        cold += cpu_seconds() - begin;
        if (i + 1 < cold_rounds)
            unwind_close(unwind);
    }
    begin = cpu_seconds();
    for (int i = 0; i < rounds; i++)
        frames += follow_all(unwind, &stacks);
    warm = cpu_seconds() - begin;
    printf("%.0f %.1f %.0f\n", (double)rounds * taken / warm, (double)frames / rounds / taken,
           (double)cold_rounds * taken / cold);
    unwind_close(unwind);
    stacks_free(&stacks);
    for (int i = 0; i < taken; i++)
        free(captures[i]);
    own_process_free(own);
    return 0;
}
