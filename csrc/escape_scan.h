/* How far a text can be shown as it is. The scan validates UTF-8 on the way; it never looks behind `end`. */
#ifndef STRATADIFF_ESCAPE_SCAN_H
#define STRATADIFF_ESCAPE_SCAN_H
#include <stdint.h>
#include <string.h>

#include "byte_scan.h"
#include "escape_ranges.h"
#include "utf8.h"

static inline int is_clean_ascii(uint8_t byte) { return byte >= 0x20 && byte < 0x7F && byte != 0x5C; }

#if defined(__SSE2__) || defined(_M_X64)
#define ESCAPE_SCAN_BLOCKS 1

static inline int count_bits(uint64_t mask) {
    mask -= (mask >> 1) & 0x5555555555555555u;
    mask = (mask & 0x3333333333333333u) + ((mask >> 2) & 0x3333333333333333u);
    return (int)((((mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u) >> 56);
}

/* One block of 64 bytes that starts at a unit boundary. Returns how many bytes of whole characters at its start are shown as
 * they are; *stopped says whether the next unit is escaped (or must be looked at by the caller). */
static inline int shown_block(const uint8_t *p, int backslash, int surrogates, int64_t *continuations, int *stopped) {
    const __m128i below_lead = _mm_set1_epi8(-64), slash = _mm_set1_epi8(backslash ? 0x5C : 0x7F);
    uint64_t high = 0, cont = 0, three = 0, four = 0, look = 0, plain = 0, wanted, lead, over;
    int k, length = 64;
    for (k = 0; k < 4; k++) {
        /* Signed comparisons: 0x80 to 0xFF are -128 to -1. */
        const __m128i v = _mm_loadu_si128((const __m128i *)(p + 16 * k));
        const __m128i lead_3 = _mm_cmpgt_epi8(v, _mm_set1_epi8(-33));
        /* Leads some of whose characters are escaped, and their neighbours: up to C2, D8 to DC, E0 to E2, ED and up. */
        const __m128i suspect = _mm_or_si128(
            _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(-61)), _mm_cmpgt_epi8(v, _mm_set1_epi8(-20))),
            _mm_or_si128(_mm_and_si128(lead_3, _mm_cmplt_epi8(v, _mm_set1_epi8(-29))),
                         _mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8(-41)), _mm_cmplt_epi8(v, _mm_set1_epi8(-35)))));
        const __m128i special = _mm_or_si128(
            _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
            _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(0x7F)), _mm_cmpeq_epi8(v, slash)));
        high |= (uint64_t)(uint32_t)_mm_movemask_epi8(v) << 16 * k;
        cont |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmplt_epi8(v, below_lead)) << 16 * k;
        three |= (uint64_t)(uint32_t)_mm_movemask_epi8(lead_3) << 16 * k;
        four |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpgt_epi8(v, _mm_set1_epi8(-17))) << 16 * k;
        look |= (uint64_t)(uint32_t)_mm_movemask_epi8(suspect) << 16 * k;
        plain |= (uint64_t)(uint32_t)_mm_movemask_epi8(special) << 16 * k;
    }
    lead = high & ~cont;
    three &= lead;
    four &= lead;
    look &= lead;
    plain &= ~high;
    *stopped = 0;
    /* A character that the block's end cuts is left to the next block. */
    over = (lead & (uint64_t)1 << 63) | (three & (uint64_t)3 << 62) | (four & (uint64_t)7 << 61);
    if (over) {
        length = lowest_bit(over);
    }
    if (plain && lowest_bit(plain) < length) {
        length = lowest_bit(plain);
        *stopped = 1;
    }
    {
        /* The byte at `length` counts too: there a character that it cuts short lacks its continuation. */
        const uint64_t inside = length >= 63 ? ~(uint64_t)0 : ((uint64_t)2 << length) - 1;
        wanted = (lead << 1 | three << 2 | four << 3) & inside;
        if (wanted != (cont & inside)) {
            /* Not UTF-8 somewhere: stop before the first broken character. */
            const int broken = lowest_bit(wanted ^ (cont & inside));
            length = broken;
            for (k = 1; k <= 3 && k <= length; k++) {
                if (lead >> (length - k) & 1) {
                    length -= k;
                    break;
                }
                if (!(cont >> (length - k) & 1)) break;
            }
            *stopped = 1;
        }
    }
    look &= length == 64 ? ~(uint64_t)0 : ((uint64_t)1 << length) - 1;
    while (look) {
        uint32_t unit;
        k = lowest_bit(look);
        look &= look - 1;
        utf8_unit(p + k, p + 64, surrogates, &unit);
        if ((unit & UTF8_UNDECODABLE) || is_escaped(unit)) {
            length = k;
            *stopped = 1;
            break;
        }
    }
    *continuations += count_bits(length == 64 ? cont : cont & (((uint64_t)1 << length) - 1));
    return length;
}
#endif

/* The end of the longest run of [p, end) that is shown as it is; *continuations grows by its continuation bytes. */
static inline const uint8_t *shown_run(const uint8_t *p, const uint8_t *end, int backslash, int surrogates,
                                       int64_t *continuations) {
    for (;;) {
        uint32_t unit;
        int length;
#ifdef ESCAPE_SCAN_BLOCKS
        const __m128i space = _mm_set1_epi8(0x20), del = _mm_set1_epi8(0x7F), slash = _mm_set1_epi8(backslash ? 0x5C : 0x7F);
        while (end - p >= 16) {
            /* One signed comparison finds controls and everything that is not ASCII. */
            const __m128i v = _mm_loadu_si128((const __m128i *)p);
            const int found = _mm_movemask_epi8(_mm_or_si128(
                _mm_cmplt_epi8(v, space), _mm_or_si128(_mm_cmpeq_epi8(v, del), _mm_cmpeq_epi8(v, slash))));
            if (found) {
                p += lowest_bit((uint64_t)found);
                break;
            }
            p += 16;
        }
        if (p < end && *p >= 0x80) {
            int stopped = 0;
            while (end - p >= 64 && !stopped) p += shown_block(p, backslash, surrogates, continuations, &stopped);
        }
#endif
        if (p >= end) return p;
        /* One unit at a time: the end of the text, and whatever stopped a block. */
        if (is_clean_ascii(*p)) {
            p++;
            continue;
        }
        if (*p == 0x5C) {
            if (backslash) return p;
            p++;
            continue;
        }
        length = utf8_unit(p, end, surrogates, &unit);
        if ((unit & UTF8_UNDECODABLE) || is_escaped(unit)) return p;
        p += length;
        *continuations += length - 1;
    }
}

static inline int needs_escape(uint32_t unit, int backslash) {
    return (unit & UTF8_UNDECODABLE) || (unit == 0x5C ? backslash : is_escaped(unit));
}

/* The escape of one unit, at most 12 bytes; returns its length. */
static inline int write_escape(uint32_t unit, uint8_t *out) {
    static const char HEX[] = "0123456789abcdef";
    int at = 0, shift;
    if (unit & UTF8_UNDECODABLE) {
        out[0] = '\\';
        out[1] = 'x';
        out[2] = (uint8_t)HEX[(unit >> 4) & 15];
        out[3] = (uint8_t)HEX[unit & 15];
        return 4;
    }
    if (unit == '\\') {
        out[0] = out[1] = '\\';
        return 2;
    }
    if (unit > 0xFFFF) {
        const uint32_t high = 0xD7C0 + (unit >> 10);
        out[at++] = '\\';
        out[at++] = 'u';
        for (shift = 12; shift >= 0; shift -= 4) out[at++] = (uint8_t)HEX[(high >> shift) & 15];
        unit = 0xDC00 | (unit & 0x3FF);
    }
    out[at++] = '\\';
    out[at++] = 'u';
    for (shift = 12; shift >= 0; shift -= 4) out[at++] = (uint8_t)HEX[(unit >> shift) & 15];
    return at;
}
#endif
