/* Finds what lies at addresses of data. */
#include "host/memory/accesses/memory_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/search.h"
#include "host/memory/allocations/memory_where.h"

#define KIND_SHIFT 60
#define FILE_SHIFT 44 /* of a global object's key; link-time addresses are below 2^44 */
#define PROCESS_SHIFT 32 /* of other memory's: those of two processes are far apart */
#define LINKED_MAX (1ull << FILE_SHIFT)
#define FILES_MAX (1u << (KIND_SHIFT - FILE_SHIFT))
#define AREAS_MAX (1u << 20) /* of all spaces: 40 MB */
#define BREAK_BYTES_MAX (1ull << 40) /* shared libraries are further away */
#define USER_END 0x7ffffffff000ull
#define STACK_BYTES (8ull << 20) /* RLIMIT_STACK, below the end of the program's half */
#define PAGE_BYTES 4096u
#define NEAR_BLOCKS 16u /* other memory at most so far apart is one object */
#define USES_MAX 256u /* of one stack by threads one after the other, that are looked at */

struct memory_area { /* a file in a process's memory */
    uint64_t start, end;
    uint64_t bias; /* run-time addresses less those at link time */
    const struct symbols_data *data;
    uint32_t file;
};

struct memory_space {
    struct memory_area *areas; /* ascending by start; owned */
    uint32_t count;
    bool made; /* atomic: the rest is final */
    uint64_t break_start; /* 0: the program is not known */
};

struct memory_stack {
    uint64_t start, end;
    uint64_t time; /* when the thread began */
    uint32_t pid, tid;
};

static const struct memory_space nothing = {.made = true};

static int by_stack(const void *a, const void *b)
{
    const struct memory_stack *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* Takes the stacks that the trace tells of. */
static int take_stacks(struct memory_names *names)
{
    const struct trace_thread_stacks *stacks = &names->info->thread_stacks;

    names->threads = calloc(stacks->count + 1, sizeof names->threads[0]);
    if (names->threads == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < stacks->count; i++) {
        const struct hr_meta_thread_stack *of = &stacks->all[i];

        names->threads[i] = (struct memory_stack){
            of->start, of->end, of->time,
            trace_processes_pid(&names->info->processes, of->tid, of->time), of->tid};
    }
    names->thread_count = stacks->count;
    qsort(names->threads, names->thread_count, sizeof names->threads[0], by_stack);
    return 0;
}

int memory_names_open(struct memory_names *names, const struct trace_info *info,
                      struct symbols *symbols)
{
    *names = (struct memory_names){.info = info, .symbols = symbols};
    names->space_count = trace_processes_any(&info->processes) ? info->processes.spaces.count : 1;
    names->spaces = calloc(names->space_count + 1, sizeof names->spaces[0]);
    pthread_mutex_init(&names->lock, NULL);
    return names->spaces != NULL ? take_stacks(names) : -ENOMEM;
}

void memory_names_close(struct memory_names *names)
{
    for (size_t i = 0; names->spaces != NULL && i < names->space_count; i++)
        free(names->spaces[i].areas);
    if (names->info != NULL)
        pthread_mutex_destroy(&names->lock);
    free(names->spaces);
    free(names->threads);
    *names = (struct memory_names){0};
}

void memory_names_heap(struct memory_names *names, const struct memory_heap *heap,
                       const struct stacks *stacks)
{
    names->heap = heap;
    names->stacks = stacks;
}

/* Adds the file of which some code is at `start`; `common` is its address for symbols. */
static void add_file(struct memory_names *names, struct memory_space *space, uint64_t start,
                     uint64_t common)
{
    struct symbols_globals globals;
    uint64_t bias, low, high;

    if (names->area_count >= AREAS_MAX || !symbols_globals_find(names->symbols, common, &globals) ||
        globals.file >= FILES_MAX)
        return;
    bias = start - globals.code;
    low = (globals.start & -(uint64_t)PAGE_BYTES) + bias;
    high = ((globals.end + PAGE_BYTES - 1) & -(uint64_t)PAGE_BYTES) + bias;
    for (uint32_t i = 0; i < space->count; i++)
        if (space->areas[i].start == low && space->areas[i].file == globals.file)
            return;
    if (low >= high || globals.end > LINKED_MAX ||
        array_grow(&space->areas, space->count, sizeof space->areas[0]) != 0)
        return;
    space->areas[space->count++] =
        (struct memory_area){low, high, bias, globals.data, globals.file};
    names->area_count++;
    if (globals.program)
        space->break_start = high;
}

static int by_start(const void *a, const void *b)
{
    const struct memory_area *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

/* Makes what a space shows.  Without memory, less has a name. */
static void make_space(struct memory_names *names, uint32_t number)
{
    struct memory_space *space = &names->spaces[number];
    const struct trace_info *info = names->info;
    const struct trace_space_ranges *shown;

    if (!trace_processes_any(&info->processes)) {
        for (size_t i = 0; i < info->map_count; i++)
            add_file(names, space, info->maps[i].meta.start, info->maps[i].meta.start);
    } else {
        shown = info->processes.spaces.all[number].ranges;
        for (size_t i = 0; shown != NULL && i < shown->map.count; i++)
            add_file(names, space, shown->map.ranges[i].start, shown->map.ranges[i].file_offset);
    }
    if (space->count != 0)
        qsort(space->areas, space->count, sizeof space->areas[0], by_start);
}

static const struct memory_space *space_of(struct memory_names *names, uint32_t number)
{
    struct memory_space *space = &names->spaces[number];

    if (number >= names->space_count)
        return &nothing;
    if (__atomic_load_n(&space->made, __ATOMIC_ACQUIRE))
        return space;
    pthread_mutex_lock(&names->lock);
    if (!space->made)
        make_space(names, number);
    __atomic_store_n(&space->made, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&names->lock);
    return space;
}

void memory_names_begin(struct memory_names *names, struct memory_cursor *cursor)
{
    *cursor = (struct memory_cursor){.names = names, .space = &nothing, .from = 1, .until = 0};
}

void memory_names_at(struct memory_cursor *cursor, uint32_t tid, uint64_t time)
{
    const struct trace_processes *processes = &cursor->names->info->processes;
    uint32_t number = 0;

    if (cursor->tid == tid && time >= cursor->from && time < cursor->until)
        return;
    cursor->tid = tid;
    cursor->pid = HR_FIRST_PID;
    cursor->process = 0;
    cursor->from = time;
    cursor->until = UINT64_MAX;
    if (trace_processes_any(processes)) {
        cursor->process = trace_processes_of(processes, tid, time);
        cursor->pid = processes->all[cursor->process].pid;
        number = trace_processes_space(processes, cursor->process, time, &cursor->until);
    }
    cursor->space = space_of(cursor->names, number);
    cursor->area = NULL;
}

static uint64_t key_of(enum memory_kind kind, uint64_t rest)
{
    return (uint64_t)kind << KIND_SHIFT | rest;
}

static const struct memory_area *area_at(struct memory_cursor *cursor, uint64_t address)
{
    const struct memory_space *space = cursor->space;
    size_t low;

    if (cursor->area != NULL && address >= cursor->area->start && address < cursor->area->end)
        return cursor->area;
    low = search_address(space->areas, sizeof space->areas[0], space->count, address);
    if (low == 0 || address >= space->areas[low - 1].end)
        return NULL;
    cursor->area = &space->areas[low - 1];
    return cursor->area;
}

static struct memory_thing in_file(const struct memory_area *area, uint64_t address)
{
    const struct symbols_function *object = symbols_data_find(area->data, address - area->bias);
    uint64_t file = (uint64_t)area->file << FILE_SHIFT;

    if (object == NULL || object->start == 0 || object->start >= LINKED_MAX)
        return (struct memory_thing){key_of(MEMORY_IN_FILE, file), area->bias, 0};
    return (struct memory_thing){key_of(MEMORY_VARIABLE, file | object->start),
                                 object->start + area->bias, 0};
}

/* An object of the heap; key 0: there is none. */
static struct memory_thing on_heap(const struct memory_cursor *cursor, uint64_t address,
                                   uint64_t time)
{
    const struct memory_object *object =
        memory_objects_find(&cursor->names->heap->objects, cursor->pid, address, time);

    if (object == NULL)
        return (struct memory_thing){0};
    return (struct memory_thing){key_of(MEMORY_SITE, object->site), object->address, object->time};
}

/* The stack of a thread: the one that began there last.  Key 0: there is none. */
static struct memory_thing on_stack(const struct memory_cursor *cursor, uint64_t address,
                                    uint64_t time)
{
    const struct memory_names *names = cursor->names;
    size_t low =
        search_address(names->threads, sizeof names->threads[0], names->thread_count, address);

    for (uint32_t n = 0; low != 0 && n < USES_MAX; low--, n++) {
        const struct memory_stack *stack = &names->threads[low - 1];

        if (address < stack->end && stack->pid == cursor->pid && stack->time <= time)
            return (struct memory_thing){key_of(MEMORY_STACK, stack->tid), stack->start, 0};
    }
    return (struct memory_thing){0};
}

struct memory_thing memory_names_find(struct memory_cursor *cursor, uint64_t address, uint64_t time)
{
    struct memory_thing thing;
    const struct memory_area *area;
    uint64_t process = (uint64_t)cursor->process << PROCESS_SHIFT;

    if (address >= USER_END)
        return (struct memory_thing){key_of(MEMORY_KERNEL, 0), 0, 0};
    area = area_at(cursor, address);
    if (area != NULL)
        return in_file(area, address);
    if (cursor->names->heap != NULL) {
        thing = on_heap(cursor, address, time);
        if (thing.key != 0)
            return thing;
    }
    thing = on_stack(cursor, address, time);
    if (thing.key != 0)
        return thing;
    if (address >= USER_END - STACK_BYTES) /* of the process's first thread */
        return (struct memory_thing){key_of(MEMORY_STACK, cursor->pid), USER_END - STACK_BYTES, 0};
    if (cursor->space->break_start != 0 && address - cursor->space->break_start < BREAK_BYTES_MAX)
        return (struct memory_thing){key_of(MEMORY_BREAK, process), cursor->space->break_start, 0};
    return (struct memory_thing){key_of(MEMORY_OTHER, process | address / MEMORY_BLOCK_BYTES), 0,
                                 0};
}

uint64_t memory_names_site(uint32_t site)
{
    return key_of(MEMORY_SITE, site);
}

bool memory_names_join(uint64_t before, uint64_t key)
{
    return before == key ||
           (memory_names_kind(before) == MEMORY_OTHER && key - before <= NEAR_BLOCKS);
}

static char *name_in_file(struct memory_names *names, uint64_t key, uint64_t offset, bool whole,
                          char text[MEMORY_NAME_BYTES])
{
    uint32_t file = (uint32_t)(key >> FILE_SHIFT) & (FILES_MAX - 1);
    char name[SYMBOLS_GLOBAL_BYTES];

    symbols_globals_name(names->symbols, file, (key & (LINKED_MAX - 1)) + offset, whole, name);
    snprintf(text, MEMORY_NAME_BYTES, "%s", name);
    return text;
}

/* Of several processes, each has memory of its own. */
static void name_process(struct memory_names *names, uint64_t key, char text[MEMORY_NAME_BYTES])
{
    const struct trace_processes *processes = &names->info->processes;
    uint32_t number = (uint32_t)((key & ~(~0ull << KIND_SHIFT)) >> PROCESS_SHIFT);
    size_t used = strlen(text);

    if (number < processes->count)
        snprintf(text + used, MEMORY_NAME_BYTES - used, " of process %u",
                 processes->all[number].pid);
}

static void name_site(struct memory_names *names, uint64_t key, char text[MEMORY_NAME_BYTES])
{
    struct memory_where where;
    char place[MEMORY_WHERE_BYTES];

    memory_where_find(&where, names->symbols, names->stacks,
                      memory_sites_at(&names->heap->sites, (uint32_t)key));
    memory_where_text(&where, place);
    snprintf(text, MEMORY_NAME_BYTES, "heap: %s", place);
}

char *memory_names_text(struct memory_names *names, uint64_t key, char text[MEMORY_NAME_BYTES])
{
    switch (memory_names_kind(key)) {
    case MEMORY_VARIABLE:
    case MEMORY_IN_FILE:
        return name_in_file(names, key, 0, true, text);
    case MEMORY_SITE:
        name_site(names, key, text);
        return text;
    case MEMORY_STACK:
        snprintf(text, MEMORY_NAME_BYTES, "[stack of thread %u]", (uint32_t)key);
        return text;
    case MEMORY_BREAK:
        strcpy(text, "[heap]");
        name_process(names, key, text);
        return text;
    case MEMORY_OTHER:
        snprintf(text, MEMORY_NAME_BYTES, "[anon] 0x%lx", (key & UINT32_MAX) * MEMORY_BLOCK_BYTES);
        name_process(names, key, text);
        return text;
    case MEMORY_KERNEL:
        return strcpy(text, "[kernel]");
    default:
        return strcpy(text, "[other]");
    }
}

char *memory_names_part(struct memory_names *names, uint64_t key, uint64_t offset,
                        char text[MEMORY_NAME_BYTES])
{
    size_t used;

    if (memory_names_kind(key) == MEMORY_VARIABLE)
        return name_in_file(names, key, offset, false, text);
    if (memory_names_kind(key) == MEMORY_OTHER) {
        snprintf(text, MEMORY_NAME_BYTES, "[anon] 0x%lx", offset);
        name_process(names, key, text);
        return text;
    }
    memory_names_text(names, key, text);
    used = strlen(text);
    snprintf(text + used, MEMORY_NAME_BYTES - used, "+0x%lx", offset);
    return text;
}
