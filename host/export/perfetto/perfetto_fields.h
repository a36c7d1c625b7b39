/* The published field numbers of packets and events in a Perfetto trace: protos/perfetto/trace in
 * https://github.com/google/perfetto. */
#pragma once

enum { TRACE_PACKET = 1 };
enum { PACKET_CLOCKS = 6, PACKET_TIME = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11 };
enum { PACKET_INTERNED = 12, PACKET_FLAGS = 13, PACKET_TRACK = 60, PACKET_SAMPLE = 66 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { EVENT_ARGUMENT = 4, EVENT_TYPE = 9, EVENT_NAME_IID, EVENT_TRACK, EVENT_DOUBLE = 44 };
enum { EVENT_FLOW = 47, EVENT_FLOW_END = 48 };
enum { INTERNED_EVENT_NAMES = 2, INTERNED_ARGUMENT_NAMES = 3 };
enum { ARGUMENT_NAME_IID = 1, ARGUMENT_NUMBER = 3, ARGUMENT_TEXT = 6 };
enum { SAMPLE_CPU = 1, SAMPLE_PID, SAMPLE_TID, SAMPLE_CALLSTACK, SAMPLE_MODE };
enum { MODE_KERNEL = 1, MODE_USER = 2 };
