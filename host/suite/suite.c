/* A suite in memory, and its file. */
#include "host/suite/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/transfer.h"
#include "host/suite/toml.h"

bool suite_is_name(const char *text)
{
    static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789._-";
    size_t bytes = strlen(text);

    return bytes != 0 && bytes <= SUITE_NAME_BYTES && text[strspn(text, characters)] == 0 &&
           text[0] != '.' && text[0] != '-' && text[bytes - 1] != '.' && strstr(text, "..") == NULL;
}

static void free_benchmark(struct suite_benchmark *b)
{
    free(b->name);
    free(b->input);
    free(b->directory);
    suite_texts_free(&b->command);
    suite_texts_free(&b->options);
    suite_texts_free(&b->tags);
    suite_limits_free(&b->limits);
}

void suite_free(struct suite *suite)
{
    for (size_t i = 0; i < suite->benchmark_count; i++)
        free_benchmark(&suite->benchmarks[i]);
    free(suite->benchmarks);
    free(suite->name);
    *suite = (struct suite){0};
}

static int set_folder(struct suite *suite, const char *path, struct run_failure *failure)
{
    const char *slash = strrchr(path, '/');
    int bytes = slash != NULL ? (int)(slash - path) + 1 : 0;

    if ((size_t)bytes >= sizeof suite->folder)
        return run_fail_as(failure, 2, "'%.60s...': the path is too long", path);
    snprintf(suite->folder, sizeof suite->folder, "%.*s", bytes != 0 ? bytes : 1,
             bytes != 0 ? path : ".");
    return 0;
}

int suite_read(struct suite *suite, const char *path, struct run_failure *failure)
{
    char *bytes = malloc(TOML_BYTES_MAX + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = -1;
    ssize_t count =
        fd >= 0 && bytes != NULL ? transfer_read(fd, bytes, TOML_BYTES_MAX + 1) : -errno;

    if (bytes == NULL)
        run_fail(failure, "out of memory; end other programs");
    else if (count < 0)
        run_fail_as(failure, 2, "cannot read the suite '%s': %s; docs/ci.md shows what it may hold",
                    path, strerror((int)-count));
    else if (set_folder(suite, path, failure) == 0)
        result = suite_parse(suite, path, bytes, (size_t)count, failure);
    if (fd >= 0)
        close(fd);
    free(bytes);
    return result;
}
