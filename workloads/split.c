/* split: three functions that share the program's instructions 70 : 20 : 10. */
#include <stdio.h>
#include <stdlib.h>

/* Instructions of one call, ret included. */
#define SEVENTY 7000u
#define TWENTY 2000u
#define TEN 1000u

/* In assembler, so that no compiler changes the counts: (count - 2) / 2 rounds of two instructions,
 * one before and one after them.
 */
void split_seventy(void);
void split_twenty(void);
void split_ten(void);
__asm__(".text\n"
        ".macro SPLIT name rounds\n"
        ".globl \\name\n"
        ".type \\name, @function\n"
        "\\name:\n"
        "   mov $\\rounds, %ecx\n"
        "1: dec %ecx\n"
        "   jnz 1b\n"
        "   ret\n"
        ".size \\name, .-\\name\n"
        ".endm\n"
        "SPLIT split_seventy 3499\n"
        "SPLIT split_twenty 999\n"
        "SPLIT split_ten 499\n");

int main(int argc, char **argv)
{
    char *end = NULL;
    unsigned long long rounds = argc == 2 ? strtoull(argv[1], &end, 10) : 0;

    if (argc != 2 || *end || rounds == 0 || rounds > 1000000000) {
        fputs("usage: split ROUNDS\nROUNDS: of 10000 instructions each\n", stderr);
        return 2;
    }
    for (unsigned long long i = 0; i < rounds; i++) {
        split_seventy();
        split_twenty();
        split_ten();
    }
    printf("split: %llu instructions\n", rounds * (SEVENTY + TWENTY + TEN));
    return 0;
}
