/* membench: how fast memory is, by the size of what is used: read, write, copy, and a chain of
 * loads.
 *
 *   membench LARGEST              a table of sizes from 16 KiB to LARGEST bytes, each the best of
 * many passes membench KIND BYTES PASSES    read, write, copy or chase: known traffic, for tests of
 * counters
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "workloads/now.h"

#define LINE 64u
#define LEAST_BYTES (16u << 10)
#define PASS_BYTES (1u << 20) /* a pass over less is repeated, so that it can be timed */
#define PASS_LOADS (1u << 16) /* of a chain */
#define BUDGET_NS 10000000u
#define PASSES_LEAST 3u

typedef uint64_t vector __attribute__((vector_size(16)));

struct line {
    struct line *next;
    uint8_t rest[LINE - sizeof(struct line *)];
};

static vector *memory, *other;

/* Four accumulators: the loop waits for memory, not for its own additions. */
static uint64_t pass_read(size_t bytes)
{
    vector a = {0}, b = {0}, c = {0}, d = {0};

    for (const vector *v = memory, *end = memory + bytes / sizeof *v; v != end; v += 4) {
        a ^= v[0];
        b ^= v[1];
        c ^= v[2];
        d ^= v[3];
    }
    a ^= b ^ c ^ d;
    return a[0] ^ a[1];
}

static uint64_t pass_write(size_t bytes)
{
    for (vector *v = memory, *end = memory + bytes / sizeof *v; v != end; v += 4) {
        v[0] = v[1] = v[2] = v[3] = (vector){bytes, 1};
        __asm__ volatile("" ::: "memory");
    }
    return 0;
}

static uint64_t pass_copy(size_t bytes)
{
    vector *to = other;

    for (const vector *v = memory, *end = memory + bytes / sizeof *v; v != end; v += 4, to += 4) {
        to[0] = v[0];
        to[1] = v[1];
        to[2] = v[2];
        to[3] = v[3];
        __asm__ volatile("" ::: "memory");
    }
    return 0;
}

static struct line *chain;

static uint64_t pass_chase(size_t loads)
{
    for (size_t i = 0; i < loads; i++)
        chain = chain->next;
    return (uintptr_t)chain;
}

/* One cycle through all lines in a random order (Sattolo), so that nothing can be fetched ahead. */
static void make_chain(size_t bytes)
{
    struct line *lines = (struct line *)memory;
    uint64_t count = bytes / LINE, random = 88172645463325252u;

    for (uint64_t i = 0; i < count; i++)
        lines[i].next = &lines[i];
    for (uint64_t i = count - 1; i > 0; i--) {
        struct line *kept = lines[i].next;
        uint64_t j;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        j = random % i;
        lines[i].next = lines[j].next;
        lines[j].next = kept;
    }
    chain = lines;
}

static const struct kind {
    const char *name;
    uint64_t (*pass)(size_t amount);
    unsigned moved; /* bytes for each byte of the size */
} kinds[] = {{"read", pass_read, 1},
             {"write", pass_write, 1},
             {"copy", pass_copy, 2},
             {"chase", pass_chase, 0}};

/* Prints the best pass: "read SIZE BYTES NANOSECONDS", for a chain "chase SIZE LOADS NANOSECONDS".
 */
static void measure(const struct kind *kind, size_t bytes)
{
    size_t sweeps = bytes < PASS_BYTES ? PASS_BYTES / bytes : 1;
    size_t amount = kind->pass == pass_chase ? PASS_LOADS : bytes, total = 0;
    uint64_t best = UINT64_MAX, begun = now_ns();

    if (kind->pass == pass_chase) {
        make_chain(bytes);
        sweeps = 1;
        (void)!kind->pass(bytes / LINE);
    }
    for (unsigned pass = 0; pass < PASSES_LEAST || now_ns() - begun < BUDGET_NS; pass++) {
        uint64_t start = now_ns(), took;

        for (size_t i = 0; i < sweeps; i++)
            total += kind->pass(amount);
        took = now_ns() - start;
        if (took < best)
            best = took;
    }
    __asm__ volatile("" ::"r"(total));
    printf("%s %zu %zu %lu\n", kind->name, bytes,
           sweeps * amount * (kind->moved != 0 ? kind->moved : 1), best);
}

static vector *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                   -1, 0);

    if (p == MAP_FAILED) {
        perror("membench: mmap");
        exit(1);
    }
    return p;
}

static void map_all(size_t bytes)
{
    memory = map(bytes);
    other = map(bytes);
    memset(memory, 1, bytes);
    memset(other, 1, bytes);
}

static size_t size_of(const char *text)
{
    size_t bytes = strtoull(text, NULL, 10) / LINE * LINE;

    if (bytes < LEAST_BYTES) {
        fprintf(stderr, "membench: %s: not a number of bytes from %u on\n", text, LEAST_BYTES);
        exit(2);
    }
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        map_all(size_of(argv[1]));
        for (size_t bytes = LEAST_BYTES; bytes <= size_of(argv[1]); bytes *= 2)
            for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
                measure(&kinds[k], bytes);
        return 0;
    }
    for (size_t k = 0; argc == 4 && k < sizeof kinds / sizeof kinds[0]; k++) {
        long passes = atol(argv[3]);
        size_t bytes;

        if (strcmp(argv[1], kinds[k].name) != 0)
            continue;
        bytes = size_of(argv[2]);
        memory = map(bytes);
        if (kinds[k].pass == pass_copy)
            other = map(bytes);
        if (kinds[k].pass == pass_chase)
            make_chain(bytes);
        for (long pass = 0; pass < passes; pass++)
            __asm__ volatile(
                "" ::"r"(kinds[k].pass(kinds[k].pass == pass_chase ? bytes / LINE : bytes)));
        return 0;
    }
    fprintf(stderr, "usage: membench LARGEST | membench read|write|copy|chase BYTES PASSES\n");
    return 2;
}
