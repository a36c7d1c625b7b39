/* Adds up a price list (JSON): the program of docs/reading.md, slow in two easy ways. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char key[24];
    double price;
    int stock;
};

struct list {
    struct item *items;
    size_t count, capacity;
};

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    size_t bytes = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(1, bytes + 1);
    if (text && fread(text, 1, bytes, file) != bytes)
        text[0] = 0;
    fclose(file);
    return text;
}

/* Steps over the next occurrence of what; NULL when there is none. */
static char *after(char *text, const char *what)
{
    char *found = strstr(text, what);
    return found ? found + strlen(what) : NULL;
}

static char *parse_number(char *text, double *number)
{
    int length = 0;
    if (sscanf(text, "%lf%n", number, &length) != 1)
        return NULL;
    return text + length;
}

static char *parse_key(char *text, char *key, size_t size)
{
    char *end = strchr(text, '"');
    if (!end || (size_t)(end - text) >= size)
        return NULL;
    memcpy(key, text, (size_t)(end - text));
    key[end - text] = 0;
    return end + 1;
}

static char *parse_item(char *text, struct item *item)
{
    double stock;
    if (!(text = after(text, "\"key\":\"")) ||
        !(text = parse_key(text, item->key, sizeof(item->key))))
        return NULL;
    if (!(text = after(text, "\"price\":")) || !(text = parse_number(text, &item->price)))
        return NULL;
    if (!(text = after(text, "\"stock\":")) || !(text = parse_number(text, &stock)))
        return NULL;
    item->stock = (int)stock;
    return text;
}

static bool contains(const struct list *list, const char *key)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].key, key) == 0)
            return true;
    return false;
}

static void add(struct list *list, const struct item *item)
{
    if (contains(list, item->key))
        return;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->items = realloc(list->items, list->capacity * sizeof(*list->items));
        if (!list->items)
            abort();
    }
    list->items[list->count++] = *item;
}

static void load(struct list *list, char *text)
{
    struct item item;
    while ((text = parse_item(text, &item)))
        add(list, &item);
}

static double value(const struct list *list)
{
    double sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += list->items[i].price * list->items[i].stock;
    return sum;
}

int main(int argc, char **argv)
{
    char *text = argc > 1 ? read_file(argv[1]) : NULL;
    if (!text) {
        fprintf(stderr, "usage: prices FILE.json\n");
        return 1;
    }
    struct list list = {0};
    load(&list, text);
    printf("%zu items, worth %.2f\n", list.count, value(&list));
    free(list.items);
    free(text);
    return 0;
}
