/* The table of processes, and their relations. */
#include "guest/thread/process.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/cpu/clock.h"
#include "guest/memory/heap.h"

#define HASH_SLOTS 1024u
#define COUNT_DEFAULT 512u
#define COUNT_MAX 8000u

struct table_of_actions {
    uint32_t references;
    struct signal_action actions[SIGNALS + 1];
};

static struct vm_space first_space;
static struct table_of_actions first_actions = {.references = 1};

static struct process_place first_place = {.references = 1};

struct process process_first = {
    .space = &first_space, .actions = first_actions.actions, .place = &first_place};

uint32_t process_foreground = PROCESS_ID;

static struct process *youngest;
static struct process *hash[HASH_SLOTS];
static uint32_t count;
static uint32_t count_max;

/* ---- signal actions ---- */

static struct table_of_actions *actions_table(struct signal_action *actions)
{
    return (struct table_of_actions *)((uint8_t *)actions -
                                       offsetof(struct table_of_actions, actions));
}

struct signal_action *process_actions_new(const struct signal_action *from)
{
    struct table_of_actions *table = heap_alloc(sizeof *table);

    if (table == NULL)
        return NULL;
    table->references = 1;
    memcpy(table->actions, from, sizeof table->actions);
    return table->actions;
}

struct signal_action *process_actions_hold(struct signal_action *actions)
{
    actions_table(actions)->references++;
    return actions;
}

static void process_actions_release(struct signal_action *actions)
{
    struct table_of_actions *table = actions != NULL ? actions_table(actions) : NULL;

    if (table != NULL && --table->references == 0 && table != &first_actions)
        heap_free(table, sizeof *table);
}

int process_actions_unshare(struct process *process)
{
    struct signal_action *own;

    if (actions_table(process->actions)->references == 1)
        return 0;
    own = process_actions_new(process->actions);
    if (own == NULL)
        return -ENOMEM;
    process_actions_release(process->actions);
    process->actions = own;
    return 0;
}

/* ---- the table ---- */

static struct process **hash_slot(uint32_t pid)
{
    return &hash[pid % HASH_SLOTS];
}

struct process *process_find(uint32_t pid)
{
    struct process *process = *hash_slot(pid);

    cross_assert_held();
    while (process != NULL && process->pid != pid)
        process = process->hash_next;
    return process;
}

uint32_t process_count(void)
{
    return count;
}

uint32_t process_limit(void)
{
    return count_max;
}

static void add_child(struct process *process, struct process *parent)
{
    process->parent = parent;
    process->previous_sibling = process->next_sibling = NULL;
    if (parent == NULL)
        return;
    process->next_sibling = parent->children;
    if (parent->children != NULL)
        parent->children->previous_sibling = process;
    parent->children = process;
}

static void remove_child(struct process *process)
{
    if (process->next_sibling != NULL)
        process->next_sibling->previous_sibling = process->previous_sibling;
    if (process->previous_sibling != NULL)
        process->previous_sibling->next_sibling = process->next_sibling;
    else if (process->parent != NULL)
        process->parent->children = process->next_sibling;
}

void process_add(struct process *process)
{
    struct process **slot = hash_slot(process->pid);

    process->hash_next = *slot;
    *slot = process;
    process->previous = youngest;
    if (youngest != NULL)
        youngest->next = process;
    youngest = process;
    add_child(process, process->parent);
    count++;
}

static void process_remove(struct process *process)
{
    struct process **slot = hash_slot(process->pid);

    while (*slot != process)
        slot = &(*slot)->hash_next;
    *slot = process->hash_next;
    process->previous->next = process->next; /* the first one is never removed */
    if (process->next != NULL)
        process->next->previous = process->previous;
    else
        youngest = process->previous;
    remove_child(process);
    count--;
}

void process_start(void)
{
    uint64_t most = COUNT_DEFAULT;

    (void)manifest_number(&process_first.manifest, "processes", &most);
    count_max = most >= 1 && most <= COUNT_MAX ? (uint32_t)most : COUNT_DEFAULT;
    process_first.group = process_first.session = process_first.pid;
    memcpy(process_first.limits, limits_first, sizeof limits_first);
    process_add(&process_first);
}

struct process *process_new(const struct process *from, struct process *parent, uint32_t pid)
{
    struct process *process = heap_alloc(sizeof *process);

    if (process == NULL)
        return NULL;
    process->manifest = from->manifest;
    process->pid = pid;
    memcpy(process->limits, from->limits, sizeof process->limits);
    process->nice = from->nice;
    process->barriers = from->barriers;
    process->group = from->group;
    process->session = from->session;
    process->parent = parent;
    process->start_ns = clock_monotonic_ns();
    return process;
}

void process_free(struct process *process)
{
    process_actions_release(process->actions);
    heap_free(process, sizeof *process);
}

/* ---- relatives ---- */

bool process_uses_id(uint32_t id)
{
    for (const struct process *p = &process_first; p != NULL; p = p->next)
        if (p->group == id || p->session == id)
            return true;
    return false;
}

bool process_has_group(uint32_t group, uint32_t session)
{
    for (const struct process *p = &process_first; p != NULL; p = p->next)
        if (p->group == group && p->session == session)
            return true;
    return false;
}

bool process_group_orphaned(uint32_t group)
{
    for (const struct process *p = &process_first; p != NULL; p = p->next) {
        const struct process *parent = p->parent;

        if (p->group == group && p->state == PROCESS_RUNS && parent != NULL &&
            parent->group != group && parent->session == p->session)
            return false;
    }
    return true;
}

static struct process *new_parent(const struct process *process)
{
    struct process *parent = process->parent;

    while (parent != NULL && (!parent->subreaper || parent->ending))
        parent = parent->parent;
    return parent;
}

void process_give_children(struct process *process, void (*adopted)(struct process *child))
{
    struct process *parent = new_parent(process), *child;

    while ((child = process->children) != NULL) {
        remove_child(child);
        add_child(child, parent);
        adopted(child);
    }
}

static void add_use(struct process_use *to, const struct thread_use *use, uint64_t used_ticks)
{
    to->used_ticks += used_ticks;
    to->use.user_ticks += use->user_ticks;
    to->use.page_faults += use->page_faults;
    to->use.waits += use->waits;
    to->use.preemptions += use->preemptions;
}

void process_reap(struct process *process, bool waited)
{
    struct process_use *sum = process->parent != NULL ? &process->parent->children_use : NULL;

    if (waited && sum != NULL) {
        add_use(sum, &process->use, process->used_ticks);
        add_use(sum, &process->children_use.use, process->children_use.used_ticks);
    }
    process_remove(process);
    process->state = PROCESS_GONE;
    if (process->thread_count + process->unburied == 0)
        process_free(process);
}

void process_thread_freed(struct process *process)
{
    process->unburied--;
    if (process->state == PROCESS_GONE && process->thread_count + process->unburied == 0)
        process_free(process);
}
