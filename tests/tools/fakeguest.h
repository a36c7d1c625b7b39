/* What all parts of fakeguest send and receive. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/run_ports.h"
#include "lib/trace/trace_writer.h"

#define EVENTS 2
#define SAMPLES_A_CHUNK 1000
#define CHUNK_BYTES 65536

enum { TRACE, OUTPUT, ERRORS, LOG, INPUT, CONTROL, CONSOLE, FILES, PORTS };

static int ports[PORTS];
static struct trace_writer meta_writer;
static struct trace_writer data_writer;
static uint8_t meta_buffer[TRACE_CHUNK_BYTES_MIN];
static uint8_t data_buffer[CHUNK_BYTES];
static uint64_t now_ticks;

static void send_all(int port, const void *bytes, size_t count)
{
    const char *p = bytes;

    while (count > 0) {
        ssize_t written = write(port, p, count);

        if (written < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (written <= 0)
            _exit(3);
        p += written;
        count -= (size_t)written;
    }
}

static void receive_all(int port, void *bytes, size_t count)
{
    char *p = bytes;

    while (count > 0) {
        ssize_t got = read(port, p, count);

        if (got <= 0)
            _exit(4);
        p += got;
        count -= (size_t)got;
    }
}

static void say(enum run_message_type type, uint64_t value)
{
    struct run_message message = {.type = type, .value = value};

    send_all(ports[CONTROL], &message, sizeof message);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void send_chunk(struct trace_writer *w)
{
    uint32_t bytes = trace_writer_finish(w);

    send_all(ports[TRACE], w->buffer, bytes);
}

static void send_start(enum hr_source source, uint16_t events)
{
    static const char *const names[EVENTS] = {"instructions", "cycles"};
    const struct hr_meta_clock clock = {1000000000, 0, 0, HR_CLOCK_VIRTUAL, 0};
    const struct hr_meta_sampling sampling = {
        .interval_ticks = 1000, .mode = HR_MODE_TIMER, .event_count = events, .ring_slots = 1024};
    struct hr_file_header header;

    trace_file_header(&header);
    send_all(ports[TRACE], &header, sizeof header);
    trace_writer_init(&meta_writer, meta_buffer, sizeof meta_buffer, HR_CPU_NONE, EVENTS);
    trace_writer_init(&data_writer, data_buffer, sizeof data_buffer, 0, EVENTS);
    trace_writer_begin(&meta_writer, HR_CHUNK_META);
    trace_writer_record(&meta_writer, HR_META_CLOCK, TRACE_NO_TIME, &clock, sizeof clock, NULL, 0);
    trace_writer_record(&meta_writer, HR_META_SAMPLING, TRACE_NO_TIME, &sampling, sizeof sampling,
                        NULL, 0);
    for (uint16_t i = 0; i < events; i++) {
        const struct hr_meta_event event = {
            .index = i, .source = source, .width_bits = 64, .flags = HR_EVENT_USER};

        trace_writer_record(&meta_writer, HR_META_EVENT, TRACE_NO_TIME, &event, sizeof event,
                            names[i], (uint32_t)strlen(names[i]));
    }
    send_chunk(&meta_writer);
}

static void send_data(void)
{
    trace_writer_begin(&data_writer, HR_CHUNK_DATA);
    for (int i = 0; i < SAMPLES_A_CHUNK; i++) {
        struct trace_slot slot = {.ip = 0x401000 + (now_ticks & 0xfff), .tid = 1, .cost_ticks = 9};

        now_ticks += 1000;
        slot.time = now_ticks;
        slot.counters[0] = now_ticks;
        slot.counters[1] = now_ticks * 2;
        if (trace_writer_sample(&data_writer, &slot) != 0)
            break;
    }
    send_chunk(&data_writer);
}

static void send_end(enum hr_exit_kind kind, uint32_t code)
{
    const struct hr_rec_exit end = {
        .time = now_ticks, .user_ticks = now_ticks, .kind = kind, .code = code};
    const struct hr_rec_stream stream = {
        .samples = data_writer.samples, .chunks = data_writer.sequence, .cpu = 0};

    trace_writer_begin(&meta_writer, HR_CHUNK_END);
    trace_writer_record(&meta_writer, HR_REC_EXIT, now_ticks, &end, sizeof end, NULL, 0);
    for (uint16_t i = 0; i < EVENTS; i++) {
        const struct hr_rec_total total = {.value = now_ticks * (i + 1u), .index = i};

        trace_writer_record(&meta_writer, HR_REC_TOTAL, TRACE_NO_TIME, &total, sizeof total, NULL,
                            0);
    }
    trace_writer_record(&meta_writer, HR_REC_STREAM, TRACE_NO_TIME, &stream, sizeof stream, NULL,
                        0);
    send_chunk(&meta_writer);
}

__attribute__((noreturn)) static void finish(enum hr_exit_kind kind, uint32_t code)
{
    send_end(kind, code);
    say(RUN_GUEST_DONE, 0);
    _exit(RUN_EXIT_DONE * 2 + 1);
}

/* Ends the run as the host asks when a stop message has come. */
static void obey(int wait_ms)
{
    struct pollfd p = {.fd = ports[CONTROL], .events = POLLIN};
    struct run_message message;

    if (poll(&p, 1, wait_ms) <= 0)
        return;
    receive_all(ports[CONTROL], &message, sizeof message);
    if (message.type == RUN_HOST_BROKEN)
        finish(HR_EXIT_SIGNAL, SIGPIPE);
    if (message.type == RUN_HOST_STOP)
        finish(message.flag ? HR_EXIT_TIMEOUT : HR_EXIT_SIGNAL, (uint32_t)message.value);
}

/* A pattern that shows every shift, swap and loss. */
static void send_pattern(uint64_t count)
{
    char bytes[4096];

    for (uint64_t done = 0; done < count;) {
        size_t now = count - done < sizeof bytes ? (size_t)(count - done) : sizeof bytes;

        for (size_t i = 0; i < now; i++)
            bytes[i] = (char)((done + i) * 2654435761u >> 13);
        send_all(ports[OUTPUT], bytes, now);
        done += now;
        obey(0);
    }
}

static void copy_input(void)
{
    char bytes[RUN_STDIN_FRAME_MAX];
    uint32_t count;

    do {
        say(RUN_GUEST_READ, sizeof bytes);
        receive_all(ports[INPUT], &count, sizeof count);
        if (count > sizeof bytes)
            _exit(5);
        receive_all(ports[INPUT], bytes, count);
        send_all(ports[OUTPUT], bytes, count);
    } while (count > 0);
}

static void play_normal(void)
{
    uint64_t chunks = setting("FAKEGUEST_CHUNKS", 10);

    for (uint64_t i = 0; i < chunks; i++) {
        send_data();
        obey(0);
    }
    send_pattern(setting("FAKEGUEST_BYTES", 0));
}
