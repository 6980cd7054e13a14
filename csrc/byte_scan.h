/* Positions of one byte value in a block of 64, as a bit mask: SSE2 and NEON are part of their architectures' baselines,
 * so there is no dispatch; elsewhere a loop that compilers turn into something decent. */
#ifndef STRATADIFF_BYTE_SCAN_H
#define STRATADIFF_BYTE_SCAN_H
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
static inline uint64_t byte_mask_64(const uint8_t *p, uint8_t value) {
    const __m128i needle = _mm_set1_epi8((char)value);
    uint64_t m0 = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p), needle));
    uint64_t m1 = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + 16)), needle));
    uint64_t m2 = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + 32)), needle));
    uint64_t m3 = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + 48)), needle));
    return m0 | (m1 << 16) | (m2 << 32) | (m3 << 48);
}
#else
static inline uint64_t byte_mask_64(const uint8_t *p, uint8_t value) {
    uint64_t mask = 0;
    for (int k = 0; k < 64; k++) mask |= (uint64_t)(p[k] == value) << k;
    return mask;
}
#endif

static inline int lowest_bit(uint64_t mask) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(mask);
#else
    int k = 0;
    while (!(mask & 1)) { mask >>= 1; k++; }
    return k;
#endif
}

static inline uint64_t load_u64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }
static inline uint32_t load_u32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }

#if defined(__SIZEOF_INT128__)
static inline uint64_t mix_u64(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}
#else
static inline uint64_t mix_u64(uint64_t a, uint64_t b) {
    uint64_t h = (a ^ (b >> 32)) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
    h = (h ^ b) * 0xBF58476D1CE4E5B9u;
    return h ^ (h >> 32);
}
#endif

/* A keyed 64-bit hash in the manner of wyhash: 16 bytes per multiplication, the end read with overlapping loads.
 * It only filters; equality is always decided on the bytes. */
static inline uint64_t hash_bytes(const uint8_t *p, size_t n, uint64_t seed) {
    uint64_t a, b, h = seed ^ 0xA0761D6478BD642Fu;
    size_t left = n;
    if (n >= 16) {
        while (left > 16) {
            h = mix_u64(load_u64(p) ^ 0xE7037ED1A0B428DBu, load_u64(p + 8) ^ h);
            p += 16;
            left -= 16;
        }
        a = load_u64(p + left - 16);
        b = load_u64(p + left - 8);
    } else if (n >= 8) {
        a = load_u64(p);
        b = load_u64(p + n - 8);
    } else if (n >= 4) {
        a = load_u32(p);
        b = load_u32(p + n - 4);
    } else if (n > 0) {
        a = ((uint64_t)p[0] << 16) | ((uint64_t)p[n >> 1] << 8) | p[n - 1];
        b = 0;
    } else {
        a = b = 0;
    }
    return mix_u64(a ^ 0x8EBC6AF09C88C6E3u ^ n, b ^ h);
}
#endif
