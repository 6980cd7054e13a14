/* Counters for many columns at once: plane p holds bit p of every column's counter, 64 columns to a word. Adding bit sets to
 * them by carry-save adders takes about eight operations per set and word (Harley-Seal, as in Mula, Kurz and Lemire, "Faster
 * Population Counts Using AVX2 Instructions", 2018), where counting the bits of every column takes that for each column. */
#ifndef STRATADIFF_BIT_COUNTS_H
#define STRATADIFF_BIT_COUNTS_H
#include <stddef.h>
#include <stdint.h>
#include "apart.h"

/* One of the three bits goes on as the sum, two as a carry. */
#define STRATADIFF_ADD(sum, carry, x, y) \
    do { \
        uint64_t either = (sum) ^ (x); \
        (carry) = ((sum) & (x)) | (either & (y)); \
        (sum) = either ^ (y); \
    } while (0)

/* Adds eight bit sets, words `from` to `to` - 1 of them. planes has `depth` planes of `words` words, then one for carries. */
static inline void add_eight(uint64_t *planes, ptrdiff_t words, const uint64_t *const *sets, ptrdiff_t from, ptrdiff_t to,
                             int depth) {
    uint64_t *ones = planes;
    uint64_t *twos = planes + words;
    uint64_t *fours = planes + 2 * words;
    uint64_t *carries = planes + depth * words;
    const uint64_t *s0 = sets[0], *s1 = sets[1];
    const uint64_t *s2 = sets[2], *s3 = sets[3];
    const uint64_t *s4 = sets[4], *s5 = sets[5];
    const uint64_t *s6 = sets[6], *s7 = sets[7];
    ptrdiff_t w;
    int p;
    STRATADIFF_APART
    for (w = from; w < to; w++) {
        uint64_t one = ones[w], two = twos[w], four = fours[w], t0, t1, f0, f1;
        STRATADIFF_ADD(one, t0, s0[w], s1[w]);
        STRATADIFF_ADD(one, t1, s2[w], s3[w]);
        STRATADIFF_ADD(two, f0, t0, t1);
        STRATADIFF_ADD(one, t0, s4[w], s5[w]);
        STRATADIFF_ADD(one, t1, s6[w], s7[w]);
        STRATADIFF_ADD(two, f1, t0, t1);
        STRATADIFF_ADD(four, t0, f0, f1);
        ones[w] = one;
        twos[w] = two;
        fours[w] = four;
        carries[w] = t0;
    }
    for (p = 3; p < depth; p++) {
        uint64_t *plane = planes + p * words;
        STRATADIFF_APART
        for (w = from; w < to; w++) {
            uint64_t old = plane[w];
            plane[w] = old ^ carries[w];
            carries[w] &= old;
        }
    }
}

/* Writes the counters of words `from` to `to` - 1: 64 to a word, and of a word all. */
static inline void read_counters(const uint64_t *planes, ptrdiff_t words, ptrdiff_t from, ptrdiff_t to, int depth,
                                 int32_t *out) {
    ptrdiff_t w;
    int b, c, p, first;
    for (w = from; w < to; w++)
        for (b = 0; b < 64; b += 8) {
            int32_t *columns = out + 64 * w + b;
            for (c = 0; c < 8; c++) columns[c] = 0;
            for (first = 0; first < depth; first += 8) {
                /* Byte p of x: a bit of each of eight counters. After the transposition byte c: eight bits of counter c. */
                uint64_t x = 0, t;
                int last = depth < first + 8 ? depth : first + 8;
                for (p = first; p < last; p++) x |= (planes[p * words + w] >> b & 255) << 8 * (p - first);
                t = (x ^ x >> 7) & 0x00AA00AA00AA00AAu;
                x ^= t ^ t << 7;
                t = (x ^ x >> 14) & 0x0000CCCC0000CCCCu;
                x ^= t ^ t << 14;
                t = (x ^ x >> 28) & 0x00000000F0F0F0F0u;
                x ^= t ^ t << 28;
                for (c = 0; c < 8; c++) columns[c] |= (int32_t)((x >> 8 * c & 255) << first);
            }
        }
}
#endif
