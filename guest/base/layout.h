/* The kernel's constants that assembly reads too: layout and interrupt vectors. */
#pragma once

#include "include/kernel_layout.h"

#define IST_BYTES 8192 /* a stack for NMIs and the like, aligned; its lowest word: struct cpu */

/* guest/sample/stack_frames.S: frames from one look at the room that is left to the next; and from
 * a struct trace_slot_stack to its word of that number. */
#define STACK_STEP 8
#define STACK_HEAD (8 + 8 * STACK_STEP)

#define SHARE_SHIFT 16 /* guest/sample/share.h has its reasons for these */
#define SHARE_RISE_SHIFT 5
#define SHARE_FALL_SHIFT 7

#define STEAL_LEAST_NS 5000 /* guest/cpu/paravirt.h */

/* Vectors: all from APIC_OWN_VECTORS (drivers/apic/apic.h) on. */
#define VECTOR_PRECISE 0xe9 /* the buffer of precise records is nearly full */
#define VECTOR_ATTENTION 0xea /* IPI between workload CPUs: guest/cpu/cross.h */
#define VECTOR_SAMPLE 0xeb /* IPI: take a sample */
#define VECTOR_TIMER 0xec /* sampling timer */
#define VECTOR_DEVICE 0xed /* virtio */
#define VECTOR_WAKE 0xee /* IPI: look at your queues */
#define VECTOR_SERVICE_TIMER 0xef
#define VECTOR_SPURIOUS 0xff

#define ATTENTION_BY_TIMER 1 /* the error of its trap_frame; 0: an interrupt brought it */
