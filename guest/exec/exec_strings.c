/* The strings that a new program gets. */
#include "guest/exec/exec_strings.h"

#include <errno.h>
#include <string.h>

#include "guest/vm/vm_access.h"

#define ROOM_MIN (128ull << 10) /* ARG_MAX of Linux */
#define ROOM_MAX (6ull << 20) /* three quarters of _STK_LIM */

uint64_t exec_strings_room(uint64_t stack_limit)
{
    uint64_t room = stack_limit / 4;

    if (room > ROOM_MAX)
        room = ROOM_MAX;
    return room < ROOM_MIN ? ROOM_MIN : room;
}

/* Part of a page of the program, kept for the next look. */
struct reader {
    struct vm_space *space;
    uint64_t start, bytes;
    const uint8_t *at;
};

/* Returns where the byte at `address` is, with *room bytes from it on; NULL and *error: nowhere. */
static const uint8_t *reader_look(struct reader *r, uint64_t address, uint64_t *room, int *error)
{
    if (address - r->start >= r->bytes) {
        void *at;

        *error = vm_access(r->space, address, VM_ACCESS_READ, &at, &r->bytes);
        if (*error) {
            r->bytes = 0;
            return NULL;
        }
        r->start = address;
        r->at = at;
    }
    *room = r->bytes - (address - r->start);
    return r->at + (address - r->start);
}

static int reader_word(struct reader *r, uint64_t address, uint64_t *word)
{
    uint8_t *out = (uint8_t *)word;
    uint64_t room;
    int error = 0;
    const uint8_t *at = reader_look(r, address, &room, &error);

    if (at != NULL && room >= sizeof *word) {
        memcpy(word, at, sizeof *word);
        return 0;
    }
    for (uint32_t i = 0; i < sizeof *word; i++) {
        at = reader_look(r, address + i, &room, &error);
        if (at == NULL)
            return error;
        out[i] = *at;
    }
    return 0;
}

/* Where a walk over strings is. */
struct walk {
    const struct exec_strings *strings;
    uint32_t first;
    size_t position; /* in the manifest */
    uint64_t list; /* the next pointer's address */
    struct reader pointers, text;
    const char *kernel; /* this string: the kernel's, or if that is NULL */
    uint64_t user; /* the program's */
};

static struct walk walk_of(const struct exec_strings *strings)
{
    return (struct walk){.strings = strings,
                         .list = strings->list,
                         .pointers.space = strings->space,
                         .text.space = strings->space};
}

/* Steps to the next string.  Returns 1, 0 at the end, or -errno. */
static int walk_next(struct walk *w)
{
    const struct exec_strings *s = w->strings;
    int error;

    w->kernel = NULL;
    if (w->first < s->first_count)
        w->kernel = s->first[w->first++];
    else if (s->manifest != NULL)
        w->kernel = manifest_next(s->manifest, s->key, &w->position);
    if (w->kernel != NULL)
        return 1;
    if (!w->list)
        return 0;
    error = reader_word(&w->pointers, w->list, &w->user);
    w->list += sizeof w->user;
    return error ? error : w->user != 0;
}

/* Returns the length of this string without its NUL, or -errno. */
static int64_t walk_length(struct walk *w)
{
    uint64_t bytes = 0, room, part;
    int error = 0;

    if (w->kernel != NULL)
        return (int64_t)strlen(w->kernel);
    while (bytes < EXEC_STRING_BYTES_MAX) {
        const uint8_t *at = reader_look(&w->text, w->user + bytes, &room, &error);

        if (at == NULL)
            return error;
        part = strnlen((const char *)at, room);
        bytes += part;
        if (part < room)
            return bytes < EXEC_STRING_BYTES_MAX ? (int64_t)bytes : -E2BIG;
    }
    return -E2BIG;
}

int exec_strings_survey(struct exec_strings *strings, uint64_t *room)
{
    struct walk w = walk_of(strings);
    int more;

    strings->count = strings->bytes = 0;
    while ((more = walk_next(&w)) > 0) {
        int64_t length = walk_length(&w);
        uint64_t need = (uint64_t)length + 1 + sizeof(uint64_t);

        if (length < 0)
            return (int)length;
        if (need > *room)
            return -E2BIG;
        *room -= need;
        strings->count++;
        strings->bytes += (uint64_t)length + 1;
    }
    return more;
}

/* Copies this string with its NUL, which must end before `end`. */
static int walk_copy(struct walk *w, struct exec_writer *text, uint64_t end)
{
    uint64_t bytes = 0, room, part;
    int error = 0;

    if (w->kernel != NULL)
        return exec_writer_put(text, w->kernel, strlen(w->kernel) + 1);
    for (;; bytes += part) {
        const uint8_t *at = reader_look(&w->text, w->user + bytes, &room, &error);

        if (at == NULL)
            return error;
        part = strnlen((const char *)at, room);
        if (text->address + part >= end)
            return -EFAULT;
        error = exec_writer_put(text, at, part < room ? part + 1 : part);
        if (error || part < room)
            return error;
    }
}

int exec_strings_write(const struct exec_strings *strings, struct exec_writer *words,
                       struct exec_writer *text)
{
    struct walk w = walk_of(strings);
    uint64_t end = text->address + strings->bytes, count = 0;
    int error = 0, more = 0;

    while (!error && count < strings->count && (more = walk_next(&w)) > 0) {
        error = exec_writer_word(words, text->address);
        if (!error)
            error = walk_copy(&w, text, end);
        count++;
    }
    if (!error && (more < 0 || count < strings->count || text->address != end))
        error = more < 0 ? more : -EFAULT;
    return error ? error : exec_writer_word(words, 0);
}
