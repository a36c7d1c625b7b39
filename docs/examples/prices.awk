# Writes a price list for prices.c: awk -v n=3000 -f prices.awk >prices.json. Every tenth item is one that was there before.
BEGIN {
    printf "[\n"
    for (i = 0; i < n; i++) {
        k = i % 10 == 9 ? int(i / 2) : i
        printf "{\"key\":\"item-%06d\",\"price\":%d.%02d,\"stock\":%d}%s\n", k * 7919 % 1000000, k % 90 + 5, k % 100, k % 40, i + 1 < n ? "," : ""
    }
    printf "]\n"
}
