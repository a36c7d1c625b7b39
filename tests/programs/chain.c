/* chain: 2,000 calls of outer, which calls middle twice, which calls inner twice. */
static volatile int sum;

__attribute__((noipa)) static int inner(int i)
{
    return sum += i;
}

__attribute__((noipa)) static int middle(int i)
{
    int kept = inner(i);

    return inner(kept) + i;
}

__attribute__((noipa)) static int outer(int i)
{
    int kept = middle(i);

    return middle(i + 1) + kept;
}

int main(void)
{
    for (int i = 0; i < 2000; i++)
        outer(i);
    return 0;
}
