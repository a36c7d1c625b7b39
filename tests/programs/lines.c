/* lines COUNT PAUSE: the numbers from 1 to COUNT, a line each, in pieces of 4 KiB; PAUSE
 * microseconds after each piece. What `seq 1 COUNT` writes, in a tenth of its instructions.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE 4096
#define DIGITS 20

static char piece[PIECE + DIGITS + 1];

int main(int argc, char **argv)
{
    unsigned long count = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned pause_us = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    size_t used = 0;

    for (unsigned long line = 1; line <= count; line++) {
        char digits[DIGITS], *first = digits + DIGITS;
        for (unsigned long rest = line; rest; rest /= 10)
            *--first = (char)('0' + rest % 10);
        memcpy(piece + used, first, (size_t)(digits + DIGITS - first));
        used += (size_t)(digits + DIGITS - first);
        piece[used++] = '\n';
        if (used < PIECE && line < count)
            continue;
        if (write(1, piece, used) != (ssize_t)used)
            return 1;
        used = 0;
        if (pause_us)
            usleep(pause_us);
    }
    return count == 0;
}
