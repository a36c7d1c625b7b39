/* The memory and string functions that the compiler and <string.h> expect, of kernel and loader.
 *
 * In virtual time every repetition of a string instruction counts as an instruction: eight bytes
 * at a time.
 */
#include <stdint.h>
#include <string.h>

#include "lib/bytes.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    void *out = to;
    size_t words = bytes / 8;

    __asm__ volatile("rep movsq" : "+D"(out), "+S"(from), "+c"(words)::"memory");
    bytes %= 8;
    __asm__ volatile("rep movsb" : "+D"(out), "+S"(from), "+c"(bytes)::"memory");
    return to;
}

/* The empty assembly keeps the compiler from turning the loops into a call of memmove. */
static void copy_backwards(uint8_t *to, const uint8_t *from, size_t bytes)
{
    for (; bytes % 8; bytes--) {
        to[bytes - 1] = from[bytes - 1];
        __asm__ volatile("" ::: "memory");
    }
    for (; bytes; bytes -= 8) {
        bytes_store64(to + bytes - 8, bytes_load64(from + bytes - 8));
        __asm__ volatile("" ::: "memory");
    }
}

void *memmove(void *to, const void *from, size_t bytes)
{
    if ((uintptr_t)to - (uintptr_t)from >= bytes)
        return memcpy(to, from, bytes);
    copy_backwards(to, from, bytes);
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint64_t pattern = (uint8_t)value * 0x0101010101010101ull;
    void *out = to;
    size_t words = bytes / 8;

    __asm__ volatile("rep stosq" : "+D"(out), "+c"(words) : "a"(pattern) : "memory");
    bytes %= 8;
    __asm__ volatile("rep stosb" : "+D"(out), "+c"(bytes) : "a"(pattern) : "memory");
    return to;
}

int memcmp(const void *left, const void *right, size_t bytes)
{
    const uint8_t *a = left, *b = right;

    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}

void *memchr(const void *where, int value, size_t bytes)
{
    const uint8_t *p = where;

    for (size_t i = 0; i < bytes; i++)
        if (p[i] == (uint8_t)value)
            return (void *)(p + i);
    return NULL;
}

/* Returns the first NUL's number in an aligned word, 8 if there is none: the lowest byte whose top
 * bit only the subtraction sets. */
static size_t word_length(const char *word)
{
    uint64_t bytes = bytes_load64(word);
    uint64_t zeros = (bytes - 0x0101010101010101ull) & ~bytes & 0x8080808080808080ull;

    return zeros ? (size_t)__builtin_ctzll(zeros) / 8 : 8;
}

/* An aligned word lies in one page: bytes after the NUL may be read. */
size_t strnlen(const char *text, size_t limit)
{
    size_t count = 0, part;

    for (; (uintptr_t)(text + count) % 8; count++)
        if (count == limit || !text[count])
            return count;
    do {
        if (count >= limit)
            return limit;
        part = word_length(text + count);
        count += part;
    } while (part == 8);
    return count < limit ? count : limit;
}

size_t strlen(const char *text)
{
    return strnlen(text, SIZE_MAX);
}

int strcmp(const char *left, const char *right)
{
    while (*left && *left == *right) {
        left++;
        right++;
    }
    return (uint8_t)*left - (uint8_t)*right;
}

int strncmp(const char *left, const char *right, size_t limit)
{
    for (size_t i = 0; i < limit; i++)
        if (left[i] != right[i] || !left[i])
            return (uint8_t)left[i] - (uint8_t)right[i];
    return 0;
}

char *strchr(const char *text, int value)
{
    for (;; text++) {
        if (*text == (char)value)
            return (char *)text;
        if (!*text)
            return NULL;
    }
}

char *strrchr(const char *text, int value)
{
    char *found = NULL;

    for (;; text++) {
        if (*text == (char)value)
            found = (char *)text;
        if (!*text)
            return found;
    }
}
