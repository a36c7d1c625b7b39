/* The table that digits are copied from. */
#include "host/base/digits.h"

#define ONE(a) a "0" a "1" a "2" a "3" a "4" a "5" a "6" a "7" a "8" a "9"
#define TWO(a) \
    ONE(a "0") \
    ONE(a "1") \
    ONE(a "2") ONE(a "3") ONE(a "4") ONE(a "5") ONE(a "6") ONE(a "7") ONE(a "8") ONE(a "9")
#define THREE(a) \
    TWO(a "0")   \
    TWO(a "1")   \
    TWO(a "2") TWO(a "3") TWO(a "4") TWO(a "5") TWO(a "6") TWO(a "7") TWO(a "8") TWO(a "9")

const char digits_fours[] = THREE("0") THREE("1") THREE("2") THREE("3") THREE("4") THREE("5")
    THREE("6") THREE("7") THREE("8") THREE("9");
