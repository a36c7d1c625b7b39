/* Adds up the cheap ones of many orders and sorts them: an example of docs/first-day.md. */
#include <stdio.h>
#include <stdlib.h>

#define ORDERS 20000
#define ROUNDS 50

static unsigned price[ORDERS];

/* Prices in no order: a processor cannot guess what they compare to. */
static void make_orders(void)
{
    unsigned random = 1;

    for (int i = 0; i < ORDERS; i++) {
        random = random * 1664525 + 1013904223;
        price[i] = random >> 20;
    }
}

__attribute__((noinline)) static unsigned long sum_cheap(unsigned limit)
{
    unsigned long sum = 0;

    for (int i = 0; i < ORDERS; i++)
        if (price[i] < limit)
            sum += price[i] / 3;
    return sum;
}

static int by_price(const void *a, const void *b)
{
    const unsigned *left = a, *right = b;

    return *left < *right ? -1 : *left > *right;
}

int main(void)
{
    unsigned long sum = 0;

    make_orders();
    for (unsigned round = 0; round < ROUNDS; round++)
        sum += sum_cheap(1000 + round);
    qsort(price, ORDERS, sizeof price[0], by_price);
    printf("%lu, cheapest %u\n", sum, price[0]);
    return 0;
}
