/* Hashes for tables that attackers cannot see, and for names of files. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_GOLDEN 0x9e3779b97f4a7c15ull /* 2^64 divided by the golden ratio */

/* Where a key belongs in a table of 2^bits places (Knuth, volume 3, "Hashing": multiplicative). */
static inline uint32_t hash_place(uint64_t key, unsigned int bits)
{
    return (uint32_t)((key * HASH_GOLDEN) >> (64 - bits));
}

/* A hash of what `hash` stands for, followed by a value. */
static inline uint64_t hash_add(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * HASH_GOLDEN;
}

/* As hash_add(), for hashes of which the low bits are used, too. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
    hash = hash_add(hash, value);
    return hash ^ hash >> 29;
}

#define HASH_BYTES_START 0xcbf29ce484222325ull

/* FNV-1a of bytes that follow those of `hash`; HASH_BYTES_START: of these bytes alone. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3ull;
    return hash;
}

/* FNV-1a of 32 bits.  Names that a run did not find are listed in the order of these hashes. */
static inline uint32_t hash_bytes32(const void *bytes, size_t count)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 16777619u;
    return hash;
}
