/* With -DPLUGIN a library that brings an allocator of its own and uses it, and libc's; otherwise a
 * program that loads it: plugin [FILE]. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void plugin_run(void);

#ifdef PLUGIN
static char pool[1 << 16];
static size_t used;

void *je_malloc(size_t bytes)
{
    void *at = pool + used;

    used += (bytes + 15) & ~(size_t)15;
    return at;
}

void je_free(void *at)
{
    (void)at;
}

void plugin_run(void)
{
    for (int i = 0; i < 7; i++) {
        volatile char *own = je_malloc(100), *common = malloc(20);

        own[0] = common[0] = 1;
        if (i < 5)
            je_free((void *)own);
        free((void *)common);
    }
}
#else
int main(int argc, char **argv)
{
    void *library = dlopen(argc > 1 ? argv[1] : "./plugin.so", RTLD_NOW);
    void (*run)(void) = library != NULL ? (void (*)(void))dlsym(library, "plugin_run") : NULL;

    if (run == NULL)
        return 1;
    run();
    return 0;
}
#endif
