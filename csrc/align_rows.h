/* One row of an alignment table at a time, in loops that compilers vectorise: all but the one that goes from cell to cell.
 * Steps: 0 a pair, 1 from the left (the candidate's inserted), 2 from above (the baseline's dropped). */
#ifndef STRATADIFF_ALIGN_ROWS_H
#define STRATADIFF_ALIGN_ROWS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "apart.h"

/* Blocks. A cell holds, in halves and times four, its cost above that of gaps alone, so that gaps cost nothing and no number
 * grows with the sides' difference. The two lowest bits are the step: the smallest of three such numbers is the cheapest cell
 * and, of equally cheap ones, the one with the first step. */
enum { EQUAL_BLOCKS = -16, SAME_KIND = -12, OTHER_KIND = 4 };

/* `row` holds the row before, without steps, from column 0 on; `best` has room for a row. */
static inline void block_row(int32_t id, int32_t kind, const int32_t *ids, const int32_t *kinds, ptrdiff_t columns,
                             int32_t *row, int32_t *best, uint8_t *steps) {
    ptrdiff_t j;
    int32_t left = row[0];
    STRATADIFF_APART
    for (j = 0; j < columns; j++) {
        int32_t other_id = ids[j], other_kind = kinds[j], above = row[j + 1] | 2, pair = row[j];
        int32_t unequal = other_kind == kind ? SAME_KIND : OTHER_KIND;
        pair += other_id == id ? EQUAL_BLOCKS : unequal;
        best[j] = pair < above ? pair : above;
    }
    for (j = 0; j < columns; j++) {
        int32_t cell = best[j] & ~3;
        left = left < cell ? left : cell;
        row[j + 1] = left;
    }
    STRATADIFF_APART
    for (j = 0; j < columns; j++) {
        int32_t cell = best[j], from_left = row[j] | 1;
        best[j] = (cell < from_left ? cell : from_left) & 3;
    }
    for (j = 0; j + 4 <= columns; j += 4)
        steps[j / 4] = (uint8_t)(best[j] | best[j + 1] << 2 | best[j + 2] << 4 | best[j + 3] << 6);
    if (j < columns) {
        steps[j / 4] = 0;
        for (; j < columns; j++) steps[j / 4] |= (uint8_t)(best[j] << 2 * (j & 3));
    }
}

static inline uint64_t is_negative(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63;
}

/* Turns: columns `low` to `high`, 1 or more, of M, X and Y; `found` has room for them. Every sum and minimum is the definition's.
 * No cell is below the best of the three, so |best - m| is m - best. */
static inline void turn_row(const double *m0, const double *x0, const double *y0, double *m1, double *x1, double *y1,
                            const double *costs, ptrdiff_t low, ptrdiff_t high, uint64_t *found, uint8_t *steps) {
    const double open = 0.60, extend = 0.15, near = 1e-12;
    ptrdiff_t j, k, count = high + 1 - low;
    double left = x1[low - 1];
    STRATADIFF_APART
    for (j = low; j <= high; j++) {
        double least = x0[j - 1] < m0[j - 1] ? x0[j - 1] : m0[j - 1];
        double opened = m0[j] + open, extended = y0[j] + extend;
        least = y0[j - 1] < least ? y0[j - 1] : least;
        m1[j] = least + costs[j - 1];
        y1[j] = extended < opened ? extended : opened;
    }
    for (j = low; j <= high; j++) {
        double opened = m1[j - 1] + open, extended = left + extend;
        left = extended < opened ? extended : opened;
        x1[j] = left;
    }
    STRATADIFF_APART
    for (k = 0; k < count; k++) {
        double m = m1[low + k], x = x1[low + k], y = y1[low + k];
        double best = x < m ? x : m;
        best = y < best ? y : best;
        uint64_t no_pair = 1 - is_negative(m - best - near), no_left = 1 - is_negative(x - best - near);
        found[k] = no_pair + (no_pair & no_left);
    }
    for (k = 0; k + 4 <= count; k += 4)
        steps[k / 4] = (uint8_t)(found[k] | found[k + 1] << 2 | found[k + 2] << 4 | found[k + 3] << 6);
    if (k < count) {
        steps[k / 4] = 0;
        for (; k < count; k++) steps[k / 4] |= (uint8_t)(found[k] << 2 * (k & 3));
    }
}

/* Adds 0.25*(1 - sim) and 0.15*[g differs] to the costs of a row's pairs. `size` is above 0. */
static inline void add_texts(const int32_t *texts, const int32_t *stops, const double *sizes, const int32_t *common,
                             int32_t text, int32_t stop, double size, ptrdiff_t low, ptrdiff_t high, double *costs) {
    ptrdiff_t j;
    STRATADIFF_APART
    for (j = low; j < high; j++) {
        double both = (double)common[j];
        double similarity = both / (size + sizes[j] - both);
        /* 0.0 and 1.0 without a comparison, which would keep compilers from doing several at a time. */
        uint32_t t = (uint32_t)texts[j] ^ (uint32_t)text, s = (uint32_t)stops[j] ^ (uint32_t)stop;
        double other_text = (double)(int32_t)((t | (0 - t)) >> 31), other_stop = (double)(int32_t)((s | (0 - s)) >> 31);
        costs[j] = costs[j] + 0.25 * ((1.0 - similarity) * other_text) + 0.15 * other_stop;
    }
}
#endif
