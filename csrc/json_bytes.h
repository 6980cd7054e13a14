/* Spans of bytes in JSON text, sixteen at a time. SSE2 is part of the x86-64 baseline, so there is no dispatch; elsewhere
 * eight bytes at a time in a 64-bit word. No function reads outside [p, end). */
#ifndef STRATADIFF_JSON_BYTES_H
#define STRATADIFF_JSON_BYTES_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define JSON_BLOCK 16
typedef __m128i json_block;

static inline json_block json_load(const uint8_t *p) { return _mm_loadu_si128((const __m128i *)p); }
static inline void json_store(uint8_t *p, json_block x) { _mm_storeu_si128((__m128i *)p, x); }
static inline json_block json_equal(json_block x, uint8_t c) { return _mm_cmpeq_epi8(x, _mm_set1_epi8((char)c)); }
static inline json_block json_either(json_block x, json_block y) { return _mm_or_si128(x, y); }
/* Bytes are compared as signed, so one comparison finds the controls and everything outside ASCII. */
static inline json_block json_not_plain(json_block x) { return _mm_cmplt_epi8(x, _mm_set1_epi8(0x20)); }
static inline json_block json_lower(json_block x) { return _mm_or_si128(x, _mm_set1_epi8(0x20)); }
static inline int json_any(json_block x) { return _mm_movemask_epi8(x) != 0; }
static inline int json_all(json_block x) { return _mm_movemask_epi8(x) == 0xFFFF; }
static inline int json_lowest(uint32_t mask) {
#if defined(_MSC_VER) && !defined(__clang__)
    unsigned long at;
    _BitScanForward(&at, mask);
    return (int)at;
#else
    return __builtin_ctz(mask);
#endif
}
/* How many bytes stand before the first one marked; for json_gap, before the first one not marked. */
static inline int json_first(json_block x) { return json_lowest((uint32_t)_mm_movemask_epi8(x)); }
static inline int json_gap(json_block x) { return json_lowest(~(uint32_t)_mm_movemask_epi8(x)); }
#else
#define JSON_BLOCK 8
typedef uint64_t json_block;
#define JSON_ONES 0x0101010101010101u
#define JSON_HIGH 0x8080808080808080u

static inline json_block json_load(const uint8_t *p) { json_block x; memcpy(&x, p, 8); return x; }
static inline void json_store(uint8_t *p, json_block x) { memcpy(p, &x, 8); }
/* A marked byte has its top bit set and no other; exact in every byte, as no carry leaves one. */
static inline json_block json_equal(json_block x, uint8_t c) {
    json_block y = x ^ (JSON_ONES * c);
    return ~(((y & ~JSON_HIGH) + ~JSON_HIGH) | y) & JSON_HIGH;
}
static inline json_block json_either(json_block x, json_block y) { return x | y; }
static inline json_block json_not_plain(json_block x) {
    return ((((x & ~JSON_HIGH) + JSON_ONES * 0x60) ^ JSON_HIGH) | x) & JSON_HIGH;
}
static inline json_block json_lower(json_block x) { return x | (JSON_ONES * 0x20); }
static inline int json_any(json_block x) { return x != 0; }
static inline int json_all(json_block x) { return x == JSON_HIGH; }
static inline int json_first(json_block x) {
    uint8_t bytes[8];
    int k = 0;
    memcpy(bytes, &x, 8);
    while (!bytes[k]) k++;
    return k;
}
static inline int json_gap(json_block x) { return json_first(~x & JSON_HIGH); }
#endif

/* First byte that a string cannot hold as itself without a closer look: '"', '\\', a control, or anything not ASCII. */
static inline const uint8_t *json_plain_end(const uint8_t *p, const uint8_t *end) {
    while (end - p >= JSON_BLOCK) {
        json_block x = json_load(p);
        json_block hit = json_either(json_either(json_equal(x, '"'), json_equal(x, '\\')), json_not_plain(x));
        if (json_any(hit)) return p + json_first(hit);
        p += JSON_BLOCK;
    }
    while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\') p++;
    return p;
}

/* First '"' or '\\'. */
static inline const uint8_t *json_text_end(const uint8_t *p, const uint8_t *end) {
    while (end - p >= JSON_BLOCK) {
        json_block x = json_load(p);
        json_block hit = json_either(json_equal(x, '"'), json_equal(x, '\\'));
        if (json_any(hit)) return p + json_first(hit);
        p += JSON_BLOCK;
    }
    while (p < end && *p != '"' && *p != '\\') p++;
    return p;
}

/* As json_text_end, copying what is passed to `out`, which ends at `limit`. The caller has made sure that it fits; a
 * whole block is stored only where there is room for one. */
static inline const uint8_t *json_text_copy(const uint8_t *p, const uint8_t *end, uint8_t **out, uint8_t *limit) {
    uint8_t *to = *out;
    while (end - p >= JSON_BLOCK && limit - to >= JSON_BLOCK) {
        json_block x = json_load(p);
        json_block hit = json_either(json_equal(x, '"'), json_equal(x, '\\'));
        json_store(to, x);
        if (json_any(hit)) {
            int k = json_first(hit);
            *out = to + k;
            return p + k;
        }
        p += JSON_BLOCK;
        to += JSON_BLOCK;
    }
    while (p < end && *p != '"' && *p != '\\') *to++ = *p++;
    *out = to;
    return p;
}

/* As json_text_copy, up to white space or punctuation: a number or a word. */
static inline const uint8_t *json_scalar_copy(const uint8_t *p, const uint8_t *end, uint8_t **out, uint8_t *limit) {
    uint8_t *to = *out;
    while (end - p >= JSON_BLOCK && limit - to >= JSON_BLOCK) {
        json_block x = json_load(p);
        /* No letter, digit, sign or point is a space, a control or outside ASCII; ']' and '}' differ in bit 0x20 only. */
        json_block hit = json_either(json_either(json_equal(x, ','), json_equal(json_lower(x), '}')),
                                     json_either(json_equal(x, ' '), json_not_plain(x)));
        json_store(to, x);
        if (json_any(hit)) {
            int k = json_first(hit);
            *out = to + k;
            return p + k;
        }
        p += JSON_BLOCK;
        to += JSON_BLOCK;
    }
    while (p < end && *p > 0x20 && *p != ',' && (*p | 0x20) != '}') *to++ = *p++;
    *out = to;
    return p;
}

/* First byte that is not JSON white space. */
static inline const uint8_t *json_space_end(const uint8_t *p, const uint8_t *end) {
    if (p < end && *p > 0x20) return p;
    while (end - p >= JSON_BLOCK) {
        json_block x = json_load(p);
        json_block space = json_either(json_either(json_equal(x, ' '), json_equal(x, '\n')),
                                       json_either(json_equal(x, '\r'), json_equal(x, '\t')));
        if (!json_all(space)) return p + json_gap(space);
        p += JSON_BLOCK;
    }
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    return p;
}

/* First bracket, brace or '"'. Bit 0x20 is all that tells '[' from '{' and ']' from '}'. */
static inline const uint8_t *json_mark_end(const uint8_t *p, const uint8_t *end) {
    while (end - p >= JSON_BLOCK) {
        json_block x = json_load(p), y = json_lower(x);
        json_block hit = json_either(json_either(json_equal(y, '{'), json_equal(y, '}')), json_equal(x, '"'));
        if (json_any(hit)) return p + json_first(hit);
        p += JSON_BLOCK;
    }
    while (p < end && (*p | 0x20) != '{' && (*p | 0x20) != '}' && *p != '"') p++;
    return p;
}

/* Length of the UTF-8 sequence at p, whose first byte is not ASCII; 0: it is not valid. No overlong form, no surrogate,
 * nothing above U+10FFFF (RFC 3629). */
static inline int json_utf8_size(const uint8_t *p, const uint8_t *end) {
    ptrdiff_t left = end - p;
    uint8_t c = p[0];
    if (c < 0xC2) return 0;
    if (c < 0xE0) return left >= 2 && (p[1] & 0xC0) == 0x80 ? 2 : 0;
    if (c < 0xF0) {
        if (left < 3 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80) return 0;
        return (c == 0xE0 && p[1] < 0xA0) || (c == 0xED && p[1] >= 0xA0) ? 0 : 3;
    }
    if (c > 0xF4 || left < 4 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80 || (p[3] & 0xC0) != 0x80) return 0;
    return (c == 0xF0 && p[1] < 0x90) || (c == 0xF4 && p[1] >= 0x90) ? 0 : 4;
}

/* First byte that is ASCII or does not start a valid sequence. */
static inline const uint8_t *json_utf8_end(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p >= 0x80) {
        int size = json_utf8_size(p, end);
        if (!size) break;
        p += size;
    }
    return p;
}

/* The first eight bytes of a key as a number that orders as the bytes do; a shorter key is filled with zeros. */
static inline uint64_t json_key_prefix(const uint8_t *p, ptrdiff_t size, const uint8_t *end) {
    uint64_t prefix = 0;
    if (end - p >= 8) {
        for (int k = 0; k < 8; k++) prefix = prefix << 8 | p[k]; /* compilers make this one load */
        if (size < 8) prefix = size ? prefix & ~(uint64_t)0 << (64 - 8 * size) : 0;
    } else {
        for (int k = 0; k < 8; k++) prefix = prefix << 8 | (k < size ? p[k] : 0);
    }
    return prefix;
}

/* A line feed and two spaces per level; returns past them. */
static inline uint8_t *json_indent(uint8_t *out, uint8_t *limit, ptrdiff_t level) {
    ptrdiff_t size = 2 * level;
    *out++ = '\n';
    if (size <= 16 && limit - out >= 16)
        memcpy(out, "                ", 16);
    else
        memset(out, ' ', (size_t)size);
    return out + size;
}

/* Value of a hexadecimal digit, 16 for any other byte. */
static inline uint32_t json_hex_digit(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10u : 16u;
}
#endif
