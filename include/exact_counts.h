/* The memory that the plugin (plugin/exact.c) counts in and that hr reads when the emulator has
 * ended: a file without a name, sparse, that hr makes.  Both are built from the same source tree:
 * EXACT_VERSION changes with the layout.
 *
 * Code is counted by blocks, as the emulator translates it; a thread has a table of counters, one
 * for each block.  An instruction was executed as often as its block was entered, less the times
 * that a fault cut the block short before or at that instruction.
 */
#ifndef INCLUDE_EXACT_COUNTS_H
#define INCLUDE_EXACT_COUNTS_H

#include <stdint.h>

#define EXACT_MAGIC 0x315443415845ull /* "EXACT1" */
#define EXACT_VERSION 1u

#define EXACT_BLOCK_INSTRUCTIONS_MAX 1024u /* the emulator makes blocks of up to 512 */
#define EXACT_BLOCKS_MAX (1u << 19) /* number 0 is none */
#define EXACT_CODE_BYTES (64u << 20)
#define EXACT_CUTS (1u << 18) /* slots of a hash table that is at most 3/4 full; likewise: */
#define EXACT_EDGES (1u << 18)
#define EXACT_THREADS_MAX 2048u
#define EXACT_THREAD_NONE 0u /* number of a table: before the program */
#define EXACT_THREAD_OTHERS 1u /* threads beyond EXACT_THREADS_MAX */

struct exact_block {
    uint64_t start; /* linear address */
    uint32_t code; /* offset in the code: a length for each instruction, then their bytes */
    uint16_t instructions; /* at least 1 */
    uint16_t bytes; /* of code */
};
_Static_assert(sizeof(struct exact_block) == 16, "exact_block");

struct exact_counter { /* of a block, in one thread */
    uint64_t entered;
    uint64_t passed; /* the next block entered was the one behind it */
};
_Static_assert(sizeof(struct exact_counter) == 16, "exact_counter");

struct exact_cut { /* a block that a fault cut short; block 0: free */
    uint32_t block;
    uint16_t instruction; /* the first that did not complete */
    uint16_t thread; /* number of its table */
    uint64_t count;
};
_Static_assert(sizeof(struct exact_cut) == 16, "exact_cut");

struct exact_edge { /* where an indirect jump or call, the last instruction of a block, went */
    uint64_t to;
    uint64_t count;
    uint32_t block; /* 0: free */
    uint32_t thread;
};
_Static_assert(sizeof(struct exact_edge) == 24, "exact_edge");

struct exact_header {
    uint64_t magic; /* written by the plugin last: it is ready */
    uint32_t version;
    uint32_t blocks; /* numbers 1 to blocks are in use */
    uint32_t threads; /* tables 0 to threads - 1 are in use */
    uint32_t cuts; /* slots in use */
    uint32_t edges;
    uint32_t code_bytes;
    uint64_t homeless; /* instructions of blocks for which there was no room */
    uint64_t lost_cuts; /* faults that belong to no block known here */
    uint64_t lost_edges;
    uint32_t tids[EXACT_THREADS_MAX]; /* of the tables */
};
_Static_assert(sizeof(struct exact_header) <= 12288, "exact_header");

/* Offsets in the file. */
#define EXACT_BLOCKS_AT 12288ull
#define EXACT_CODE_AT (EXACT_BLOCKS_AT + EXACT_BLOCKS_MAX * sizeof(struct exact_block))
#define EXACT_CUTS_AT (EXACT_CODE_AT + EXACT_CODE_BYTES)
#define EXACT_EDGES_AT (EXACT_CUTS_AT + EXACT_CUTS * sizeof(struct exact_cut))
#define EXACT_TABLES_AT (EXACT_EDGES_AT + EXACT_EDGES * sizeof(struct exact_edge))
#define EXACT_TABLE_BYTES (EXACT_BLOCKS_MAX * sizeof(struct exact_counter))
#define EXACT_FILE_BYTES (EXACT_TABLES_AT + EXACT_THREADS_MAX * EXACT_TABLE_BYTES)

#endif
