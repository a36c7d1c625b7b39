/* Asks debuginfod servers, with a time limit. */
#include "host/object/symbols_debuginfod.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/base/text.h"

#define LIBRARY "libdebuginfod.so.1"
#define URLS "DEBUGINFOD_URLS"
#define TIMEOUT_SECONDS "15" /* the library gives up after less than 100 KB in this time */
#define PATIENCE_NS 10000000000ull /* after a longer fruitless query no server is asked again */
#define REDRAW_NS 100000000ull
#define ERASE "\r\033[K"

struct api {
    void (*set_progress)(debuginfod_client *, int (*)(debuginfod_client *, long, long));
    debuginfod_client *(*begin)(void);
    void (*end)(debuginfod_client *);
    int (*find_executable)(debuginfod_client *, const unsigned char *, int, char **);
};

static struct query { /* one at a time */
    char name[128];
    uint64_t start_ns;
    uint64_t drawn_ns; /* 0: nothing to erase */
    bool gave_up;
} query;

void symbols_debuginfod_init(bool wanted)
{
    if (!wanted)
        unsetenv(URLS);
    else
        setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_SECONDS, 0);
}

bool symbols_debuginfod_ready(void)
{
    const char *urls = getenv(URLS);

    return urls != NULL && urls[0] != 0;
}

bool symbols_debuginfod_gave_up(void)
{
    return query.gave_up;
}

/* Returns all functions, or NULL if the library is not installed. */
static const struct api *load(void)
{
    static struct api api;
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
        {"debuginfod_set_progressfn", offsetof(struct api, set_progress)},
        {"debuginfod_begin", offsetof(struct api, begin)},
        {"debuginfod_end", offsetof(struct api, end)},
        {"debuginfod_find_executable", offsetof(struct api, find_executable)},
    };
    void *library;

    if (api.find_executable != NULL)
        return &api;
    library = symbols_debuginfod_ready() ? dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL) : NULL;
    for (size_t i = 0; library != NULL && i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);

        if (function == NULL)
            return NULL;
        memcpy((char *)&api + functions[i].offset, &function, sizeof function);
    }
    return library != NULL ? &api : NULL;
}

static void show(const char *text)
{
    if (write(2, text, strlen(text)) < 0)
        return;
}

static int progress(debuginfod_client *, long done, long all)
{
    char line[256], part[TEXT_QUANTITY_BYTES], whole[TEXT_QUANTITY_BYTES];
    uint64_t now = monotonic_ns();

    if (!isatty(2) || now - query.drawn_ns < REDRAW_NS)
        return 0;
    query.drawn_ns = now;
    if (all > 0 && done > 0 && done <= all)
        snprintf(line, sizeof line, ERASE "hr: debuginfod: %s, %s of %s", query.name,
                 text_bytes(part, (uint64_t)done), text_bytes(whole, (uint64_t)all));
    else
        snprintf(line, sizeof line, ERASE "hr: debuginfod: %s", query.name);
    show(line);
    return 0;
}

void symbols_debuginfod_begin(const char *name, Dwfl *dwfl)
{
    const struct api *api = load();
    debuginfod_client *client =
        api != NULL && dwfl != NULL ? dwfl_get_debuginfod_client(dwfl) : NULL;

    text_escape(query.name, sizeof query.name, name);
    query.start_ns = monotonic_ns();
    query.drawn_ns = 0;
    if (client != NULL)
        api->set_progress(client, progress);
}

void symbols_debuginfod_end(bool found)
{
    if (query.drawn_ns != 0)
        show(ERASE);
    if (found || !symbols_debuginfod_ready() || monotonic_ns() - query.start_ns < PATIENCE_NS)
        return;
    query.gave_up = true;
    unsetenv(URLS);
}

char *symbols_debuginfod_executable(const char *name, const uint8_t *build_id, size_t bytes)
{
    const struct api *api = load();
    debuginfod_client *client = api != NULL && bytes != 0 ? api->begin() : NULL;
    char *path = NULL;
    int fd;

    if (client == NULL)
        return NULL;
    symbols_debuginfod_begin(name, NULL);
    api->set_progress(client, progress);
    fd = api->find_executable(client, build_id, (int)bytes, &path);
    symbols_debuginfod_end(fd >= 0);
    api->end(client);
    if (fd < 0)
        return NULL;
    close(fd);
    return path;
}
