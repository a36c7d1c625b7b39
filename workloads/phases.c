/* phases: four kinds of work in turn, one function each: arithmetic, pointer chase, stream, sort.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHASE_NODES                                                               \
    (1u << 18) /* 2 MiB of 8-byte indices: larger than a usual second-level cache \
                */
#define STREAM_DOUBLES (1u << 17) /* three arrays of 1 MiB */
#define SORT_WORDS 4096u

/* Iterations that take one million instructions, give or take 5%, as gcc 12 -O2 compiles them. */
#define COMPUTE_PER_MILLION 100000u
#define CHASE_PER_MILLION 250000u
#define STREAM_PER_MILLION 111111u
#define SORTS_PER_THOUSAND_MILLION 952u

struct arena {
    uint64_t chase[CHASE_NODES];
    double stream[3][STREAM_DOUBLES];
    uint32_t sort[SORT_WORDS];
    uint64_t random; /* state of next_random */
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Links all nodes into one random cycle (Sattolo's algorithm). */
static void link_nodes(struct arena *a)
{
    for (uint64_t i = 0; i < CHASE_NODES; i++)
        a->chase[i] = i;
    for (uint64_t i = CHASE_NODES - 1; i > 0; i--) {
        uint64_t j = next_random(&a->random) % i;
        uint64_t node = a->chase[i];
        a->chase[i] = a->chase[j];
        a->chase[j] = node;
    }
}

__attribute__((noinline)) static uint64_t phase_compute(uint64_t rounds, uint64_t value)
{
    for (uint64_t i = 0; i < rounds; i++) {
        value ^= value >> 33;
        value *= 0xff51afd7ed558ccdull;
        value ^= value >> 29;
        __asm__("" : "+r"(value)); /* keeps the loop as it is written */
    }
    return value;
}

__attribute__((noinline)) static uint64_t phase_chase(const uint64_t *nodes, uint64_t steps,
                                                      uint64_t at)
{
    for (uint64_t i = 0; i < steps; i++) {
        at = nodes[at];
        __asm__("" : "+r"(at));
    }
    return at;
}

__attribute__((noinline)) static void phase_stream(double *to, const double *a, const double *b,
                                                   uint64_t elements)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < elements; i++) {
        to[at] = a[at] + 0.5 * b[at];
        at = (at + 1) & (STREAM_DOUBLES - 1);
    }
}

static void sift_down(uint32_t *words, uint32_t root, uint32_t count)
{
    uint32_t value = words[root];
    for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && words[child] < words[child + 1])
            child++;
        if (words[child] <= value)
            break;
        words[root] = words[child];
    }
    words[root] = value;
}

/* Heap sort of fresh random words: its branches are as good as coin tosses. */
__attribute__((noinline)) static uint64_t phase_sort(uint32_t *words, uint64_t sorts,
                                                     uint64_t *random)
{
    uint64_t sum = 0;
    for (uint64_t s = 0; s < sorts; s++) {
        for (uint32_t i = 0; i < SORT_WORDS; i++)
            words[i] = (uint32_t)next_random(random);
        for (uint32_t i = SORT_WORDS / 2; i-- > 0;)
            sift_down(words, i, SORT_WORDS);
        for (uint32_t last = SORT_WORDS - 1; last > 0; last--) {
            uint32_t largest = words[0];
            words[0] = words[last];
            words[last] = largest;
            sift_down(words, 0, last);
        }
        sum += words[SORT_WORDS / 2];
    }
    return sum;
}

static uint64_t number(const char *text, uint64_t otherwise)
{
    char *end;
    if (!text)
        return otherwise;
    uint64_t value = strtoull(text, &end, 10);
    if (*end || value == 0 || value > 1000000) {
        fputs("usage: phases [MILLIONS [REPEATS]]\n"
              "MILLIONS: instructions a phase, in millions; 10 or more is most even\n",
              stderr);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    uint64_t millions = number(argc > 1 ? argv[1] : NULL, 10);
    uint64_t repeats = number(argc > 2 ? argv[2] : NULL, 2);
    uint64_t sorts = (millions * SORTS_PER_THOUSAND_MILLION + 500) / 1000;
    struct arena *a = calloc(1, sizeof(*a));
    if (!a) {
        fputs("phases: out of memory\n", stderr);
        return 1;
    }
    a->random = 0x9e3779b97f4a7c15ull;
    link_nodes(a);
    for (uint32_t i = 0; i < STREAM_DOUBLES; i++) {
        a->stream[1][i] = i;
        a->stream[2][i] = 2.0 * i;
    }

    uint64_t computed = 1, at = 0, sorted = 0;
    for (uint64_t r = 0; r < repeats; r++) {
        computed = phase_compute(millions * COMPUTE_PER_MILLION, computed);
        at = phase_chase(a->chase, millions * CHASE_PER_MILLION, at);
        phase_stream(a->stream[0], a->stream[1], a->stream[2], millions * STREAM_PER_MILLION);
        sorted += phase_sort(a->sort, sorts, &a->random);
    }
    printf("compute %016llx\nchase %llu\nstream %.1f\nsort %llu\n", (unsigned long long)computed,
           (unsigned long long)at, a->stream[0][STREAM_DOUBLES - 1], (unsigned long long)sorted);
    free(a);
    return 0;
}
