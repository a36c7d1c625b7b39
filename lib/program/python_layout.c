/* Offsets in CPython's structs as text. */
#include "lib/program/python_layout.h"

#include <errno.h>

static char *put_number(char *at, uint64_t value)
{
    char digits[20];
    uint32_t count = 0;

    do
        digits[count++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

void python_layout_write(const struct python_layout *layout, char text[PYTHON_LAYOUT_TEXT_BYTES])
{
    for (uint32_t i = 0; i < PYTHON_LAYOUT_FIELDS; i++) {
        text = put_number(text, layout->at[i]);
        *text++ = i + 1 < PYTHON_LAYOUT_FIELDS ? ',' : '\0';
    }
}

int python_layout_read(struct python_layout *layout, const char *text)
{
    for (uint32_t i = 0; i < PYTHON_LAYOUT_FIELDS; i++) {
        uint64_t value = 0;

        if (*text < '0' || *text > '9')
            return -EINVAL;
        for (; *text >= '0' && *text <= '9'; text++)
            if (__builtin_mul_overflow(value, 10u, &value) ||
                __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
                return -EINVAL;
        if (*text != (i + 1 < PYTHON_LAYOUT_FIELDS ? ',' : '\0'))
            return -EINVAL;
        text++;
        layout->at[i] = value;
    }
    return 0;
}
