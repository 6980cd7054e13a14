"""Cosine similarity of document pairs under TF-IDF weights *(levels §1.1)*.

The weights are the doubles of the formula in its written order; nothing is reassociated, so that every machine gets
the same bits up to the C library's logarithm.
"""

from cpython.array cimport array, clone
from libc.math cimport log, sqrt

from buffers cimport PyBuffer_Release, Py_buffer, acquire_ints, check_bounds, free, int32_t, malloc, memcpy
from libc.stdlib cimport calloc
from libc.string cimport memset

cdef array DOUBLE = array("d")

cdef enum:
    SMALL = 64              # logarithms of term frequencies below are computed once


cdef struct Corpus:
    int32_t *ids
    int32_t *bounds
    Py_ssize_t pair_count
    Py_ssize_t vocabulary
    double *idf             # per term: ln((N + 1) / (df + 1)) + 1
    int32_t *stamp          # per term: the document that saw it last, from 1
    int32_t *left           # per term: its frequency in the pair's baseline document
    int32_t *right          # and in the candidate's
    int32_t *order          # the baseline document's terms in order of first occurrence
    double logarithms[64]


cdef inline double weight(const Corpus *self, int32_t term, int32_t frequency) noexcept nogil:
    cdef double logarithm = self.logarithms[frequency] if frequency < SMALL else log(<double> frequency)
    return (1.0 + logarithm) * self.idf[term]


cdef void weigh_terms(Corpus *self) noexcept nogil:
    cdef Py_ssize_t document, at, term
    cdef Py_ssize_t document_count = 2 * self.pair_count
    cdef int32_t id
    # `left` counts documents first; it and the stamps start as zeros.
    for document in range(document_count):
        for at in range(self.bounds[document], self.bounds[document + 1]):
            id = self.ids[at]
            if self.stamp[id] != document + 1:
                self.stamp[id] = <int32_t> document + 1
                self.left[id] += 1
    for term in range(self.vocabulary):
        self.idf[term] = log((<double> document_count + 1.0) / (<double> self.left[term] + 1.0)) + 1.0
        self.left[term] = 0
    self.logarithms[0] = 0.0
    for term in range(1, SMALL):
        self.logarithms[term] = log(<double> term)


cdef double similarity(Corpus *self, Py_ssize_t pair) noexcept nogil:
    cdef const int32_t *bounds = self.bounds
    cdef Py_ssize_t at, count = 0, k
    cdef Py_ssize_t other = pair + self.pair_count
    cdef double left_sum = 0.0, right_sum = 0.0, dot = 0.0, left_norm, right_norm, value
    cdef int32_t id
    for at in range(bounds[pair], bounds[pair + 1]):
        id = self.ids[at]
        if self.left[id] == 0:
            self.order[count] = id
            count += 1
        self.left[id] += 1
    for at in range(bounds[other], bounds[other + 1]):
        self.right[self.ids[at]] += 1
    for k in range(count):
        id = self.order[k]
        value = weight(self, id, self.left[id])
        left_sum += value * value
        if self.right[id]:
            dot += value * weight(self, id, self.right[id])
    for k in range(count):
        self.left[self.order[k]] = 0
    # The candidate's terms in the order they first stand in it: each is cleared where it is met.
    for at in range(bounds[other], bounds[other + 1]):
        id = self.ids[at]
        if self.right[id]:
            value = weight(self, id, self.right[id])
            right_sum += value * value
            self.right[id] = 0
    left_norm = sqrt(left_sum)
    right_norm = sqrt(right_sum)
    if left_norm < 1e-12 or right_norm < 1e-12:
        return 1.0 if left_norm < 1e-12 and right_norm < 1e-12 else 0.0
    value = dot / (left_norm * right_norm)
    return 0.0 if value < 0.0 else 1.0 if value > 1.0 else value


def similarities(object ids, object bounds, /):
    """Return the cosine similarity of every pair of documents.

    Parameters
    ----------
    ids : int32 buffer
        The terms of 2n documents one after another, as dense ids from 0: n of the baseline, then n of the candidate.
    bounds : int32 buffer, shape (2n + 1,)
        Where in `ids` each document starts, and the end of the last.

    Returns
    -------
    array.array of double, shape (n,)
        In [0, 1], not rounded. Two empty documents have 1.0, one empty 0.0.

    Raises
    ------
    ValueError
        If an argument is no int32 buffer, `bounds` has an even number of entries or reaches outside, or ids are not dense.
    MemoryError

    Notes
    -----
    Linear in the terms, memory too. Weight of a term in a document:
    ``(1 + ln tf) * (ln((2n + 1) / (df + 1)) + 1)``. Source: levels §1.1.
    """
    cdef Py_buffer[2] views
    cdef Corpus corpus
    cdef Py_ssize_t count, documents, at, longest = 0, pair
    cdef array result
    cdef int held = 0
    memset(&corpus, 0, sizeof(corpus))
    try:
        acquire_ints(ids, &views[0])
        held = 1
        acquire_ints(bounds, &views[1])
        held = 2
        count = views[0].len // 4
        documents = views[1].len // 4 - 1
        if documents < 0 or documents & 1:
            raise ValueError("bounds need an odd number of entries: two documents a pair, and the end")
        # Copies, because ids become indices: no other thread may change them after they were looked at.
        corpus.ids = <int32_t *> malloc(<size_t> (count + 1) * sizeof(int32_t))
        corpus.bounds = <int32_t *> malloc(<size_t> (documents + 1) * sizeof(int32_t))
        if corpus.ids == NULL or corpus.bounds == NULL:
            raise MemoryError
        if count:
            memcpy(corpus.ids, views[0].buf, <size_t> count * sizeof(int32_t))
        memcpy(corpus.bounds, views[1].buf, <size_t> (documents + 1) * sizeof(int32_t))
        check_bounds(corpus.bounds, documents + 1, count)
        corpus.pair_count = documents // 2
        for at in range(count):
            if corpus.ids[at] < 0 or corpus.ids[at] >= count:
                raise ValueError("ids must be dense: from 0, and fewer than there are terms")
            if corpus.ids[at] >= corpus.vocabulary:
                corpus.vocabulary = corpus.ids[at] + 1
        for at in range(documents):
            longest = max(longest, corpus.bounds[at + 1] - corpus.bounds[at])
        corpus.idf = <double *> malloc(<size_t> (corpus.vocabulary + 1) * sizeof(double))
        corpus.stamp = <int32_t *> calloc(<size_t> corpus.vocabulary + 1, sizeof(int32_t))
        corpus.left = <int32_t *> calloc(<size_t> corpus.vocabulary + 1, sizeof(int32_t))
        corpus.right = <int32_t *> calloc(<size_t> corpus.vocabulary + 1, sizeof(int32_t))
        corpus.order = <int32_t *> malloc(<size_t> (longest + 1) * sizeof(int32_t))
        if (corpus.idf == NULL or corpus.stamp == NULL or corpus.left == NULL or corpus.right == NULL
                or corpus.order == NULL):
            raise MemoryError
        result = clone(DOUBLE, corpus.pair_count, False)
        with nogil:
            weigh_terms(&corpus)
            for pair in range(corpus.pair_count):
                result.data.as_doubles[pair] = similarity(&corpus, pair)
        return result
    finally:
        free(corpus.ids)
        free(corpus.bounds)
        free(corpus.idf)
        free(corpus.stamp)
        free(corpus.left)
        free(corpus.right)
        free(corpus.order)
        while held:
            held -= 1
            PyBuffer_Release(&views[held])
