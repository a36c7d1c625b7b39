/* Follows the frames of CPython's interpreter through the program's memory. */
#include "guest/sample/python_walk.h"

#include <string.h>

#include "drivers/pmu/pmu.h"
#include "guest/base/layout.h"
#include "guest/sample/stack_walk.h"
#include "lib/bytes.h"
#include "lib/hash.h"

#define INTERPRETERS_MAX 16u
#define THREADS_MAX 1024u
#define PAGES 8u /* that a walk remembers: a power of two */
#define QUEUE_UNIT 8u

/* Of every object: its type, of those with a size that, and of bytes their contents. */
#define OBJECT_TYPE 8u
#define OBJECT_SIZE 16u
#define BYTES_DATA 32u
/* Of a text: its length, hash and state. */
#define TEXT_LENGTH 16u
#define TEXT_HASH 24u
#define TEXT_STATE 32u
#define TEXT_KIND(state) ((state) >> 2 & 7u) /* bytes of a character */
#define TEXT_ASCII(state) ((state) >> 6 & 1u)
#define SPACE_SHIFT 48u
#define UNIT_BYTES 2u /* of an instruction */

struct walk {
    const uint64_t *at; /* the layout */
    struct python_codes *codes;
    uint64_t space; /* in the bits that no address has */
    bool bad; /* something could not be read */
    uint64_t pages[PAGES]; /* of the program, plus 1; 0: none */
    const uint8_t *memory[PAGES];
};

/* Returns the kernel's address of one of the program's; NULL, and the walk is bad. */
static const uint8_t *python_memory(struct walk *w, uint64_t address)
{
    uint64_t page = address & ~(PAGE_BYTES - 1ull);
    uint32_t i = (uint32_t)(address / PAGE_BYTES) % PAGES;

    if (w->pages[i] != page + 1) {
        w->memory[i] = address < USER_END ? stack_page(page) : NULL;
        w->pages[i] = w->memory[i] != NULL ? page + 1 : 0;
    }
    if (w->pages[i] == page + 1)
        return w->memory[i] + (address - page);
    w->bad = true;
    return NULL;
}

static void read_bytes(struct walk *w, uint64_t address, void *to, uint64_t bytes)
{
    uint8_t *out = to;

    while (bytes > 0) {
        uint64_t part = PAGE_BYTES - address % PAGE_BYTES;
        const uint8_t *from = python_memory(w, address);

        if (part > bytes)
            part = bytes;
        if (from == NULL)
            memset(out, 0, part);
        else
            memcpy(out, from, part);
        out += part;
        address += part;
        bytes -= part;
    }
}

static uint64_t read_word(struct walk *w, uint64_t address)
{
    uint64_t value;

    read_bytes(w, address, &value, sizeof value);
    return value;
}

static uint32_t read_half(struct walk *w, uint64_t address)
{
    uint32_t value;

    read_bytes(w, address, &value, sizeof value);
    return value;
}

/* ---- code objects */

/* Returns room for a record of at most `bytes` bytes; NULL: the queue is full.  A record is in one
 * piece: where the queue's end is too near, a size of 0 says that the next one is at its start. */
static uint8_t *queue_room(struct python_codes *c, uint32_t bytes, uint64_t *head)
{
    uint64_t left = PYTHON_QUEUE_BYTES - c->head % PYTHON_QUEUE_BYTES;
    uint64_t needed = bytes + 2 * QUEUE_UNIT;

    *head = c->head + (left < needed ? left : 0);
    if (*head + needed - __atomic_load_n(&c->tail, __ATOMIC_ACQUIRE) > PYTHON_QUEUE_BYTES)
        return NULL;
    if (*head != c->head)
        memset(c->queue + c->head % PYTHON_QUEUE_BYTES, 0, QUEUE_UNIT);
    return c->queue + *head % PYTHON_QUEUE_BYTES + QUEUE_UNIT;
}

static void queue_publish(struct python_codes *c, uint64_t head, uint32_t bytes)
{
    bytes_store64(c->queue + head % PYTHON_QUEUE_BYTES, bytes);
    head += QUEUE_UNIT + (bytes + QUEUE_UNIT - 1) / QUEUE_UNIT * QUEUE_UNIT;
    __atomic_store_n(&c->head, head, __ATOMIC_RELEASE);
}

const uint8_t *python_walk_next(struct python_codes *c, uint32_t *bytes)
{
    const uint8_t *at;

    while (__atomic_load_n(&c->head, __ATOMIC_ACQUIRE) != c->tail) {
        at = c->queue + c->tail % PYTHON_QUEUE_BYTES;
        *bytes = (uint32_t)bytes_load64(at);
        if (*bytes != 0)
            return at + QUEUE_UNIT;
        __atomic_store_n(&c->tail, c->tail + PYTHON_QUEUE_BYTES - c->tail % PYTHON_QUEUE_BYTES,
                         __ATOMIC_RELEASE);
    }
    return NULL;
}

void python_walk_taken(struct python_codes *c)
{
    uint64_t bytes = bytes_load64(c->queue + c->tail % PYTHON_QUEUE_BYTES);

    bytes = QUEUE_UNIT + (bytes + QUEUE_UNIT - 1) / QUEUE_UNIT * QUEUE_UNIT;
    __atomic_store_n(&c->tail, c->tail + bytes, __ATOMIC_RELEASE);
}

/* Copies a text's characters.  Returns how many bytes they take. */
static uint16_t copy_text(struct walk *w, uint64_t text, uint8_t *to, uint8_t *unit)
{
    uint32_t state = read_half(w, text + TEXT_STATE), kind = TEXT_KIND(state);
    uint64_t header = w->at[TEXT_ASCII(state) ? PYTHON_ASCII_BYTES : PYTHON_COMPACT_BYTES];
    uint64_t length = read_word(w, text + TEXT_LENGTH);

    *unit = 1;
    if (w->bad || (kind != 1 && kind != 2 && kind != 4))
        return 0;
    if (length > PYTHON_NAME_BYTES / kind)
        length = PYTHON_NAME_BYTES / kind;
    *unit = (uint8_t)kind;
    read_bytes(w, text + header, to, length * kind);
    return (uint16_t)(length * kind);
}

static uint16_t copy_lines(struct walk *w, uint64_t table, uint8_t *to)
{
    uint64_t bytes = read_word(w, table + OBJECT_SIZE);

    if (w->bad)
        return 0;
    if (bytes > PYTHON_LINES_BYTES)
        bytes = PYTHON_LINES_BYTES;
    read_bytes(w, table + BYTES_DATA, to, bytes);
    return (uint16_t)bytes;
}

/* Copies what a reader needs of a code object into the queue.  Returns its number;
 * HR_PYTHON_UNKNOWN: there is no room, or it cannot be read now. */
static uint64_t emit(struct walk *w, uint64_t code, uint64_t code_bytes)
{
    struct python_codes *c = w->codes;
    struct hr_meta_python_code record = {.start = c->next, .address = code};
    uint64_t head;
    uint8_t *body = queue_room(c, PYTHON_RECORD_BYTES, &head), *at;

    if (body == NULL)
        return HR_PYTHON_UNKNOWN;
    at = body + sizeof record;
    record.code_bytes = (uint32_t)code_bytes;
    record.first_line = read_half(w, code + w->at[PYTHON_CODE_FIRST_LINE]);
    record.name_bytes =
        copy_text(w, read_word(w, code + w->at[PYTHON_CODE_NAME]), at, &record.name_unit);
    at += record.name_bytes;
    record.file_bytes =
        copy_text(w, read_word(w, code + w->at[PYTHON_CODE_FILE]), at, &record.file_unit);
    at += record.file_bytes;
    record.line_bytes = copy_lines(w, read_word(w, code + w->at[PYTHON_CODE_LINES]), at);
    at += record.line_bytes;
    if (w->bad)
        return HR_PYTHON_UNKNOWN;
    memcpy(body, &record, sizeof record);
    queue_publish(c, head, (uint32_t)(at - body));
    c->next += (code_bytes + 16) & ~15ull; /* one more than its instructions: for no instruction */
    return record.start;
}

/* Returns a hash of what another code object at the same address would have otherwise: the places
 * of its parts, the hash of its name, and the beginning of its table of lines. */
static uint64_t identity_of(struct walk *w, uint64_t code, uint64_t code_bytes)
{
    uint64_t name = read_word(w, code + w->at[PYTHON_CODE_NAME]);
    uint64_t lines = read_word(w, code + w->at[PYTHON_CODE_LINES]);
    uint64_t hash = hash_add(code_bytes, read_half(w, code + w->at[PYTHON_CODE_FIRST_LINE]));

    hash = hash_add(hash_add(hash, name), read_word(w, name + TEXT_HASH));
    hash = hash_add(hash, read_word(w, code + w->at[PYTHON_CODE_FILE]));
    hash = hash_add(hash_add(hash, lines), read_word(w, lines + OBJECT_SIZE));
    return hash_add(hash, read_word(w, lines + BYTES_DATA));
}

/* Returns a code object's number. */
static uint64_t number_of(struct walk *w, uint64_t code, uint64_t code_bytes)
{
    struct python_codes *c = w->codes;
    uint64_t identity = identity_of(w, code, code_bytes), key = code | w->space, start;
    uint32_t mask = (1u << PYTHON_CODES_BITS) - 1, i = hash_place(key, PYTHON_CODES_BITS);

    while (c->all[i].address != 0 && c->all[i].address != key)
        i = (i + 1) & mask;
    if (w->bad || (c->all[i].address == key && c->all[i].identity == identity))
        return w->bad ? HR_PYTHON_UNKNOWN : c->all[i].start;
    if (c->all[i].address == 0 && c->count > mask / 4 * 3)
        return HR_PYTHON_UNKNOWN;
    start = emit(w, code, code_bytes);
    if (start == HR_PYTHON_UNKNOWN)
        return start;
    c->count += c->all[i].address == 0;
    c->all[i] = (struct python_code){key, identity, start};
    return start;
}

/* ---- frames */

/* Returns a frame's place, as a return address: one more than that of the instruction. */
static uint64_t place_of(struct walk *w, uint64_t frame, uint64_t code)
{
    uint64_t units = code + w->at[PYTHON_CODE_UNITS];
    uint64_t code_bytes = read_word(w, code + OBJECT_SIZE) * UNIT_BYTES, start;
    uint64_t offset = read_word(w, frame + w->at[PYTHON_FRAME_INSTRUCTION]) - units;

    if (code_bytes > UINT32_MAX)
        w->bad = true;
    start = number_of(w, code, code_bytes);
    if (start == HR_PYTHON_UNKNOWN)
        return HR_PYTHON_UNKNOWN + 1;
    if (offset >= code_bytes) /* it has not executed anything yet */
        offset = 0;
    return start + offset + 1;
}

static uint64_t find_thread(struct walk *w, uint64_t runtime, uint32_t tid)
{
    uint64_t interpreter = read_word(w, runtime + w->at[PYTHON_INTERPRETERS]);

    for (uint32_t i = 0; interpreter != 0 && i < INTERPRETERS_MAX; i++) {
        uint64_t thread = read_word(w, interpreter + w->at[PYTHON_THREADS]);

        for (uint32_t n = 0; thread != 0 && n < THREADS_MAX; n++) {
            if (read_word(w, thread + w->at[PYTHON_THREAD_ID]) == tid)
                return thread;
            thread = read_word(w, thread + w->at[PYTHON_THREAD_NEXT]);
        }
        interpreter = read_word(w, interpreter + w->at[PYTHON_INTERPRETER_NEXT]);
    }
    return 0;
}

static uint64_t first_frame(struct walk *w, uint64_t thread)
{
    uint64_t at = read_word(w, thread + w->at[PYTHON_THREAD_FRAME]);

    if (w->at[PYTHON_HOLDER_FRAME] != PYTHON_NO_HOLDER && at != 0)
        at = read_word(w, at + w->at[PYTHON_HOLDER_FRAME]);
    return at;
}

/* Returns a frame's code object; 0: it has none, because it stands for C code. */
static uint64_t code_of(struct walk *w, uint64_t frame, uint64_t code_type)
{
    uint8_t owner;
    uint64_t code;

    read_bytes(w, frame + w->at[PYTHON_FRAME_OWNER], &owner, sizeof owner);
    if (owner == PYTHON_OWNER_C)
        return 0;
    code = read_word(w, frame + w->at[PYTHON_FRAME_CODE]);
    if (read_word(w, code + OBJECT_TYPE) != code_type)
        w->bad = true;
    return code;
}

static void python_finish(struct trace_slot_stack *stack, uint32_t count, uint32_t root)
{
    pmu_store((uint64_t *)(void *)stack, count | (uint64_t)root << 32);
}

void python_walk(struct python_codes *codes, struct trace_slot_stack *stack, uint32_t limit,
                 const struct python_layout *layout, const struct python_where *where, uint32_t tid)
{
    struct walk w = {
        .at = layout->at, .codes = codes, .space = (uint64_t)where->space << SPACE_SHIFT};
    uint64_t thread = find_thread(&w, where->runtime, tid);
    uint64_t frame = thread != 0 && !w.bad ? first_frame(&w, thread) : 0;
    uint32_t count = 0;

    if (frame == 0) {
        python_finish(stack, 0, HR_STACK_NONE);
        return;
    }
    for (uint32_t steps = 0; frame != 0 && count < limit && steps < 2 * limit; steps++) {
        uint64_t code = code_of(&w, frame, where->code_type), place = 0;

        if (code != 0 && !w.bad)
            place = place_of(&w, frame, code);
        if (w.bad)
            break;
        if (place != 0)
            pmu_store(stack->words + count++, place);
        frame = read_word(&w, frame + w.at[PYTHON_FRAME_PREVIOUS]);
    }
    python_finish(stack, count,
                  w.bad        ? HR_STACK_BROKEN
                  : frame != 0 ? HR_STACK_CUT
                               : HR_STACK_WHOLE);
}
