/* Reads the values of microtome.conf. */
#include "lib/boot/boot_value.h"

#include <string.h>

#include "lib/array.h"

bool boot_value_is(struct boot_text text, const char *word)
{
    return strlen(word) == text.bytes && memcmp(text.at, word, text.bytes) == 0;
}

/* Takes the digits at the start of *text, at least one; *text becomes what follows them. */
static bool take_digits(struct boot_text *text, uint64_t *number)
{
    uint64_t value = 0;
    size_t used = 0;

    while (used < text->bytes && text->at[used] >= '0' && text->at[used] <= '9') {
        uint64_t digit = (uint64_t)(text->at[used] - '0');

        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
        used++;
    }
    if (used == 0)
        return false;
    text->at += used;
    text->bytes -= used;
    *number = value;
    return true;
}

bool boot_value_number(struct boot_text text, uint64_t *number)
{
    uint64_t value;

    if (!take_digits(&text, &value) || text.bytes != 0)
        return false;
    *number = value;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool boot_value_hex32(struct boot_text text, uint32_t *number)
{
    uint32_t value = 0;

    if (text.bytes > 2 && text.at[0] == '0' && (text.at[1] == 'x' || text.at[1] == 'X')) {
        text.at += 2;
        text.bytes -= 2;
    }
    if (text.bytes == 0 || text.bytes > 8)
        return false;
    for (size_t i = 0; i < text.bytes; i++) {
        int digit = hex_digit(text.at[i]);

        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t)digit;
    }
    *number = value;
    return true;
}

struct unit {
    const char *name;
    uint64_t factor;
};

/* Takes a number followed by one of the units. */
static bool take_unit(struct boot_text text, const struct unit *units, size_t count,
                      uint64_t *result)
{
    uint64_t value;

    if (!take_digits(&text, &value))
        return false;
    for (size_t i = 0; i < count; i++)
        if (boot_value_is(text, units[i].name)) {
            if (value > UINT64_MAX / units[i].factor)
                return false;
            *result = value * units[i].factor;
            return true;
        }
    return false;
}

bool boot_value_size(struct boot_text text, uint64_t *bytes)
{
    static const struct unit units[] = {
        {"", 1},           {"K", 1ull << 10}, {"M", 1ull << 20}, {"G", 1ull << 30},
        {"T", 1ull << 40}, {"k", 1ull << 10}, {"m", 1ull << 20}, {"g", 1ull << 30},
    };

    return take_unit(text, units, ARRAY_COUNT(units), bytes);
}

bool boot_value_time(struct boot_text text, uint64_t *ns)
{
    static const struct unit units[] = {
        {"ns", 1},         {"us", 1000},          {"ms", 1000000},
        {"s", 1000000000}, {"m", 60000000000ull}, {"h", 3600000000000ull},
    };

    return take_unit(text, units, ARRAY_COUNT(units), ns);
}

/* Takes four numbers with dots between them; *text becomes what follows. */
static bool take_ipv4(struct boot_text *text, uint32_t *address)
{
    uint8_t parts[4];

    for (int i = 0; i < 4; i++) {
        uint64_t part;

        if (i > 0) {
            if (text->bytes == 0 || text->at[0] != '.')
                return false;
            text->at++;
            text->bytes--;
        }
        if (!take_digits(text, &part) || part > 255)
            return false;
        parts[i] = (uint8_t)part;
    }
    memcpy(address, parts, sizeof parts);
    return true;
}

bool boot_value_ipv4(struct boot_text text, uint32_t *address)
{
    uint32_t value;

    if (!take_ipv4(&text, &value) || text.bytes != 0)
        return false;
    *address = value;
    return true;
}

bool boot_value_ipv4_port(struct boot_text text, uint32_t *address, uint16_t *port)
{
    uint32_t value;
    uint64_t number = *port;

    if (!take_ipv4(&text, &value))
        return false;
    if (text.bytes != 0) {
        if (text.at[0] != ':')
            return false;
        text.at++;
        text.bytes--;
        if (!boot_value_number(text, &number) || number == 0 || number > UINT16_MAX)
            return false;
    }
    *address = value;
    *port = (uint16_t)number;
    return true;
}

bool boot_value_ipv4_bits(struct boot_text text, uint32_t *address, uint32_t *netmask)
{
    uint32_t value, mask;
    uint64_t bits;

    if (!take_ipv4(&text, &value) || text.bytes == 0 || text.at[0] != '/')
        return false;
    text.at++;
    text.bytes--;
    if (!boot_value_number(text, &bits) || bits == 0 || bits > 32)
        return false;
    mask = __builtin_bswap32(bits == 32 ? UINT32_MAX : ~(UINT32_MAX >> bits));
    *address = value;
    *netmask = mask;
    return true;
}

bool boot_value_text(struct boot_text text, char *out, size_t room)
{
    if (text.bytes == 0 || text.bytes >= room)
        return false;
    for (size_t i = 0; i < text.bytes; i++)
        if (text.at[i] < ' ' || text.at[i] > '~')
            return false;
    memcpy(out, text.at, text.bytes);
    out[text.bytes] = '\0';
    return true;
}

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_character(char c, size_t position)
{
    return is_letter_or_digit(c) || c == '-' || c == '_' || (c == '.' && position > 0);
}

bool boot_value_name(struct boot_text text, char *out, size_t room)
{
    for (size_t i = 0; i < text.bytes; i++)
        if (!is_name_character(text.at[i], i))
            return false;
    return boot_value_text(text, out, room);
}

bool boot_value_sanitise(struct boot_text text, char *out, size_t room)
{
    bool named = false;
    size_t used = 0;

    for (size_t i = 0; i < text.bytes && used + 1 < room; i++) {
        bool good = is_name_character(text.at[i], used);

        named = named || is_letter_or_digit(text.at[i]);
        if (good)
            out[used++] = text.at[i];
        else if (used > 0 && out[used - 1] != '_')
            out[used++] = '_';
    }
    while (used > 0 && out[used - 1] == '_')
        used--;
    if (room > 0)
        out[used] = '\0';
    return named && used > 0;
}

bool boot_value_path(struct boot_text text, char *out, size_t room)
{
    if (text.bytes < 2 || (text.at[0] != '\\' && text.at[0] != '/'))
        return false;
    for (size_t i = 0; i < text.bytes; i++)
        if (text.at[i] == '\0' || strchr("\"*:<>?|", text.at[i]) != NULL) /* not in FAT's names */
            return false;
    if (!boot_value_text(text, out, room))
        return false;
    for (size_t i = 0; i < text.bytes; i++)
        if (out[i] == '/')
            out[i] = '\\';
    return out[text.bytes - 1] != '\\';
}
