/* The part of a trace that a command looks at: --from, --to, --cpu, --thread. */
#ifndef HOST_TRACE_SELECTION_H
#define HOST_TRACE_SELECTION_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

struct selection {
    uint64_t from_ns; /* since the program's start; samples from here ... */
    uint64_t to_ns; /* ... to here, inclusive; UINT64_MAX: to the end */
    uint32_t *cpus; /* only these; owned; NULL: all */
    uint32_t cpu_count;
    uint32_t *threads; /* only these; owned; NULL: all */
    uint32_t thread_count;
};

/* Everything. */
void selection_init(struct selection *selection);
void selection_free(struct selection *selection);

/* A copy with lists of its own.  0 or -ENOMEM. */
int selection_copy(struct selection *to, const struct selection *from);

bool selection_is_all(const struct selection *selection);
bool selection_has_cpu(const struct selection *selection, uint32_t cpu);
bool selection_has_thread(const struct selection *selection, uint32_t tid);

/* The options, as a child of a command's argp: its input is a struct selection. */
extern const struct argp selection_argp;

#endif
