/* Writes events on the tracks of a Perfetto trace. */
#include <string.h>

#include "host/export/perfetto/perfetto_fields.h"
#include "host/export/perfetto/perfetto_packets.h"

#define SEQUENCE 1u /* ours, the only one */
#define ROW_BYTES 256u /* its packet has less */

void perfetto_packets_once(struct perfetto_packets *packets, uint64_t uuid, uint64_t parent,
                           const char *name)
{
    if (numbers_add(&packets->tracks, uuid))
        perfetto_packets_track(packets, uuid, parent, name, false);
}

/* The number of an interned name. */
static uint64_t name_of(struct perfetto_packets *packets, struct numbers *names, uint32_t field,
                        const char *name)
{
    bool added;
    uint64_t iid = numbers_of_text(names, name, &added);
    size_t mark, interned;

    if (!added)
        return iid;
    mark = perfetto_packets_begin(packets);
    interned = proto_begin(&packets->message, PACKET_INTERNED);
    perfetto_packets_string(packets, field, iid, name);
    proto_end(&packets->message, interned);
    perfetto_packets_end(packets, mark);
    return iid;
}

#define ARGUMENTS_MAX 40u /* of an event; more are left out */

static void put_argument(struct perfetto_packets *packets, uint64_t iid,
                         const struct perfetto_argument *argument)
{
    size_t mark = proto_begin(&packets->message, EVENT_ARGUMENT);

    proto_number(&packets->message, ARGUMENT_NAME_IID, iid);
    if (argument->text != NULL)
        proto_text(&packets->message, ARGUMENT_TEXT, argument->text);
    else
        proto_number(&packets->message, ARGUMENT_NUMBER, argument->number);
    proto_end(&packets->message, mark);
}

void perfetto_packets_detailed(struct perfetto_packets *packets, uint64_t ns,
                               enum perfetto_event type, uint64_t uuid, const char *name,
                               const struct perfetto_details *details)
{
    uint64_t iid = 0, names[ARGUMENTS_MAX];
    uint32_t count = details->count < ARGUMENTS_MAX ? details->count : ARGUMENTS_MAX;
    size_t mark, event;

    if (name != NULL)
        iid = name_of(packets, &packets->names, INTERNED_EVENT_NAMES, name);
    for (uint32_t i = 0; i < count; i++)
        names[i] = name_of(packets, &packets->arguments, INTERNED_ARGUMENT_NAMES,
                           details->arguments[i].name);
    mark = perfetto_packets_begin(packets);
    proto_number(&packets->message, PACKET_TIME, ns);
    event = proto_begin(&packets->message, PACKET_EVENT);
    proto_number(&packets->message, EVENT_TYPE, type);
    proto_number(&packets->message, EVENT_TRACK, uuid);
    if (iid != 0)
        proto_number(&packets->message, EVENT_NAME_IID, iid);
    for (uint32_t i = 0; i < count; i++)
        put_argument(packets, names[i], &details->arguments[i]);
    if (details->flow != 0)
        proto_fixed(&packets->message, details->flow_ends ? EVENT_FLOW_END : EVENT_FLOW,
                    details->flow);
    proto_end(&packets->message, event);
    perfetto_packets_end(packets, mark);
}

void perfetto_packets_event(struct perfetto_packets *packets, uint64_t ns, enum perfetto_event type,
                            uint64_t uuid, const char *name)
{
    perfetto_packets_detailed(packets, ns, type, uuid, name, &(struct perfetto_details){0});
}

void perfetto_packets_rate(struct perfetto_packets *packets, uint64_t ns, uint64_t uuid,
                           double value)
{
    uint64_t *row = perfetto_packets_add(packets, ns, PERFETTO_ROW_RATE);

    row[PERFETTO_ROW_TRACK] = uuid;
    memcpy(&row[PERFETTO_ROW_VALUE], &value, sizeof value);
}

size_t perfetto_packets_begin_message(struct proto *message, bool first)
{
    size_t mark = proto_begin(message, TRACE_PACKET);

    proto_number(message, PACKET_SEQUENCE, SEQUENCE);
    proto_number(message, PACKET_FLAGS, FLAG_NEEDS_STATE | (first ? FLAG_CLEARED : 0));
    return mark;
}

uint64_t *perfetto_packets_add(struct perfetto_packets *packets, uint64_t ns,
                               enum perfetto_row kind)
{
    uint64_t *row;

    row_team_batch(packets->team, PERFETTO_ROW_WORDS, 0, ROW_BYTES);
    row = row_team_row(packets->team, PERFETTO_ROW_WORDS);
    row[0] = kind;
    row[1] = ns;
    return row;
}

static void put_rate(struct proto *message, const uint64_t *row)
{
    size_t event = proto_begin(message, PACKET_EVENT);
    double value;

    memcpy(&value, &row[PERFETTO_ROW_VALUE], sizeof value);
    proto_number(message, EVENT_TYPE, PERFETTO_COUNTER);
    proto_number(message, EVENT_TRACK, row[PERFETTO_ROW_TRACK]);
    proto_double(message, EVENT_DOUBLE, value);
    proto_end(message, event);
}

static void put_sample(struct proto *message, const uint64_t *row)
{
    size_t sample = proto_begin(message, PACKET_SAMPLE);

    proto_number(message, SAMPLE_CPU, row[PERFETTO_ROW_CPU]);
    proto_number(message, SAMPLE_PID, row[PERFETTO_ROW_PID]);
    proto_number(message, SAMPLE_TID, row[PERFETTO_ROW_TID]);
    proto_number(message, SAMPLE_CALLSTACK, row[PERFETTO_ROW_CALLSTACK]);
    proto_number(message, SAMPLE_MODE,
                 (row[PERFETTO_ROW_FLAGS] & HR_SAMPLE_KERNEL) != 0 ? MODE_KERNEL : MODE_USER);
    proto_end(message, sample);
}

/* The message never grows beyond its room. */
void perfetto_packets_row(void *, struct output *out, const uint64_t *row, const char * /*bytes*/)
{
    uint8_t room[ROW_BYTES];
    struct proto message = {.bytes = room, .room = sizeof room};
    size_t mark = perfetto_packets_begin_message(&message, false);

    proto_number(&message, PACKET_TIME, row[1]);
    (row[0] == PERFETTO_ROW_RATE ? put_rate : put_sample)(&message, row);
    proto_end(&message, mark);
    output_bytes(out, (const char *)room, message.used);
}
