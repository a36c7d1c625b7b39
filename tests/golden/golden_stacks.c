/* Builds the golden traces with call stacks. */
#include "tests/golden/golden_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "tests/golden/golden_file.h"

#define LIMIT_BYTES 512u
#define STACK_TOP 0x7ffffffe0000ull

struct trace_slot golden_stacks_sample(uint32_t i)
{
    return (struct trace_slot){
        .time = GOLDEN_START_TIME + 1000 * i,
        .ip = 0x401000 + (i * 37) % 1000,
        .tid = 1 + (i >= 25),
        .cost_ticks = 30,
        .counters = {800ull * i, 900ull * i},
    };
}

/* A root of each kind, depths 0 to 6, frames far apart, recursion, repetition. */
void golden_stacks_chain(uint32_t i, struct trace_slot_stack *stack)
{
    stack->root = i % 20 == 19 ? HR_STACK_NONE : 1 + i / 4 % 3;
    stack->count = stack->root == HR_STACK_NONE ? 0 : i / 3 % 7;
    for (uint32_t n = 0; n < stack->count; n++) { /* the outermost last */
        uint32_t depth = stack->count - 1 - n;

        stack->words[n] = depth == 3   ? 0x7ffff7a12345
                          : depth == 4 ? 0x401233
                                       : 0x401100 + 0x33 * depth + i / 12;
    }
}

/* A stack that grows and shrinks by odd bytes, whose inner words change, of which one is large. */
void golden_stacks_copy(uint32_t i, struct trace_slot_stack *stack)
{
    uint64_t rsp = STACK_TOP - 300 + i % 7 * 8 - i % 11;
    uint8_t *bytes = (uint8_t *)(stack->words + HR_STACK_REGISTERS);

    stack->root = i % 20 == 19 ? HR_STACK_NONE : HR_STACK_WHOLE;
    stack->count = stack->root == HR_STACK_NONE ? 0 : (uint32_t)(STACK_TOP - rsp);
    if (stack->root == HR_STACK_NONE)
        return;
    for (uint32_t n = 0; n < HR_STACK_REGISTERS; n++)
        stack->words[n] = n % 3 == 0 ? 0x555555550000 + i / 5 * n : n * 1000 + i % 4;
    stack->words[7] = rsp;
    stack->words[9] = i % 2 ? 0x8000000000000123 : 1;
    for (uint64_t at = rsp; at < STACK_TOP; at++) {
        uint64_t back = STACK_TOP - at;

        bytes[at - rsp] = (uint8_t)(back < 200 ? back * 7 : back + (back > 270 ? i / 3 : 0));
    }
}

static void put_samples(struct golden_file *f, uint32_t from, uint32_t to,
                        void (*make)(uint32_t i, struct trace_slot_stack *stack))
{
    static union {
        struct trace_slot slot;
        uint8_t bytes[1024];
    } room;

    for (uint32_t i = from; i < to; i++) {
        room.slot = golden_stacks_sample(i);
        make(i, (struct trace_slot_stack *)&room.slot.counters[TRACE_SLOT_SMALL_EVENTS]);
        if (trace_writer_sample(&f->data, &room.slot) != 0)
            abort();
    }
}

/* What version 1.8 added.  In every tenth sample no Python runs; in others function `outer` calls
 * `\u03c0`, which calls itself, or code that is in no record. */
#define PYTHON_OUTER (HR_PYTHON_BASE + 16)
#define PYTHON_INNER (HR_PYTHON_BASE + 48)

void golden_stacks_python(uint32_t i, struct trace_slot_stack *stack)
{
    stack->root = i % 10 == 9 ? HR_STACK_NONE : i % 10 == 8 ? HR_STACK_CUT : HR_STACK_WHOLE;
    stack->count = stack->root == HR_STACK_NONE ? 0 : 1 + i / 5 % 3;
    for (uint32_t n = 0; n < stack->count; n++)
        stack->words[n] = n + 1 == stack->count ? PYTHON_OUTER + i % 3 * 2 + 1
                          : i % 7 == 0          ? HR_PYTHON_UNKNOWN + 1
                                                : PYTHON_INNER + n * 2 + 1;
}

/* A record whose tail holds zeros. */
static void put_bytes(struct trace_writer *w, uint8_t type, const void *body, uint32_t body_bytes,
                      const void *tail, uint32_t tail_bytes)
{
    if (trace_writer_record(w, type, TRACE_NO_TIME, body, body_bytes, tail, tail_bytes) != 0)
        abort();
}

static void put_python(struct golden_file *f)
{
    /* lines 3 and 4, two instructions each: without columns, and in the short form */
    static const char outer[] = "outerwork.py\xe9\x00\xe9\x02";
    /* line 9: the long form; no line; line 11 with columns */
    static const char inner[] = "\xc0\x03work.py\xf1\x00\x00\x01\x02\xf8\xe0\x01\x02";
    const struct hr_meta_python_code codes[] = {
        {PYTHON_OUTER, 0x7ffff7001000, 8, 3, 5, 7, 4, 1, 1},
        {PYTHON_INNER, 0x7ffff7002000, 8, 9, 2, 7, 9, 2, 1},
    };

    trace_writer_begin(&f->meta, HR_CHUNK_META);
    put_bytes(&f->meta, HR_META_PYTHON_CODE, &codes[0], sizeof codes[0], outer, sizeof outer - 1);
    put_bytes(&f->meta, HR_META_PYTHON_CODE, &codes[1], sizeof codes[1], inner, sizeof inner - 1);
    golden_file_seal(f, &f->meta);
}

static void put_jit(struct golden_file *f)
{
    static const char text[] = "401000 20 first\n401010 30 second function\n";
    const struct hr_meta_jit_file file = {sizeof text - 1, HR_JIT_PERF_MAP, 1000, 0, 0};
    const struct hr_meta_jit_data data = {0, 0};

    trace_writer_begin(&f->meta, HR_CHUNK_META);
    golden_file_put(&f->meta, HR_META_JIT_FILE, TRACE_NO_TIME, &file, sizeof file,
                    "/tmp/perf-1000.map");
    put_bytes(&f->meta, HR_META_JIT_DATA, &data, sizeof data, text, 20);
    put_bytes(&f->meta, HR_META_JIT_DATA, &data, sizeof data, text + 20, sizeof text - 1 - 20);
    golden_file_seal(f, &f->meta);
}

size_t golden_stacks_build_python(uint8_t *out)
{
    struct golden_file *f = golden_file_new(out, GOLDEN_STACKS_EVENTS);

    golden_file_stacks(f, HR_STACK_PYTHON, 127);
    golden_file_meta(f, HR_MODE_TIMER);
    put_python(f);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples(f, 0, GOLDEN_STACKS_SAMPLES, golden_stacks_python);
    golden_file_seal(f, &f->data);
    put_jit(f);
    golden_file_end(f);
    return golden_file_close(f);
}

/* Two chunks; the second thread's samples are a run of their own, a mark divides another. */
static size_t build(uint8_t *out, enum hr_stack_kind kind, uint32_t limit,
                    void (*make)(uint32_t i, struct trace_slot_stack *stack))
{
    const struct hr_rec_mark mark = {.time = GOLDEN_START_TIME + 33500, .tid = 2};
    struct golden_file *f = golden_file_new(out, GOLDEN_STACKS_EVENTS);

    golden_file_stacks(f, kind, limit);
    golden_file_meta(f, HR_MODE_TIMER);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples(f, 0, 34, make);
    golden_file_put(&f->data, HR_REC_MARK, mark.time, &mark, sizeof mark, "half");
    put_samples(f, 34, 45, make);
    golden_file_seal(f, &f->data);
    trace_writer_begin(&f->data, HR_CHUNK_DATA);
    put_samples(f, 45, GOLDEN_STACKS_SAMPLES, make);
    golden_file_seal(f, &f->data);
    golden_file_end(f);
    return golden_file_close(f);
}

size_t golden_stacks_build_chains(uint8_t *out)
{
    return build(out, HR_STACK_FP, 6, golden_stacks_chain);
}

size_t golden_stacks_build_copies(uint8_t *out)
{
    return build(out, HR_STACK_DWARF, LIMIT_BYTES, golden_stacks_copy);
}
