/* Decodes functions, one instruction after the other. */
#include "host/probe/probe_code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/probe/probe_step.h"

int probe_code_open(struct probe_code *c, const struct probe_code_source *source)
{
    *c = (struct probe_code){.source = source};
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &c->handle) != CS_ERR_OK)
        return -ENOMEM;
    cs_option(c->handle, CS_OPT_DETAIL, CS_OPT_ON);
    c->insn = cs_malloc(c->handle);
    if (c->insn != NULL)
        return 0;
    probe_code_close(c);
    return -ENOMEM;
}

void probe_code_close(struct probe_code *c)
{
    if (c->insn != NULL)
        cs_free(c->insn, 1);
    if (c->handle != 0)
        cs_close(&c->handle);
    free(c->points);
    *c = (struct probe_code){0};
}

static int refuse_code(struct probe_code *c, uint64_t offset)
{
    snprintf(c->reason, sizeof c->reason,
             "the bytes at +0x%" PRIx64 " are no instruction that hr knows; is there data in the "
             "code?",
             offset);
    return -ENOEXEC;
}

static int refuse_step(struct probe_code *c, const struct probe_step *step, uint64_t offset)
{
    snprintf(c->reason, sizeof c->reason,
             "the instruction '%.24s' at +0x%" PRIx64 " cannot have a probe: %s", c->insn->mnemonic,
             offset, step->refused);
    return -ENOEXEC;
}

static bool in_range(const struct probe_range *range, uint64_t address)
{
    return address >= range->start && address < range->end;
}

static bool in_parts(const struct probe_code *c, uint64_t address)
{
    for (size_t i = 0; i < c->part_count; i++)
        if (in_range(&c->parts[i], address))
            return true;
    return false;
}

static bool is_direct(const struct run_probe_point *point)
{
    return point->flow == RUN_PROBE_JUMP || point->flow == RUN_PROBE_JUMP_IF ||
           point->flow == RUN_PROBE_JUMP_COUNT;
}

static bool is_indirect(const struct run_probe_point *point)
{
    return point->flow == RUN_PROBE_JUMP_REGISTER || point->flow == RUN_PROBE_JUMP_MEMORY;
}

/* Takes a part of the function that was moved away from its main part. */
static void look_for_part(struct probe_code *c, uint64_t target)
{
    struct probe_range part;

    if (in_parts(c, target) || c->part_count == PROBE_CODE_PARTS_MAX || c->source->part == NULL ||
        !c->source->part(c->source->context, c->parts[0].start, target, &part) ||
        !in_range(&part, target) || in_range(&part, c->parts[0].start) || in_parts(c, part.start))
        return;
    c->parts[c->part_count++] = part;
}

static int add_point(struct probe_code *c, const struct probe_step *step, uint64_t address,
                     uint8_t kind)
{
    struct probe_code_point *point;

    if (array_grow(&c->points, c->count, sizeof *c->points) != 0)
        return -ENOMEM;
    point = &c->points[c->count++];
    *point = (struct probe_code_point){address, step->point};
    point->point.kind = kind;
    return 0;
}

static int take_step(struct probe_code *c, const struct probe_step *step, uint64_t address)
{
    uint8_t kind = address == c->parts[0].start ? RUN_PROBE_ENTRY : 0;

    if (step->leaves && is_direct(&step->point) &&
        address + (uint64_t)step->point.target == c->parts[0].start)
        c->loops = true;
    if (step->leaves && is_direct(&step->point))
        look_for_part(c, address + (uint64_t)step->point.target);
    if (step->leaves)
        kind |= RUN_PROBE_RETURN;
    if (kind == 0)
        return 0;
    if (step->refused != NULL)
        return refuse_step(c, step, address - c->parts[0].start);
    return add_point(c, step, address, kind);
}

/* Code that runs on into what follows the part returns there, for all that this function knows. */
static int take_last(struct probe_code *c, const struct probe_step *last, uint64_t address)
{
    if (last->ends || last->leaves || last->idle || last->refused != NULL ||
        (last->point.flow != RUN_PROBE_COPY && last->point.flow != RUN_PROBE_COPY_RELATIVE))
        return 0;
    if (c->count != 0 && c->points[c->count - 1].address == address) {
        c->points[c->count - 1].point.kind |= RUN_PROBE_RETURN;
        return 0;
    }
    return add_point(c, last, address, RUN_PROBE_RETURN);
}

/* The main part of a range with an open end is what was decoded. */
static int read_part(struct probe_code *c, size_t number, bool open_end)
{
    struct probe_range part = c->parts[number];
    uint64_t left, address = part.start, start = c->parts[0].start;
    const uint8_t *code = c->source->code(c->source->context, part.start, &left);
    struct probe_step step = {0};
    int error = 0;

    if (code == NULL || (left < part.end - part.start && !open_end))
        return refuse_code(c, part.start - start);
    if (left > part.end - part.start)
        left = part.end - part.start;
    while (left != 0 && error == 0) {
        size_t room = left;

        if (!probe_step_read(&step, c->handle, c->insn, code, room)) {
            if (!open_end || !step.ends)
                return refuse_code(c, address - start);
            c->parts[number].end = address;
            return 0;
        }
        error = take_step(c, &step, address);
        if (error != 0)
            return error;
        code += step.point.bytes;
        left -= step.point.bytes;
        address += step.point.bytes;
    }
    return open_end ? 0 : take_last(c, &step, address - step.point.bytes);
}

/* A jump whose target is not known may lead anywhere into the main part; after a conditional one
 * that is not taken comes the next instruction of its part. */
static void set_inside(const struct probe_code *c, struct probe_code_point *one)
{
    const struct probe_range *range = &c->parts[0];

    for (size_t i = 0; i < c->part_count && is_direct(&one->point); i++)
        if (in_range(&c->parts[i], one->address))
            range = &c->parts[i];
    one->point.inside_start = (int64_t)(range->start - one->address);
    one->point.inside_end = (int64_t)(range->end - one->address);
}

/* Drops the jumps that stay inside. */
static void drop_inner(struct probe_code *c)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->count; i++) {
        struct probe_code_point *one = &c->points[i];

        if (is_direct(&one->point) && in_parts(c, one->address + (uint64_t)one->point.target))
            one->point.kind &= (uint8_t)~RUN_PROBE_RETURN;
        if ((one->point.kind & RUN_PROBE_RETURN) != 0 &&
            (is_direct(&one->point) || is_indirect(&one->point)))
            set_inside(c, one);
        if (one->point.kind != 0)
            c->points[kept++] = *one;
    }
    c->count = kept;
}

int probe_code_function(struct probe_code *c, struct probe_range range, bool open_end)
{
    int error = 0;

    c->parts[0] = range;
    c->part_count = 1;
    c->loops = false;
    c->count = 0;
    if (range.end <= range.start)
        return refuse_code(c, 0);
    for (size_t i = 0; i < c->part_count && error == 0; i++)
        error = read_part(c, i, open_end && i == 0);
    drop_inner(c);
    return error;
}

int probe_code_place(struct probe_code *c, struct probe_range range, uint64_t address,
                     struct probe_code_point *point)
{
    uint64_t left, at = range.start;
    const uint8_t *code = c->source->code(c->source->context, range.start, &left);
    struct probe_step step = {0};

    if (left > range.end - range.start)
        left = range.end - range.start;
    while (code != NULL && at <= address) {
        if (!probe_step_read(&step, c->handle, c->insn, code, left))
            return refuse_code(c, at - range.start);
        if (at == address && step.refused != NULL)
            return refuse_step(c, &step, at - range.start);
        if (at == address) {
            *point = (struct probe_code_point){address, step.point};
            point->point.kind = RUN_PROBE_PLACE;
            return 0;
        }
        code += step.point.bytes;
        left -= step.point.bytes;
        at += step.point.bytes;
    }
    if (code == NULL)
        return refuse_code(c, 0);
    snprintf(c->reason, sizeof c->reason,
             "+0x%" PRIx64 " is in the middle of an instruction: one begins at +0x%" PRIx64
             " and the next at +0x%" PRIx64,
             address - range.start, at - step.point.bytes - range.start, at - range.start);
    return -ENOEXEC;
}
