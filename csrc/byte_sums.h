/* Sums of bytes, as they are or under a mask of 0x00 and 0xFF. Sizes are multiples of 64.
 * SSE2 is part of its architecture's baseline; elsewhere a loop that compilers vectorise. */
#ifndef STRATADIFF_BYTE_SUMS_H
#define STRATADIFF_BYTE_SUMS_H
#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
static inline __m128i load_bytes(const uint8_t *p) { return _mm_loadu_si128((const __m128i *)p); }

static inline uint64_t sum_of_lanes(__m128i a, __m128i b) {
    uint64_t lanes[2];
    _mm_storeu_si128((__m128i *)lanes, _mm_add_epi64(a, b));
    return lanes[0] + lanes[1];
}

static inline uint64_t masked_sum(const uint8_t *p, const uint8_t *mask, size_t n) {
    const __m128i zero = _mm_setzero_si128();
    __m128i a = zero, b = zero;
    size_t k;
    for (k = 0; k < n; k += 32) {
        a = _mm_add_epi64(a, _mm_sad_epu8(_mm_and_si128(load_bytes(p + k), load_bytes(mask + k)), zero));
        b = _mm_add_epi64(b, _mm_sad_epu8(_mm_and_si128(load_bytes(p + k + 16), load_bytes(mask + k + 16)), zero));
    }
    return sum_of_lanes(a, b);
}

static inline uint64_t byte_sum(const uint8_t *p, size_t n) {
    const __m128i zero = _mm_setzero_si128();
    __m128i a = zero, b = zero;
    size_t k;
    for (k = 0; k < n; k += 32) {
        a = _mm_add_epi64(a, _mm_sad_epu8(load_bytes(p + k), zero));
        b = _mm_add_epi64(b, _mm_sad_epu8(load_bytes(p + k + 16), zero));
    }
    return sum_of_lanes(a, b);
}
#else
static inline uint64_t masked_sum(const uint8_t *p, const uint8_t *mask, size_t n) {
    uint64_t total = 0;
    size_t k, i;
    for (k = 0; k < n; k += 64) {
        uint32_t part = 0;
        for (i = k; i < k + 64; i++) part += p[i] & mask[i];
        total += part;
    }
    return total;
}

static inline uint64_t byte_sum(const uint8_t *p, size_t n) {
    uint64_t total = 0;
    size_t k, i;
    for (k = 0; k < n; k += 64) {
        uint32_t part = 0;
        for (i = k; i < k + 64; i++) part += p[i];
        total += part;
    }
    return total;
}
#endif
#endif
