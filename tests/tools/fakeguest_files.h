/* The parts of fakeguest in which a program's files come back. */
#pragma once

#include "tests/tools/fakeguest.h"

static void send_file(uint32_t type, uint64_t id, uint64_t offset, const void *bytes,
                      uint32_t count)
{
    const struct run_file_message m = {.type = type,
                                       .bytes = count,
                                       .id = id,
                                       .offset = offset,
                                       .mode = 06751,
                                       .modified = 1700000000123456789};

    send_all(ports[FILES], &m, sizeof m);
    send_all(ports[FILES], bytes, count);
}

static void send_path(uint32_t type, uint64_t id, uint64_t offset, const char *path)
{
    send_file(type, id, offset, path, (uint32_t)strlen(path));
}

/* A small file, one with holes, one that grew piece by piece and backwards, an empty one. */
static void send_contents(void)
{
    static char block[RUN_FILE_BYTES_MAX];

    memset(block, 'b', sizeof block);
    send_file(RUN_FILE_DATA, 1, 0, "hello\n", 6);
    send_file(RUN_FILE_DATA, 2, 1 << 20, block, sizeof block);
    for (uint64_t i = 0; i < 8; i++) {
        memset(block, (int)('0' + i), sizeof block);
        send_file(RUN_FILE_DATA, UINT64_MAX, (7 - i) * sizeof block, block, sizeof block);
    }
    send_file(RUN_FILE_DATA, 1, 1, "E", 1);
}

static void play_files(void)
{
    play_normal();
    send_contents();
    send_path(RUN_FILE_DIRECTORY, 0, 0, "/out");
    send_path(RUN_FILE_NAME, 1, 5, "/out/hello");
    send_path(RUN_FILE_NAME, 2, (1 << 20) + (1 << 18), "/out/holes");
    send_path(RUN_FILE_NAME, UINT64_MAX, 8 * RUN_FILE_BYTES_MAX, "/out/deep/er/pieces");
    send_path(RUN_FILE_NAME, 77, 0, "/empty");
    send_path(RUN_FILE_LINK, 0, 9, "/out/link/etc/passwd");
    send_path(RUN_FILE_REMOVED, 0, 0, "/etc/passwd");
    send_path(4711, 0, 0, "of a newer guest");
    send_path(RUN_FILE_MISSING, 0, 0, "/no/such/file");
    send_path(RUN_FILE_MISSING, 0, 0, "/etc/passwd");
    send_path(RUN_FILE_MISSING, 0, 0, "/no/escape\x1b[31m");
    send_path(RUN_FILE_END, 0, 3, "");
}

static void play_files_death(void)
{
    send_data();
    send_contents();
    kill(getpid(), SIGKILL);
}

/* FAKEGUEST_BAD says which of these. */
static void play_files_bad(void)
{
    static const char *const names[] = {"/../up",
                                        "relative",
                                        "/a//b",
                                        "/",
                                        "/a/./b",
                                        "",
                                        "/a/",
                                        "/link/in",
                                        "/deep/../x",
                                        "/dir",
                                        "/file/in",
                                        "/microtome-incomplete-000/7",
                                        "/dir/microtome-incomplete-1"};
    static char large[RUN_FILE_BYTES_MAX];
    struct run_file_message m = {.type = RUN_FILE_DATA, .bytes = UINT32_MAX};
    uint64_t kind = setting("FAKEGUEST_BAD", 0);

    send_data();
    send_path(RUN_FILE_LINK, 0, 5, "/link/tmp");
    send_path(RUN_FILE_DIRECTORY, 0, 0, "/dir");
    send_path(RUN_FILE_NAME, 9, 0, "/file");
    send_file(RUN_FILE_DATA, 1, 0, "x", 1);
    memset(large, 'x', sizeof large);
    if (kind < sizeof names / sizeof names[0])
        send_path(RUN_FILE_NAME, 1, 1, names[kind]);
    else if (kind == 20)
        send_all(ports[FILES], &m, sizeof m);
    else if (kind == 21)
        send_file(RUN_FILE_DATA, 1, UINT64_MAX, "x", 1);
    else if (kind == 22)
        send_path(RUN_FILE_NAME, 1, UINT64_MAX, "/huge");
    else if (kind == 23)
        send_file(RUN_FILE_NAME, 1, 1, "/nul\0x", 6);
    else if (kind == 24)
        send_path(RUN_FILE_LINK, 0, 100, "/short");
    else if (kind == 25)
        send_file(RUN_FILE_NAME, 1, 1, large, sizeof large);
    else if (kind == 26)
        for (uint64_t id = 2;; id++) { /* without end */
            for (uint64_t i = 0; i < 16; i++)
                send_file(RUN_FILE_DATA, id, i * sizeof large, large, sizeof large);
            obey(0);
        }
    else if (kind == 28)
        for (;;) /* names without end */
            send_path(RUN_FILE_DIRECTORY, 0, 0, "/again");
    else if (kind == 27)
        for (uint64_t i = 0; i < 1000; i++)
            send_file(RUN_FILE_DATA, 2, i * sizeof large, large, sizeof large);
    for (;;)
        obey(1000);
}
