/* What the address spaces of a trace's processes show, and addresses that mean one place in a file
 * whatever process they are of.
 *
 * The *common* address of code is an address at which the file with this code was first mapped.  If
 * the first process's load map says the same of that address, it is the address itself.  Otherwise
 * its bits 48 to 62, which no program's address has set, hold a tag: number + 1 of a view, or
 * TRACE_SPACES_NOWHERE for what lies in no map of a process other than the first.  So counting by
 * address counts by place in a file, and names can be found by the address alone.  Addresses of the
 * kernel, which have bit 63 set, are the same everywhere.  Bounded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/trace/trace_jit.h"
#include "host/trace/trace_ranges.h"
#include "include/hr_format.h"

#define TRACE_SPACES_MAX (1u << 17)
#define TRACE_SPACES_VIEWS_MAX 16000u /* higher tags are of names: host/trace/trace_names.h */
#define TRACE_SPACES_RANGES_MAX (1u << 20) /* in all spaces */
#define TRACE_SPACES_TAG_SHIFT 48
#define TRACE_SPACES_NOWHERE 0x7fffull
#define TRACE_SPACES_TAGS (TRACE_SPACES_NOWHERE << TRACE_SPACES_TAG_SHIFT)

struct trace_view { /* a file as it was first mapped from one of its offsets on */
    struct hr_meta_map meta;
    uint8_t build_id[64];
    char *path; /* owned; raw */
    bool plain; /* its common addresses have no tag */
};

struct trace_space_ranges { /* shared by spaces until one of them changes */
    struct trace_ranges map; /* file_offset: common address of `start`; object: the view */
    uint32_t users;
    bool moved; /* a common address differs from the one in the space */
};

struct trace_space { /* what a process has mapped from `time` on until its next space */
    uint64_t time;
    uint32_t next; /* of the same process; UINT32_MAX: none */
    uint32_t process; /* its number */
    bool first; /* the first process's, as HR_META_MAP says it: most addresses are common */
    struct trace_space_ranges *ranges; /* NULL: nothing */
};

struct trace_spaces {
    struct trace_space *all; /* owned */
    struct trace_view *views; /* owned */
    uint32_t *index; /* hash table of views by file and offset, number + 1; 0: free */
    uint32_t count, view_count;
    uint64_t range_count;
};

void trace_spaces_free(struct trace_spaces *s);

/* Adds a space: empty, or with what another one (UINT32_MAX: none) shows.  0, -ENOSPC at the bound,
 * or -ENOMEM. */
int trace_spaces_add(struct trace_spaces *s, uint64_t time, uint32_t like, uint32_t *number);

/* Adds a map to a space, on top of those before it.  `first`: it is a HR_META_MAP.  0, -ENOSPC or
 * -ENOMEM. */
int trace_spaces_map(struct trace_spaces *s, uint32_t space, const struct hr_meta_map *map,
                     const uint8_t *build_id, const char *path, size_t path_bytes, bool first);

/* Numbers of Python's instructions (HR_META_PYTHON_CODE), and places of code that was made at run
 * time (host/trace/trace_jit.h), are common to all spaces. */
static inline bool trace_spaces_is_number(uint64_t address)
{
    return (address >= HR_PYTHON_BASE && address < HR_PYTHON_END) ||
           (address >= TRACE_JIT_PLACES && address < TRACE_JIT_PLACES_END);
}

/* The common address of an address in a space. */
uint64_t trace_spaces_common(const struct trace_spaces *s, uint32_t space, uint64_t address);

/* Whether a map of the space shows a file at an address. */
bool trace_spaces_shows(const struct trace_spaces *s, uint32_t space, uint64_t address);

/* Whether all addresses of a space are common ones. */
static inline bool trace_spaces_plain(const struct trace_spaces *s, uint32_t space)
{
    const struct trace_space *at = &s->all[space];

    return at->first && (at->ranges == NULL || !at->ranges->moved);
}

/* Where the tagged addresses of a view begin; there is nothing else from there to the last address
 * with this tag. */
static inline uint64_t trace_spaces_view_start(const struct trace_spaces *s, uint32_t view)
{
    return (s->views[view].meta.start & ~TRACE_SPACES_TAGS) | (uint64_t)(view + 1)
                                                                  << TRACE_SPACES_TAG_SHIFT;
}

static inline uint64_t trace_spaces_view_end(uint32_t view)
{
    return (uint64_t)(view + 2) << TRACE_SPACES_TAG_SHIFT;
}

/* The view of a common address; UINT32_MAX: it has no tag, or that of none. */
static inline uint32_t trace_spaces_view(const struct trace_spaces *s, uint64_t common)
{
    uint64_t tag = common >> TRACE_SPACES_TAG_SHIFT;

    return tag != 0 && tag <= s->view_count ? (uint32_t)tag - 1 : UINT32_MAX;
}

/* Undoes the tag: an address to show.  No program's own address has these bits.  Numbers of
 * Python's code, and places of code that shared its addresses, are no addresses and stay. */
static inline uint64_t trace_spaces_shown(uint64_t common)
{
    return common >> 63 || trace_spaces_is_number(common) ? common : common & ~TRACE_SPACES_TAGS;
}
