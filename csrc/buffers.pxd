# Inline helpers every kernel shares: acquiring buffers, growing int32 lists, making the results.
#
# Raw pointers over the buffer protocol, not typed memoryviews: a memoryview argument costs about as much as a whole
# call on a tiny text, and its support code costs start-up time in every module.

from cpython.array cimport array, clone
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, Py_buffer, PyObject_GetBuffer, PyBuffer_Release,
)
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define STRATADIFF_LIKELY(x) __builtin_expect(!!(x), 1)
    #define STRATADIFF_PREFETCH(p) __builtin_prefetch(p)
    #else
    #define STRATADIFF_LIKELY(x) (x)
    #define STRATADIFF_PREFETCH(p) ((void)0)
    #endif
    """
    bint likely "STRATADIFF_LIKELY" (bint) noexcept nogil
    void prefetch "STRATADIFF_PREFETCH" (const void *) noexcept nogil


cdef inline int acquire(object source, Py_buffer *view) except -1:
    try:
        PyObject_GetBuffer(source, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    except BufferError as error:
        raise ValueError(f"expected a contiguous buffer: {error}") from None
    if view.ndim != 1:
        PyBuffer_Release(view)
        raise ValueError("expected a buffer of one dimension")
    if view.itemsize and view.len // view.itemsize > 2147483645:
        # Offsets are int32 throughout, with one position past the end (see line_index).
        PyBuffer_Release(view)
        raise OverflowError("more than 2147483645 elements cannot be indexed; split them")
    return 0


cdef inline int acquire_bytes(object source, Py_buffer *view) except -1:
    acquire(source, view)
    if view.itemsize != 1:
        PyBuffer_Release(view)
        raise ValueError("expected a buffer of bytes")
    return 0


cdef inline int acquire_ints(object source, Py_buffer *view) except -1:
    acquire(source, view)
    cdef const char *code = view.format
    if view.itemsize != 4 or code == NULL or (code[0] != b'i' and code[0] != b'l') or code[1] != 0:
        PyBuffer_Release(view)
        raise ValueError("expected a buffer of int32 (array('i') or numpy.int32)")
    return 0


cdef inline int acquire_longs(object source, Py_buffer *view) except -1:
    acquire(source, view)
    cdef const char *code = view.format
    if view.itemsize != 8 or code == NULL or (code[0] != b'q' and code[0] != b'l') or code[1] != 0:
        PyBuffer_Release(view)
        raise ValueError("expected a buffer of int64 (array('q') or numpy.int64)")
    return 0


cdef inline int acquire_doubles(object source, Py_buffer *view) except -1:
    acquire(source, view)
    cdef const char *code = view.format
    if view.itemsize != 8 or code == NULL or code[0] != b'd' or code[1] != 0:
        PyBuffer_Release(view)
        raise ValueError("expected a buffer of double (array('d') or numpy.float64)")
    return 0


cdef struct Ints:
    # A growable int32 list that needs no GIL. `failed` is set when memory ran out; pushes are then ignored.
    int32_t *items
    Py_ssize_t size
    Py_ssize_t capacity
    bint failed


cdef inline void ints_init(Ints *self) noexcept nogil:
    self.items = NULL
    self.size = 0
    self.capacity = 0
    self.failed = False


cdef inline bint ints_reserve(Ints *self, Py_ssize_t extra) noexcept nogil:
    cdef Py_ssize_t wanted = self.size + extra
    cdef int32_t *grown
    if wanted <= self.capacity:
        return True
    if wanted < 2 * self.capacity:
        wanted = 2 * self.capacity
    if wanted < 16:
        wanted = 16
    grown = <int32_t *> realloc(self.items, <size_t> wanted * sizeof(int32_t))
    if grown == NULL:
        self.failed = True
        return False
    self.items = grown
    self.capacity = wanted
    return True


cdef inline void ints_push(Ints *self, int32_t value) noexcept nogil:
    if self.size == self.capacity and not ints_reserve(self, 1):
        return
    self.items[self.size] = value
    self.size += 1


cdef inline void ints_free(Ints *self) noexcept nogil:
    free(self.items)
    ints_init(self)


cdef inline array ints_to_array(array template, const int32_t *items, Py_ssize_t size):
    cdef array result = clone(template, size, False)
    if size:
        memcpy(result.data.as_ints, items, <size_t> size * sizeof(int32_t))
    return result


cdef inline int check_bounds(const int32_t *bounds, Py_ssize_t count, Py_ssize_t limit) except -1:
    # Offsets into another buffer: at least one, ascending, none outside it.
    cdef Py_ssize_t k
    if count < 1:
        raise ValueError("bounds need at least one entry")
    if bounds[0] < 0 or bounds[count - 1] > limit:
        raise ValueError("bounds reach outside the elements")
    for k in range(1, count):
        if bounds[k] < bounds[k - 1]:
            raise ValueError("bounds must not decrease")
    return 0


cdef struct Octets:
    # A growable byte string that needs no GIL; as Ints.
    uint8_t *items
    Py_ssize_t size
    Py_ssize_t capacity
    bint failed


cdef inline void octets_init(Octets *self) noexcept nogil:
    self.items = NULL
    self.size = 0
    self.capacity = 0
    self.failed = False


cdef inline bint octets_reserve(Octets *self, Py_ssize_t extra) noexcept nogil:
    cdef Py_ssize_t wanted = self.size + extra
    cdef uint8_t *grown
    if wanted <= self.capacity:
        return True
    if wanted < 2 * self.capacity:
        wanted = 2 * self.capacity
    if wanted < 64:
        wanted = 64
    grown = <uint8_t *> realloc(self.items, <size_t> wanted)
    if grown == NULL:
        self.failed = True
        return False
    self.items = grown
    self.capacity = wanted
    return True


cdef inline void octets_free(Octets *self) noexcept nogil:
    free(self.items)
    octets_init(self)


cdef struct Longs:
    # A growable int64 list that needs no GIL; as Ints.
    int64_t *items
    Py_ssize_t size
    Py_ssize_t capacity
    bint failed


cdef inline void longs_init(Longs *self) noexcept nogil:
    self.items = NULL
    self.size = 0
    self.capacity = 0
    self.failed = False


cdef inline bint longs_reserve(Longs *self, Py_ssize_t extra) noexcept nogil:
    cdef Py_ssize_t wanted = self.size + extra
    cdef int64_t *grown
    if wanted <= self.capacity:
        return True
    if wanted < 2 * self.capacity:
        wanted = 2 * self.capacity
    if wanted < 64:
        wanted = 64
    grown = <int64_t *> realloc(self.items, <size_t> wanted * sizeof(int64_t))
    if grown == NULL:
        self.failed = True
        return False
    self.items = grown
    self.capacity = wanted
    return True


cdef inline void longs_free(Longs *self) noexcept nogil:
    free(self.items)
    longs_init(self)


cdef inline array longs_to_array(array template, const int64_t *items, Py_ssize_t size):
    cdef array result = clone(template, size, False)
    if size:
        memcpy(result.data.as_longlongs, items, <size_t> size * sizeof(int64_t))
    return result
