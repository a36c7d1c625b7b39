/* Gathers names of code that is in no file. */
#include "host/trace/trace_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/trace/trace_index.h"

struct trace_names *trace_names_new(const struct trace_file *file)
{
    struct trace_names *names = calloc(1, sizeof *names);

    if (names == NULL)
        return NULL;
    names->references = 1;
    pthread_mutex_init(&names->lock, NULL);
    if (file == NULL || trace_file_share(&names->file, file) != 0)
        names->file.fd = -1;
    free(names->file.buffer); /* until it is needed */
    names->file.buffer = NULL;
    return names;
}

struct trace_names *trace_names_hold(struct trace_names *names)
{
    if (names != NULL)
        __atomic_add_fetch(&names->references, 1, __ATOMIC_RELAXED);
    return names;
}

void trace_names_release(struct trace_names *names)
{
    if (names == NULL || __atomic_sub_fetch(&names->references, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    for (size_t i = 0; i < names->code_count; i++)
        free(names->codes[i].name);
    for (size_t i = 0; i < names->file_count; i++) {
        free(names->files[i].path);
        free(names->files[i].bytes);
    }
    free(names->codes);
    free(names->files);
    for (size_t i = 0; i < names->made_count; i++)
        trace_jit_free(&names->made[i].jit);
    free(names->made);
    trace_file_close(&names->file);
    pthread_mutex_destroy(&names->lock);
    free(names);
}

static bool valid_code(const struct trace_record *record, struct hr_meta_python_code *code,
                       const uint8_t **tail)
{
    size_t bytes;

    return trace_body(record, code, sizeof *code, tail, &bytes) && code->start > HR_PYTHON_BASE &&
           code->start < HR_PYTHON_END && code->code_bytes < HR_PYTHON_END - code->start &&
           (size_t)code->name_bytes + code->file_bytes + code->line_bytes <= bytes &&
           (code->name_unit == 1 || code->name_unit == 2 || code->name_unit == 4) &&
           (code->file_unit == 1 || code->file_unit == 2 || code->file_unit == 4);
}

bool trace_names_valid(const struct trace_record *record)
{
    struct hr_meta_python_code code;
    struct hr_meta_jit_file file;
    const uint8_t *tail;
    size_t bytes;

    switch (record->type) {
    case HR_META_PYTHON_CODE:
        return valid_code(record, &code, &tail);
    case HR_META_JIT_FILE:
        return trace_body(record, &file, sizeof file, &tail, &bytes) && bytes != 0 &&
               memchr(tail, 0, bytes) == NULL;
    case HR_META_JIT_DATA:
        return record->bytes >= sizeof(struct hr_meta_jit_data);
    default:
        return true;
    }
}

/* Returns whether so many more bytes are within the bounds. */
static bool fits(struct trace_names *names, size_t count, size_t count_max, size_t bytes)
{
    if (count < count_max && bytes <= TRACE_NAMES_BYTES_MAX - names->bytes) {
        names->bytes += bytes;
        return true;
    }
    names->ignored++;
    return false;
}

static char *put_utf8(char *at, uint32_t character)
{
    if (character < 0x80) {
        *at++ = (char)character;
    } else if (character < 0x800) {
        *at++ = (char)(0xc0 | character >> 6);
        *at++ = (char)(0x80 | (character & 0x3f));
    } else if (character < 0x10000) {
        *at++ = (char)(0xe0 | character >> 12);
        *at++ = (char)(0x80 | (character >> 6 & 0x3f));
        *at++ = (char)(0x80 | (character & 0x3f));
    } else {
        *at++ = (char)(0xf0 | (character >> 18 & 7));
        *at++ = (char)(0x80 | (character >> 12 & 0x3f));
        *at++ = (char)(0x80 | (character >> 6 & 0x3f));
        *at++ = (char)(0x80 | (character & 0x3f));
    }
    return at;
}

char *trace_names_text(char *to, const uint8_t *text, size_t bytes, uint8_t unit)
{
    for (size_t i = 0; i + unit <= bytes; i += unit) {
        uint32_t character = 0;

        memcpy(&character, text + i, unit);
        if (character == 0)
            break;
        if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
            character = 0xfffd;
        to = put_utf8(to, character);
    }
    *to++ = 0;
    return to;
}

static int take_code(struct trace_names *names, const struct trace_record *record)
{
    struct trace_python_code code;
    const uint8_t *tail;
    size_t room;
    char *at;

    if (!valid_code(record, &code.meta, &tail))
        return 0;
    room = 2 * ((size_t)code.meta.name_bytes + code.meta.file_bytes) + 2 + code.meta.line_bytes;
    if (!fits(names, names->code_count, TRACE_NAMES_CODES_MAX, room))
        return 0;
    code.name = malloc(room);
    if (code.name == NULL || array_grow(&names->codes, names->code_count, sizeof code) != 0) {
        free(code.name);
        return -ENOMEM;
    }
    at = trace_names_text(code.name, tail, code.meta.name_bytes, code.meta.name_unit);
    code.file = at;
    at = trace_names_text(at, tail + code.meta.name_bytes, code.meta.file_bytes,
                          code.meta.file_unit);
    memcpy(at, tail + code.meta.name_bytes + code.meta.file_bytes, code.meta.line_bytes);
    code.lines = (const uint8_t *)at;
    names->codes[names->code_count++] = code;
    return 0;
}

static int take_file(struct trace_names *names, const struct trace_record *record)
{
    struct trace_jit_file file = {.bytes = NULL};
    const uint8_t *path;
    size_t path_bytes;

    trace_body(record, &file.meta, sizeof file.meta, &path, &path_bytes);
    if (!fits(names, names->file_count, TRACE_NAMES_FILES_MAX, path_bytes))
        return 0;
    file.path = strndup((const char *)path, path_bytes);
    if (file.path == NULL || array_grow(&names->files, names->file_count, sizeof file) != 0) {
        free(file.path);
        return -ENOMEM;
    }
    names->files[names->file_count++] = file;
    return 0;
}

/* The parts of a file follow its own record, in order; those of an unknown file are nothing. */
static int take_data(struct trace_names *names, const struct trace_record *record)
{
    struct trace_jit_file *file =
        names->file_count != 0 ? &names->files[names->file_count - 1] : NULL;
    struct hr_meta_jit_data data;
    const uint8_t *part;
    size_t bytes, room = 4096;
    uint8_t *larger;

    trace_body(record, &data, sizeof data, &part, &bytes);
    if (file == NULL || data.number != file->meta.number)
        return 0;
    if (!fits(names, 0, 1, bytes))
        return 0;
    while (room < file->count + bytes + 1)
        room *= 2;
    larger = realloc(file->bytes, room);
    if (larger == NULL)
        return -ENOMEM;
    memcpy(larger + file->count, part, bytes);
    file->bytes = larger;
    file->count += bytes;
    file->bytes[file->count] = 0;
    return 0;
}

int trace_names_take(struct trace_names *names, const struct trace_record *record)
{
    if (!trace_names_valid(record))
        return 0;
    switch (record->type) {
    case HR_META_PYTHON_CODE:
        return take_code(names, record);
    case HR_META_JIT_FILE:
        return take_file(names, record);
    case HR_META_JIT_DATA:
        return take_data(names, record);
    default:
        return 0;
    }
}

static int by_start(const void *a, const void *b)
{
    const struct trace_python_code *x = a, *y = b;

    return x->meta.start < y->meta.start ? -1 : x->meta.start > y->meta.start;
}

/* Orders those of one function by their starts. */
static int by_function(const void *a, const void *b)
{
    const struct trace_python_code *x = *(struct trace_python_code *const *)a;
    const struct trace_python_code *y = *(struct trace_python_code *const *)b;
    int order = x->meta.first_line < y->meta.first_line   ? -1
                : x->meta.first_line > y->meta.first_line ? 1
                                                          : strcmp(x->name, y->name);

    if (order == 0)
        order = strcmp(x->file, y->file);
    return order != 0 ? order : by_start(x, y);
}

/* Without memory each is its own first. */
static void find_firsts(struct trace_names *names)
{
    struct trace_python_code **order =
        malloc(names->code_count * sizeof(struct trace_python_code *));

    for (size_t i = 0; i < names->code_count; i++) {
        names->codes[i].first = &names->codes[i];
        if (order != NULL)
            order[i] = &names->codes[i];
    }
    if (order == NULL)
        return;
    qsort(order, names->code_count, sizeof(struct trace_python_code *), by_function);
    for (size_t i = 1; i < names->code_count; i++)
        if (order[i]->meta.first_line == order[i - 1]->meta.first_line &&
            strcmp(order[i]->name, order[i - 1]->name) == 0 &&
            strcmp(order[i]->file, order[i - 1]->file) == 0)
            order[i]->first = order[i - 1]->first;
    free(order);
}

void trace_names_sort(struct trace_names *names)
{
    if (names->code_count == 0)
        return;
    qsort(names->codes, names->code_count, sizeof names->codes[0], by_start);
    find_firsts(names);
}

static int take_chunk(struct trace_names *names, const struct trace_chunk *chunk)
{
    struct trace_cursor cursor;
    struct trace_record record;
    int error = 0;

    trace_cursor_init(&cursor, chunk->payload, chunk->header.payload_bytes);
    while (error == 0 && trace_next(&cursor, &record) == TRACE_OK)
        error = trace_names_take(names, &record);
    return error;
}

static int read_chunks(struct trace_names *names, const struct trace_index *index)
{
    struct trace_chunk chunk;
    int error = 0;

    for (size_t i = 0; i < index->count && error == 0; i++) {
        int step;

        if (index->entries[i].type != HR_CHUNK_META)
            continue;
        trace_file_seek(&names->file, index->entries[i].offset);
        step = trace_file_next(&names->file, &chunk);
        if (step == TRACE_STEP_CHUNK && chunk.header.type == HR_CHUNK_META)
            error = take_chunk(names, &chunk);
        else if (step < 0)
            error = step;
    }
    return error;
}

/* What an index that ends early does not list is not looked at. */
static int read_file(struct trace_names *names)
{
    struct trace_file again;
    struct trace_index index;
    int error = trace_file_share(&again, &names->file);

    if (error != 0)
        return error;
    trace_file_close(&names->file);
    names->file = again;
    trace_index_init(&index);
    if (trace_index_load(&index, names->file.fd) != 0) {
        trace_index_free(&index);
        trace_index_init(&index);
        trace_index_walk(&index, names->file.fd, names->file.first_chunk, names->file.file_bytes);
    }
    error = read_chunks(names, &index);
    trace_index_free(&index);
    return error;
}

int trace_names_read(struct trace_names *names)
{
    int error = 0;

    if (__atomic_load_n(&names->ready, __ATOMIC_ACQUIRE))
        return 0;
    pthread_mutex_lock(&names->lock);
    if (!names->ready) {
        if (names->file.fd >= 0)
            error = read_file(names);
        trace_file_close(&names->file);
        trace_names_sort(names);
        if (error == 0)
            error = trace_names_make(names);
        __atomic_store_n(&names->ready, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&names->lock);
    return error;
}

const struct trace_python_code *trace_names_python(const struct trace_names *names, uint64_t place)
{
    size_t low = 0, high = names->code_count;
    const struct trace_python_code *code;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (names->codes[middle].meta.start <= place)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    code = &names->codes[low - 1];
    return place - code->meta.start < code->meta.code_bytes ? code : NULL;
}
