/* The call trees of two traces as one tree of names, with what each of them counted: for
 * differential flame graphs.
 *
 * Functions are the same if their names and files are, as in diff_side.h.  Without call stacks all
 * functions are called from the root.  Memory is bounded.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/object/symbols_options.h"
#include "host/trace/selection.h"

#define DIFF_TREE_ROOT 0u
#define DIFF_TREE_PROGRAM_BYTES 512

struct diff_tree_function {
    char *name; /* for people, as report_function writes it; owned */
    char *object; /* "" if unknown; owned */
    bool kernel; /* part of Microtome's kernel */
};

struct diff_tree_node {
    uint32_t parent;
    uint32_t function; /* of the root: none */
    uint64_t self[2]; /* before and after */
    uint64_t total[2]; /* with all that is below */
};

struct diff_tree {
    struct diff_tree_function *functions; /* owned, as all below */
    uint32_t function_count;
    struct diff_tree_node *nodes; /* parents before children */
    uint32_t node_count;
    uint32_t *children; /* node numbers, grouped by parent, there in the order of names */
    uint32_t *first; /* index of a node's first child, and an end */
    char programs[2][DIFF_TREE_PROGRAM_BYTES]; /* with their arguments; raw */
    char own[2][256]; /* file names of the programs; raw */
    char event[80]; /* what is counted, "(stub)" after it if it is one; "samples" */
    double strides[2]; /* what a sample stands for; 0: the counts are exact */
    bool stacks; /* one of them has call stacks */
    bool exact; /* both are counts of virtual time */
    bool incomplete[2]; /* the trace is not whole */
    uint32_t *node_index; /* hash tables of numbers + 1 */
    uint32_t *function_index;
};

/* Reads what is selected of both traces, and counts `event`; NULL: instructions where both measured
 * them, else samples; "samples".  0; -errno, with *failed the number of the trace; -ENOENT: one has
 * no such event; -ENODATA: one has no samples.  diff_tree_free after any. */
int diff_tree_read(struct diff_tree *tree, const char *const paths[2],
                   const struct selection *selection, const struct symbols_options *symbols,
                   const char *event, int *failed);
void diff_tree_free(struct diff_tree *tree);

/* How much more a node counts after than before, from -1 (it disappeared) over 0 to 1 (it is new),
 * by the larger of both; 0 where chance alone may show as much.  A sample falls into a node or not:
 * three standard deviations of the binomial distribution, or of less. */
double diff_tree_change(const struct diff_tree *tree, const struct diff_tree_node *node);
