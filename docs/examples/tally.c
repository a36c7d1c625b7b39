/* Counts words in a table: an example of docs/memory.md.  It loses memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 256
#define WORDS 5000

struct entry {
    char *word;
    unsigned count;
    struct entry *next;
};

static struct entry *table[PLACES];

static char *copy_word(const char *word)
{
    char *copy = malloc(strlen(word) + 1);

    return strcpy(copy, word);
}

static void count_word(const char *word)
{
    char *key = copy_word(word);
    struct entry **place = &table[(unsigned char)key[0] ^ (unsigned char)key[1]];

    for (struct entry *e = *place; e != NULL; e = e->next)
        if (strcmp(e->word, key) == 0) {
            e->count++;
            return;
        }
    struct entry *e = malloc(sizeof *e);
    *e = (struct entry){key, 1, *place};
    *place = e;
}

static void forget_words(void)
{
    for (int i = 0; i < PLACES; i++)
        while (table[i] != NULL) {
            struct entry *e = table[i];

            table[i] = e->next;
            free(e->word);
            free(e);
        }
}

int main(void)
{
    unsigned words = 0, random = 1;
    char word[16];

    for (int i = 0; i < WORDS; i++) {
        random = random * 1664525 + 1013904223;
        snprintf(word, sizeof word, "w%u", (random >> 16) % 300);
        count_word(word);
    }
    for (int i = 0; i < PLACES; i++)
        for (struct entry *e = table[i]; e != NULL; e = e->next)
            words++;
    forget_words();
    printf("%u words\n", words);
    return 0;
}
