/* Memory, time and random numbers for lwIP. */
#include "guest/net/net_port.h"

#include <lwip/sys.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/apic/apic.h"
#include "guest/base/layout.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "lib/splitmix.h"
#include "lib/x86.h"

#define SMALLEST_SHIFT 6 /* 64 bytes */
#define CLASSES 6 /* to 2048 bytes, which a received frame takes */
#define NS_PER_MS 1000000u

struct block { /* precedes the memory given out, which stays aligned to 16 */
    struct block *next; /* while it is free */
    uint32_t class;
};
_Static_assert(sizeof(struct block) == 16, "block");

static struct block *free_blocks[CLASSES];
static uint8_t *unused;
static size_t unused_bytes;

void net_port_init(void *memory, size_t bytes)
{
    memset(free_blocks, 0, sizeof free_blocks);
    unused = memory;
    unused_bytes = bytes;
}

static struct block *cut_off(uint32_t class)
{
    size_t bytes = (size_t)1 << (SMALLEST_SHIFT + class);
    struct block *block = (struct block *)unused;

    if (bytes > unused_bytes)
        return NULL;
    unused += bytes;
    unused_bytes -= bytes;
    block->class = class;
    return block;
}

void *net_port_allocate(size_t bytes)
{
    uint32_t class = 0;
    struct block *block;

    while (class < CLASSES &&
           ((size_t)1 << (SMALLEST_SHIFT + class)) - sizeof(struct block) < bytes)
        class ++;
    if (class == CLASSES)
        return NULL;
    block = free_blocks[class];
    if (block != NULL)
        free_blocks[class] = block->next;
    else
        block = cut_off(class);
    return block != NULL ? block + 1 : NULL;
}

void *net_port_allocate_zeroed(size_t count, size_t bytes)
{
    size_t all;
    void *block = __builtin_mul_overflow(count, bytes, &all) ? NULL : net_port_allocate(all);

    if (block != NULL)
        memset(block, 0, all);
    return block;
}

void net_port_free(void *memory)
{
    struct block *block;

    if (memory == NULL)
        return;
    block = (struct block *)memory - 1;
    block->next = free_blocks[block->class];
    free_blocks[block->class] = block;
}

uint64_t net_port_ms(void)
{
    return run_ticks_to_ns(x86_rdtsc()) / NS_PER_MS;
}

u32_t sys_now(void)
{
    return (u32_t)net_port_ms();
}

void net_port_pass(uint32_t ms)
{
    if (!run.clock.virtual_time)
        return;
    apic_timer_setup(VECTOR_SERVICE_TIMER);
    apic_timer_arm((int64_t)run_ns_to_ticks((uint64_t)ms * NS_PER_MS));
    x86_wait_for_interrupt();
}

/* Mixes the TSC of each call: the numbers differ between machines and between runs. */
uint32_t net_port_random(void)
{
    static uint64_t state;

    state += x86_rdtsc();
    return (uint32_t)(splitmix_next(&state) >> 32);
}

/* lwIP uses it to look interfaces up by their numbers, if asked to. */
int atoi(const char *text)
{
    int number = 0;

    while (*text >= '0' && *text <= '9')
        number = number * 10 + (*text++ - '0');
    return number;
}

void net_port_assert(const char *text)
{
    panic("the network stack: %s", text);
}
