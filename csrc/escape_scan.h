/* How far a text can be shown as it is. The scan validates UTF-8 on the way; it never looks behind `end`. */
#ifndef STRATADIFF_ESCAPE_SCAN_H
#define STRATADIFF_ESCAPE_SCAN_H
#include <stdint.h>
#include <string.h>

#include "byte_scan.h"
#include "escape_ranges.h"
#include "utf8.h"

/* First bytes of characters: their length where none that starts so is escaped, 0 where the character must be looked at. */
static const uint8_t CLEAN_LENGTH[256] = {
    0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0, 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,
    1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,1,1,1, 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0,
    0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
    0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,0,2,2,0,0,2,2,2, 0,0,0,3,3,3,3,3,3,3,3,3,3,0,3,0,0,4,4,0,0,0,0,0,0,0,0,0,0,0,0,0,
};

/* The end of the longest run of [p, end) that is shown as it is; *continuations grows by its continuation bytes. */
static inline const uint8_t *shown_run(const uint8_t *p, const uint8_t *end, int backslash, int surrogates,
                                       int64_t *continuations) {
    for (;;) {
#if defined(__SSE2__) || defined(_M_X64)
        const __m128i space = _mm_set1_epi8(0x20), del = _mm_set1_epi8(0x7F), slash = _mm_set1_epi8(backslash ? 0x5C : 0x7F);
        while (end - p >= 16) {
            /* Signed: bytes from 0x80 up are negative, so one comparison finds them and the controls. */
            const __m128i v = _mm_loadu_si128((const __m128i *)p);
            const int found = _mm_movemask_epi8(_mm_or_si128(
                _mm_cmplt_epi8(v, space), _mm_or_si128(_mm_cmpeq_epi8(v, del), _mm_cmpeq_epi8(v, slash))));
            if (found) {
                p += lowest_bit((uint64_t)found);
                break;
            }
            p += 16;
        }
#endif
        for (int plain = 0; plain < 16;) {
            uint32_t unit;
            int length;
            if (p >= end) return p;
            length = CLEAN_LENGTH[*p];
            if (length == 1) {
                p++;
                plain++;
                continue;
            }
            plain = 0;
            if (length == 2 && end - p >= 2 && is_continuation(p[1])) {
                p += 2;
                *continuations += 1;
            } else if (length == 3 && end - p >= 3 && is_continuation(p[1]) && is_continuation(p[2])) {
                p += 3;
                *continuations += 2;
            } else if (*p == 0x5C) {
                if (backslash) return p;
                p++;
            } else {
                length = utf8_unit(p, end, surrogates, &unit);
                if ((unit & UTF8_UNDECODABLE) || is_escaped(unit)) return p;
                p += length;
                *continuations += length - 1;
            }
        }
    }
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
