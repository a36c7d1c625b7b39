/* The part of a trace that a command reads: --from, --to, --cpu, --pid, --thread. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

struct selection {
    uint64_t from_ns; /* since the program's start; first time ... */
    uint64_t to_ns; /* ... and last time, inclusive; UINT64_MAX: the end */
    uint32_t *cpus; /* the CPUs; owned; NULL: all */
    uint32_t cpu_count;
    uint32_t *threads; /* the threads; owned; NULL: all */
    uint32_t thread_count;
    uint32_t *pids; /* the processes; owned; NULL: all */
    uint32_t pid_count;
};

/* Selects everything. */
void selection_init(struct selection *selection);
void selection_free(struct selection *selection);

/* Copies a selection with its lists.  Returns 0 or -ENOMEM. */
int selection_copy(struct selection *to, const struct selection *from);

bool selection_is_all(const struct selection *selection);
bool selection_has_cpu(const struct selection *selection, uint32_t cpu);
bool selection_has_pid(const struct selection *selection, uint32_t pid);
bool selection_has_thread(const struct selection *selection, uint32_t tid);

/* Parses the options, as a child of a command's argp; its input is a struct selection. */
extern const struct argp selection_argp;
