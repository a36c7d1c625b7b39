/* The functions of a C library that the compiler and lib/ need. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    void *start = to;

    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
    return start;
}

void *memset(void *to, int value, size_t bytes)
{
    void *start = to;

    __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
    return start;
}

int memcmp(const void *left, const void *right, size_t bytes)
{
    const uint8_t *l = left, *r = right;

    for (size_t i = 0; i < bytes; i++)
        if (l[i] != r[i])
            return l[i] - r[i];
    return 0;
}

void *memchr(const void *where, int value, size_t bytes)
{
    const uint8_t *p = where;

    for (size_t i = 0; i < bytes; i++)
        if (p[i] == (uint8_t)value)
            return (void *)(uintptr_t)(p + i);
    return NULL;
}

size_t strlen(const char *text)
{
    size_t bytes = 0;

    while (text[bytes])
        bytes++;
    return bytes;
}

int strcmp(const char *left, const char *right)
{
    while (*left && *left == *right) {
        left++;
        right++;
    }
    return (unsigned char)*left - (unsigned char)*right;
}

char *strchr(const char *text, int value)
{
    for (;; text++) {
        if (*text == (char)value)
            return (char *)(uintptr_t)text;
        if (!*text)
            return NULL;
    }
}

char *strrchr(const char *text, int value)
{
    const char *found = NULL;

    for (;; text++) {
        if (*text == (char)value)
            found = text;
        if (!*text)
            return (char *)(uintptr_t)found;
    }
}
