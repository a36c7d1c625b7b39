/* The life of address spaces: made, held, forked, freed. */
#include <errno.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/memory/vm_kernel.h"
#include "guest/memory/vm_table.h"
#include "guest/vm/vm.h"
#include "guest/vm/vm_area.h"
#include "guest/vm/vm_copy.h"
#include "guest/vm/vm_file.h"
#include "guest/vm/vm_pages.h"
#include "guest/vm/vm_share.h"

/* Bits 47 to 61 of a private futex's key are the number of the space. */
#define FUTEX_SPACE_BYTES (1ull << 47)
#define FUTEX_SPACES (1ull << 15)

#define SPACES_MAX (FUTEX_SPACES - 1) /* a count of sharers can hold more */

struct vm_space *vm_spaces;
static uint32_t space_count;
static uint64_t gone_faults, gone_copied; /* of spaces that are gone */

void vm_space_faults(uint64_t *faults, uint64_t *copied)
{
    *faults = gone_faults;
    *copied = gone_copied;
    for (const struct vm_space *space = vm_spaces; space != NULL; space = space->next) {
        *faults += space->faults;
        *copied += space->faults_copied;
    }
}

/* Returns keys that no other space has: there are fewer spaces than numbers. */
static uint64_t new_futex_keys(void)
{
    static uint64_t last;
    const struct vm_space *other;
    uint64_t keys;

    do {
        keys = last++ % FUTEX_SPACES * FUTEX_SPACE_BYTES;
        other = vm_spaces;
        while (other != NULL && other->futex_keys != keys)
            other = other->next;
    } while (other != NULL);
    return keys;
}

int vm_space_init(struct vm_space *space)
{
    memset(space, 0, sizeof *space);
    space->futex_keys = new_futex_keys();
    space->stack_limit = VM_STACK_LIMIT_BYTES;
    space->address_limit = space->data_limit = VM_UNLIMITED;
    space->root = space_count < SPACES_MAX ? vm_table_new() : 0;
    if (!space->root)
        return -ENOMEM;
    vm_kernel_share(phys_pointer(space->root));
    space->references = 1;
    space_count++;
    space->next = vm_spaces;
    if (vm_spaces != NULL)
        vm_spaces->previous = space;
    vm_spaces = space;
    return 0;
}

static struct vm_space *allocate_space(void)
{
    struct vm_space *space;

    cross_assert_held();
    space = heap_alloc(sizeof *space);
    if (space != NULL && vm_space_init(space) != 0) {
        heap_free(space, sizeof *space);
        return NULL;
    }
    if (space != NULL)
        space->allocated = true;
    return space;
}

struct vm_space *vm_space_new(void)
{
    struct vm_space *space = allocate_space();

    if (space != NULL)
        space->around = true;
    return space;
}

void vm_space_hold(struct vm_space *space)
{
    cross_assert_held();
    space->references++;
}

void vm_space_unload(struct vm_space *space)
{
    if (--space->loaded || space->references)
        return;
    phys_free(space->root, 0);
    space->root = 0;
    if (space->allocated)
        heap_free(space, sizeof *space);
}

/* A CPU may still have the empty top table loaded: it goes with the last of them. */
void vm_space_release(struct vm_space *space)
{
    cross_assert_held();
    if (--space->references)
        return;
    gone_faults += space->faults;
    gone_copied += space->faults_copied;
    space->loaded++;
    vm_space_leave(space);
    vm_copy_clear(space);
    vm_area_clear(space);
    space_count--;
    if (space->next != NULL)
        space->next->previous = space->previous;
    if (space->previous != NULL)
        space->previous->next = space->next;
    else
        vm_spaces = space->next;
    vm_space_unload(space);
}

/* Takes from the child what the parent's areas say that it does not get. */
static int withhold(struct vm_space *child)
{
    struct vm_area *area = child->areas, *next;
    int error = 0;

    for (; area != NULL && !error; area = next) {
        next = area->next;
        if (area->flags & VM_AREA_NOT_FORKED)
            error = vm_unmap(child, area->start, area->end - area->start);
        else if (area->flags & VM_AREA_WIPED)
            error = vm_pages_free(child, area->start, area->end, area->start, area->end);
    }
    return error;
}

static int fill_child(struct vm_space *parent, struct vm_space *child)
{
    int error = vm_share_open();

    child->brk_start = parent->brk_start;
    child->brk_end = parent->brk_end;
    child->brk_told = parent->brk_told;
    child->stack_limit = parent->stack_limit;
    child->address_limit = parent->address_limit;
    child->data_limit = parent->data_limit;
    child->prefault = parent->prefault;
    child->around = parent->around;
    if (!error)
        error = vm_file_share(parent);
    if (!error)
        error = vm_area_copy(child, parent);
    if (!error)
        error = vm_copy_share(parent, child);
    return error ? error : withhold(child);
}

int vm_space_fork(struct vm_space *parent, struct vm_space **child)
{
    struct vm_space *space = allocate_space();
    int error;

    if (space == NULL)
        return -ENOMEM;
    error = fill_child(parent, space);
    if (error) {
        vm_space_release(space);
        return error;
    }
    *child = space;
    return 0;
}
