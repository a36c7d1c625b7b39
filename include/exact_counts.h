/* The memory in which the plugin (plugin/exact.c) counts, and which hr reads after the emulator has
 * ended.  It is a sparse file without a name that hr creates.  Both sides are built from one source
 * tree; EXACT_VERSION changes with the layout.
 *
 * Code is counted by blocks as the emulator translates them.  Each thread has a table with one
 * counter per block.  An instruction was executed as often as its block was entered, minus the
 * times that a fault ended the block before or at that instruction.
 */
#pragma once

#include <stdint.h>

#define EXACT_MAGIC 0x315443415845ull /* "EXACT1" */
#define EXACT_VERSION 1u

#define EXACT_BLOCK_INSTRUCTIONS_MAX 1024u /* the emulator makes blocks of up to 512 */
#define EXACT_BLOCKS_MAX (1u << 19) /* number 0 means none */
#define EXACT_CODE_BYTES (64u << 20)
#define EXACT_CUTS (1u << 18) /* slots of a hash table, also EXACT_EDGES; at most 3/4 full */
#define EXACT_EDGES (1u << 18)
#define EXACT_THREADS_MAX 2048u
#define EXACT_THREAD_NONE 0u /* number of the table for the time before the program */
#define EXACT_THREAD_OTHERS 1u /* table of the threads beyond EXACT_THREADS_MAX */

struct exact_block {
    uint64_t start; /* linear address */
    uint32_t code; /* offset in the code area: one length byte per instruction, then their bytes */
    uint16_t instructions; /* at least 1 */
    uint16_t bytes; /* length of the code */
};
_Static_assert(sizeof(struct exact_block) == 16, "exact_block");

struct exact_counter { /* of one block in one thread */
    uint64_t entered;
    uint64_t passed; /* how often the next block entered was the one that follows in memory */
};
_Static_assert(sizeof(struct exact_counter) == 16, "exact_counter");

struct exact_cut { /* a block that a fault ended early; block 0: free slot */
    uint32_t block;
    uint16_t instruction; /* the first one that did not complete */
    uint16_t thread; /* number of the thread's table */
    uint64_t count;
};
_Static_assert(sizeof(struct exact_cut) == 16, "exact_cut");

struct exact_edge { /* a target of the indirect jump or call that ends a block */
    uint64_t to;
    uint64_t count;
    uint32_t block; /* 0: free slot */
    uint32_t thread;
};
_Static_assert(sizeof(struct exact_edge) == 24, "exact_edge");

struct exact_header {
    uint64_t magic; /* written last, when the plugin is ready */
    uint32_t version;
    uint32_t blocks; /* numbers 1 to blocks are in use */
    uint32_t threads; /* tables 0 to threads - 1 are in use */
    uint32_t cuts; /* slots in use */
    uint32_t edges;
    uint32_t code_bytes;
    uint64_t homeless; /* instructions of blocks that found no free entry */
    uint64_t lost_cuts; /* faults that belong to no known block */
    uint64_t lost_edges;
    uint32_t tids[EXACT_THREADS_MAX]; /* thread of each table */
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
