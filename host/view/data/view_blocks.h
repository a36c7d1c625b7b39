/* Where the samples of a trace fell, in equal blocks of time: any span's profile is a sum of them.
 *
 * An entry counts the samples, and what events rose by, of one block, one CPU and thread, and one
 * node of the call tree.  The blocks become twice as long when there would be too many of them or
 * of entries, so memory is bounded whatever the trace holds.
 */
#pragma once

#include "host/scan/trace_scan.h"
#include "host/view/data/view_columns.h"

#define VIEW_TICKS_MASK ((1ull << 60) - 1) /* 36 years; later times are forged */
#define VIEW_BLOCKS_MAX 8192u
#define VIEW_BLOCKS_BITS 18u /* of places in the index, of which three quarters may be used */
#define VIEW_BLOCKS_PART_BITS 16u
#define VIEW_GROUPS_MAX 1024u /* pairs of CPU and thread; further ones share the last */
#define VIEW_OBJECTS_MAX 64u /* that samples tell apart */

struct view_group {
    uint32_t cpu;
    uint32_t tid; /* UINT32_MAX: all that found no place */
    uint32_t object; /* number + 1 of what it accessed; 0: another one, or nothing */
};

struct view_blocks {
    struct view_group *groups; /* owned */
    uint32_t group_count;
    uint16_t (*of_objects)[VIEW_OBJECTS_MAX]; /* of a group: those of its objects; 0: none; owned */
    uint64_t refused; /* samples whose objects found no place */
    uint64_t *keys; /* of the entries; owned */
    uint64_t *values; /* samples and increments of each entry; owned */
    uint32_t *index; /* hash table: number + 1 of an entry; 0: free; owned */
    unsigned bits; /* it has 2^bits places */
    uint32_t used; /* entries */
    uint32_t room;
    uint32_t event_count;
    unsigned shift; /* a block is 2^shift ticks long */
    uint32_t last; /* entry of the sample before, which is often that of the next */
};

/* `bits`: VIEW_BLOCKS_BITS, or VIEW_BLOCKS_PART_BITS for view_blocks_begin.  0 or -ENOMEM. */
int view_blocks_init(struct view_blocks *blocks, uint32_t event_count, unsigned bits);
void view_blocks_free(struct view_blocks *blocks);

/* The number of a CPU and thread. */
uint32_t view_blocks_group(struct view_blocks *blocks, uint32_t cpu, uint32_t tid);

/* The number of a CPU and thread, of which `group` is one, that accessed an object (from 0). */
uint32_t view_blocks_object(struct view_blocks *blocks, uint32_t group, uint32_t object);

/* Counts a sample of that weight at a time since the start (within VIEW_TICKS_MASK); previous NULL:
 * its increments belong nowhere.  0 or -ENOMEM. */
int view_blocks_add(struct view_blocks *blocks, uint64_t time, uint32_t group, uint32_t node,
                    uint64_t weight, const struct trace_slot *slot,
                    const struct trace_slot *previous);

/* Empties blocks for 2^15 samples at most that are to be added to others by view_blocks_merge: to
 * those that are 2^shift ticks long now, or will be longer. */
void view_blocks_begin(struct view_blocks *blocks, unsigned shift);

/* Adds them, with the outcome of view_blocks_add of each sample.  0 or -ENOMEM. */
int view_blocks_merge(struct view_blocks *blocks, const struct view_blocks *part);

/* Puts the entries, in the order of blocks, into a group of columns.  0 or -ENOMEM. */
int view_blocks_pack(const struct view_blocks *blocks, struct view_columns *columns);
