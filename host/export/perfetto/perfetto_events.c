/* Writes events on the tracks of a Perfetto trace. */
#include "host/export/perfetto/perfetto_fields.h"
#include "host/export/perfetto/perfetto_packets.h"

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
    size_t mark = perfetto_packets_begin(packets);
    size_t event;

    proto_number(&packets->message, PACKET_TIME, ns);
    event = proto_begin(&packets->message, PACKET_EVENT);
    proto_number(&packets->message, EVENT_TYPE, PERFETTO_COUNTER);
    proto_number(&packets->message, EVENT_TRACK, uuid);
    proto_double(&packets->message, EVENT_DOUBLE, value);
    proto_end(&packets->message, event);
    perfetto_packets_end(packets, mark);
}
