/* Follows stacks, and caches the rule of every address. */
#include "host/unwind/unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/unwind/unwind_epilogue.h"
#include "host/unwind/unwind_files.h"
#include "host/unwind/unwind_rule.h"
#include "lib/hash.h"

#define PLACE_BITS 17 /* 2 MB of addresses; cleared when three quarters are in use */
#define PLACES (1u << PLACE_BITS)
#define RULE_BITS 14
#define RULES (1u << RULE_BITS) /* 5 MB, cleared like the places */
#define INSTRUCTION_BYTES_MAX 15u
#define VZEROUPPER_BYTES 3u

enum { NO_MAP = 1, NO_RULE, ENTRY, FIRST_RULE }; /* place.rule; 0: the place is free */

struct place {
    uint64_t address;
    uint64_t rule; /* FIRST_RULE + the rule's number */
};

struct unwind {
    struct unwind_files files;
    struct place *places; /* hash table by address */
    uint32_t place_count;
    struct unwind_rule *rules; /* hash table by content */
    bool *rule_used;
    uint32_t rule_count;
    /* of the stack being followed */
    const struct unwind_sample *sample;
    uint64_t trail[UNWIND_FRAMES_MAX]; /* innermost first */
};

int unwind_open(struct unwind **unwind, const struct trace_info *info,
                const struct symbols_options *options)
{
    struct unwind *u = calloc(1, sizeof *u);

    *unwind = NULL;
    if (u == NULL)
        return -ENOMEM;
    unwind_files_open(&u->files, info, options);
    u->places = calloc(PLACES, sizeof u->places[0]);
    u->rules = calloc(RULES, sizeof u->rules[0]);
    u->rule_used = calloc(RULES, sizeof u->rule_used[0]);
    if (u->places == NULL || u->rules == NULL || u->rule_used == NULL) {
        unwind_close(u);
        return -ENOMEM;
    }
    *unwind = u;
    return 0;
}

void unwind_close(struct unwind *unwind)
{
    if (unwind == NULL)
        return;
    unwind_files_close(&unwind->files);
    free(unwind->places);
    free(unwind->rules);
    free(unwind->rule_used);
    free(unwind);
}

static void forget(struct unwind *u)
{
    memset(u->places, 0, PLACES * sizeof u->places[0]);
    memset(u->rule_used, 0, RULES * sizeof u->rule_used[0]);
    u->place_count = 0;
    u->rule_count = 0;
}

static uint32_t hash_rule(const struct unwind_rule *rule)
{
    uint64_t words[sizeof *rule / 8], hash = 0;

    _Static_assert(sizeof *rule % 8 == 0, "hashed by words");
    memcpy(words, rule, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        hash = hash_add(hash, words[i]);
    return (uint32_t)(hash >> (64 - RULE_BITS));
}

/* Returns the number of a rule, which is stored once for all its addresses. */
static uint32_t keep_rule(struct unwind *u, const struct unwind_rule *rule)
{
    uint32_t i = hash_rule(rule);

    while (u->rule_used[i] && memcmp(&u->rules[i], rule, sizeof *rule) != 0)
        i = (i + 1) & (RULES - 1);
    if (!u->rule_used[i]) {
        u->rules[i] = *rule;
        u->rule_used[i] = true;
        u->rule_count++;
    }
    return i;
}

static uint64_t look_up(struct unwind *u, uint64_t address)
{
    struct unwind_rule rule;

    switch (unwind_files_find(&u->files, address, &rule)) {
    case UNWIND_RULE:
        return FIRST_RULE + keep_rule(u, &rule);
    case UNWIND_NO_RULE:
        return NO_RULE;
    case UNWIND_ENTRY:
        return ENTRY;
    default:
        return NO_MAP;
    }
}

static uint64_t rule_at(struct unwind *u, uint64_t address)
{
    uint32_t i = hash_place(address, PLACE_BITS);

    for (; u->places[i].rule != 0; i = (i + 1) & (PLACES - 1))
        if (u->places[i].address == address)
            return u->places[i].rule;
    u->places[i] = (struct place){address, look_up(u, address)};
    u->place_count++;
    return u->places[i].rule;
}

/* The address that means the code at `ip` in every process. */
static uint64_t common(const struct unwind *u, uint64_t ip)
{
    const struct trace_processes *processes = &u->files.info->processes;

    return trace_processes_any(processes)
               ? trace_spaces_common(&processes->spaces, u->sample->space, ip)
               : ip;
}

static void add_frame(struct unwind *u, uint64_t ip, bool signal, uint32_t *count)
{
    uint64_t frame = signal ? ip + 1 : ip;

    u->trail[(*count)++] = u->sample->own_addresses ? frame : common(u, frame - 1) + 1;
}

/* Fills the trail.  Returns how the stack ended: HR_STACK_*. */
static uint32_t follow(struct unwind *u, struct unwind_frame *frame, uint32_t *count)
{
    uint64_t rule = rule_at(u, common(u, frame->registers[UNWIND_RIP]));

    while (rule >= FIRST_RULE) {
        const struct unwind_rule *r = &u->rules[rule - FIRST_RULE];
        int end = unwind_rule_step(r, frame);
        uint64_t ip = frame->registers[UNWIND_RIP];

        if (end != 0)
            return (uint32_t)end;
        if (ip == 0) /* the thread began here, although no call frame information says so */
            return HR_STACK_WHOLE;
        rule = rule_at(u, common(u, r->signal ? ip : ip - 1));
        if (rule == NO_MAP)
            break;
        if (*count == UNWIND_FRAMES_MAX)
            return HR_STACK_CUT;
        add_frame(u, ip, r->signal, count);
    }
    return rule == ENTRY ? HR_STACK_WHOLE : HR_STACK_BROKEN;
}

/* Follows a sample's stack into the trail.  Returns its end, or HR_STACK_NONE without memory. */
static uint32_t follow_sample(struct unwind *unwind, const struct unwind_sample *sample,
                              uint32_t *count)
{
    struct unwind_frame frame = {
        .known = (1u << UNWIND_REGISTERS) - 1,
        .stack_start = sample->registers[UNWIND_RSP],
        .stack = sample->stack,
        .stack_bytes = sample->stack_bytes,
    };
    int news = unwind_files_update(&unwind->files);

    *count = 0;
    if (news < 0)
        return HR_STACK_NONE;
    /* only between stacks: the stack being followed has pointers to rules */
    if (news > 0 || unwind->place_count > PLACES / 4 * 3 - UNWIND_FRAMES_MAX ||
        unwind->rule_count > RULES / 4 * 3 - UNWIND_FRAMES_MAX)
        forget(unwind);
    memcpy(frame.registers, sample->registers, sizeof sample->registers);
    frame.registers[UNWIND_RIP] = sample->ip;
    unwind->sample = sample;
    return follow(unwind, &frame, count);
}

uint32_t unwind_stack(struct unwind *unwind, const struct unwind_sample *sample,
                      struct stacks *stacks)
{
    uint32_t count, node = follow_sample(unwind, sample, &count);

    while (count != 0)
        node = stacks_child(stacks, node, unwind->trail[--count]);
    return node;
}

/* Nothing but a return, or VZEROUPPER before it, has restored all registers and has the caller's
 * address at rsp. */
static bool has_returned(struct unwind *u, uint64_t ip, uint64_t now)
{
    uint64_t rule = rule_at(u, common(u, ip));
    const struct unwind_rule *r;

    if (rule < FIRST_RULE)
        return false;
    r = &u->rules[rule - FIRST_RULE];
    return r->restored == UNWIND_CALLEE_SAVED && r->cfa.how == UNWIND_REGISTER &&
           r->cfa.reg == UNWIND_RSP && r->cfa.offset == sizeof(uint64_t) &&
           now != ip + VZEROUPPER_BYTES;
}

/* A call has its own end as the innermost return address, and is not followed by what is before
 * that. */
static bool has_called(uint64_t ip, uint64_t now, uint64_t returns_to, uint64_t common_ip)
{
    uint64_t bytes = returns_to - common_ip;

    return bytes >= 2 && bytes <= INSTRUCTION_BYTES_MAX && now - ip >= bytes;
}

uint32_t unwind_stack_after(struct unwind *unwind, const struct unwind_sample *sample, uint64_t ip,
                            struct stacks *stacks)
{
    uint32_t count, first = 0, node = follow_sample(unwind, sample, &count);

    if (node == HR_STACK_NONE)
        return node;
    if (count != 0 && has_called(ip, sample->ip, unwind->trail[0],
                                 sample->own_addresses ? ip : common(unwind, ip)))
        first = 1; /* this frame is the sample's own */
    while (count != first)
        node = stacks_child(stacks, node, unwind->trail[--count]);
    if (first == 0 && has_returned(unwind, ip, sample->ip)) {
        add_frame(unwind, sample->ip, false, &count);
        node = stacks_child(stacks, node, unwind->trail[0]);
    }
    return node;
}
