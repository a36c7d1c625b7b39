/* noise ROUNDS: fills 32 KiB of stack with ever new numbers, so that copies of its stack have
 * nothing in common: for traces that grow fast.
 */
#include <stdint.h>
#include <stdlib.h>

#define WORDS 4096

int main(int argc, char **argv)
{
    volatile uint64_t words[WORDS];
    uint64_t number = 88172645463325252u;
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

    while (rounds-- > 0)
        for (int i = 0; i < WORDS; i++) {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            words[i] = number;
        }
    return words[number % WORDS] == 1;
}
