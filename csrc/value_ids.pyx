"""JSON values given as Python objects: whether two are equal, and dense ids for many (agentlog §4).

Equality is JSON's, not Python's: a number never equals a boolean, strings are equal code point by code point, objects
whatever the order of their members. Nothing here calls itself: open containers are on a stack of our own.
"""

from cpython.array cimport array
from cpython.object cimport PyObject, PyTypeObject
from libc.math cimport isinf, isnan
from libc.stdlib cimport calloc
from libc.string cimport memcmp

from buffers cimport clone, free, int32_t, int64_t, malloc, memcpy, uint8_t, uint64_t
from value_stack cimport (
    ARRAY, INTEGER, OBJECT, REAL, TEXT, Frame, Kind, PyTuple_GET_ITEM, PyUnicode_Check, Py_True, Stack, decref, element_of,
    incref, kind_of, length_of, let_go, pop, push, stack_free, stack_init,
)

cdef extern from "byte_scan.h":
    uint64_t mix_u64(uint64_t a, uint64_t b)
    uint64_t hash_bytes(const uint8_t *p, size_t n, uint64_t seed)

cdef extern from "object_access.h":
    PyObject *held_member(PyObject *container, PyObject *key)

cdef extern from "Python.h":
    PyTypeObject PyLong_Type
    PyTypeObject PyUnicode_Type
    double PyFloat_AS_DOUBLE(PyObject *)
    long long PyLong_AsLongLongAndOverflow(PyObject *, int *)
    PyObject *PyLong_FromDouble(double) except NULL
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *)
    int PyUnicode_KIND(PyObject *)
    void *PyUnicode_DATA(PyObject *)
    Py_ssize_t PyDict_Size(PyObject *)
    bint PyDict_Next(PyObject *, Py_ssize_t *, PyObject **, PyObject **)
    PyObject *PyErr_Occurred()


cdef extern from *:
    """
    #define STRATADIFF_LONG_COMPARE(a, b) (PyLong_Type.tp_richcompare((a), (b), Py_EQ))
    #define STRATADIFF_TEXT_HASH(text) (PyUnicode_Type.tp_hash(text))
    """
    PyObject *compare_integers "STRATADIFF_LONG_COMPARE" (PyObject *, PyObject *) except NULL
    Py_hash_t hash_text "STRATADIFF_TEXT_HASH" (PyObject *) except? -1

cdef array INT32 = array("i")

# Keyed per process, as in `intern`: nobody can prepare values that collide, and no result depends on it.
cdef uint64_t SEED = <uint64_t> hash(b"stratadiff.value_ids") * <uint64_t> 0x9E3779B97F4A7C15 ^ <uint64_t> 0xD1B54A32D192ED03

cdef inline bint fits_int64(double number) noexcept:
    return -9223372036854775808.0 <= number < 9223372036854775808.0


# ---------------------------------------------------------------------------------------------------------------------
# Equality


cdef inline bint same_text(PyObject *a, PyObject *b) noexcept:
    cdef Py_ssize_t size = PyUnicode_GET_LENGTH(a)
    cdef int width = PyUnicode_KIND(a)
    if a == b:
        return True
    if size != PyUnicode_GET_LENGTH(b) or width != PyUnicode_KIND(b):
        return False
    return memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), <size_t> (size * width)) == 0


cdef int same_integer(PyObject *a, PyObject *b) except -1:
    cdef int a_overflow = 0, b_overflow = 0
    cdef int64_t x = PyLong_AsLongLongAndOverflow(a, &a_overflow), y = PyLong_AsLongLongAndOverflow(b, &b_overflow)
    cdef PyObject *answer
    if a_overflow != b_overflow:
        return False
    if a_overflow == 0:
        return x == y
    answer = compare_integers(a, b)
    decref(answer)
    return answer == Py_True


cdef int same_mixed(PyObject *integer, PyObject *real) except -1:
    # By value, exactly: 2^53 + 1 equals no double.
    cdef int overflow = 0, answer
    cdef int64_t x = PyLong_AsLongLongAndOverflow(integer, &overflow)
    cdef double y = PyFloat_AS_DOUBLE(real)
    cdef PyObject *whole
    if overflow == 0:
        return fits_int64(y) and <double> <int64_t> y == y and <int64_t> y == x
    if fits_int64(y) or isnan(y) or isinf(y):
        return False
    whole = PyLong_FromDouble(y)
    try:
        answer = same_integer(integer, whole)
    finally:
        decref(whole)
    return answer


cdef inline int same_leaf(Kind kind, Kind other, PyObject *a, PyObject *b) except -1:
    cdef double x, y
    if kind != other:
        if kind == INTEGER and other == REAL:
            return same_mixed(a, b)
        if kind == REAL and other == INTEGER:
            return same_mixed(b, a)
        return False
    if kind == TEXT:
        return same_text(a, b)
    if kind == INTEGER:
        return same_integer(a, b)
    if kind == REAL:
        x = PyFloat_AS_DOUBLE(a)
        y = PyFloat_AS_DOUBLE(b)
        # NaN is no JSON number; a value that holds one still equals itself.
        return x == y or (isnan(x) and isnan(y))
    return True


cdef inline int next_pair(Frame *frame, PyObject **x, PyObject **y) except -1:
    # The next two values of a pair of containers of one size: 1, or 0 at their end, or 2 where the containers differ.
    cdef PyObject *name = NULL
    cdef PyObject *other = NULL
    if frame.x != NULL:
        let_go(frame)
    if frame.kind == ARRAY:
        # Sizes again: what a comparison of strange keys runs could change a list.
        if frame.a_at >= length_of(frame.a) or frame.a_at >= length_of(frame.b):
            return 0
        x[0] = element_of(frame.a, frame.a_at)
        y[0] = element_of(frame.b, frame.a_at)
        frame.a_at += 1
        return 1
    if not PyDict_Next(frame.a, &frame.a_at, &name, x):
        return 0
    if not PyUnicode_Check(name):
        raise ValueError("a member's name is not a string")
    # Most objects have their members in the same order on both sides.
    if PyDict_Next(frame.b, &frame.b_at, &other, y) and (
        name == other or (PyUnicode_Check(other) and same_text(name, other))
    ):
        return 1
    return find_member(frame, name, x, y)


cdef int find_member(Frame *frame, PyObject *name, PyObject **x, PyObject **y) except -1:
    frame.x = x[0]
    incref(x[0])
    incref(name)
    y[0] = frame.y = held_member(frame.b, name)
    decref(name)
    if y[0] == NULL:
        return -1 if PyErr_Occurred() != NULL else 2
    return 1


cdef int same_values(PyObject *x, PyObject *y, Stack *stack) except -1:
    cdef int step
    cdef Kind kind, other
    while True:
        kind = <Kind> kind_of(x)
        other = <Kind> kind_of(y)
        if kind < ARRAY or kind != other:
            if not same_leaf(kind, other, x, y):
                return False
        elif x != y:
            if kind == OBJECT:
                if PyDict_Size(x) != PyDict_Size(y):
                    return False
            elif length_of(x) != length_of(y):
                return False
            push(stack, kind, x, y)
        while True:
            if stack.depth == 0:
                return True
            step = next_pair(&stack.frames[stack.depth - 1], &x, &y)
            if step == 1:
                break
            if step == 2:
                return False
            pop(stack)


# ---------------------------------------------------------------------------------------------------------------------
# Hashes


cdef uint64_t hash_big(PyObject *integer) except? 0:
    # All of its bytes: a hash of a part could be aimed at.
    cdef object number = <object> integer
    cdef bytes data = int.to_bytes(number, (int.bit_length(number) >> 3) + 1, "little", signed=True)
    return hash_bytes(<const uint8_t *> <const char *> data, <size_t> len(data), SEED)


cdef inline uint64_t hash_int64(int64_t value) noexcept:
    return mix_u64(<uint64_t> value ^ <uint64_t> 0xA0761D6478BD642F, SEED)


cdef uint64_t hash_real(double number) except? 0:
    # Numbers that are equal, of whatever type, have one hash.
    cdef uint64_t bits
    cdef PyObject *whole
    if fits_int64(number) and <double> <int64_t> number == number:
        return hash_int64(<int64_t> number)
    if isnan(number):
        return mix_u64(SEED, 9)
    if fits_int64(number) or isinf(number):
        memcpy(&bits, &number, 8)
        return mix_u64(bits ^ <uint64_t> 0xE7037ED1A0B428DB, SEED)
    whole = PyLong_FromDouble(number)
    try:
        return hash_big(whole)
    finally:
        decref(whole)


cdef inline uint64_t hash_leaf(Kind kind, PyObject *value) except? 0:
    cdef int overflow = 0
    cdef int64_t number
    if kind == TEXT:
        return mix_u64(<uint64_t> hash_text(value) ^ <uint64_t> 0x8EBC6AF09C88C6E3, SEED)
    if kind == INTEGER:
        number = PyLong_AsLongLongAndOverflow(value, &overflow)
        return hash_int64(number) if overflow == 0 else hash_big(value)
    if kind == REAL:
        return hash_real(PyFloat_AS_DOUBLE(value))
    return mix_u64(SEED, <uint64_t> kind)


cdef inline bint next_value(Frame *frame, PyObject **value) except -1:
    cdef PyObject *name = NULL
    if frame.kind == ARRAY:
        if frame.a_at >= length_of(frame.a):
            return False
        value[0] = element_of(frame.a, frame.a_at)
        frame.a_at += 1
        return True
    if not PyDict_Next(frame.a, &frame.a_at, &name, value):
        return False
    if not PyUnicode_Check(name):
        raise ValueError("a member's name is not a string")
    frame.name = <uint64_t> hash_text(name)
    return True


cdef inline void add_hash(Frame *frame, uint64_t found) noexcept:
    if frame.kind == ARRAY:
        frame.sum = mix_u64(frame.sum ^ found, SEED ^ <uint64_t> 0x589965CC75374CC3)
    else:
        # A sum, as order does not count.
        frame.sum += mix_u64(frame.name ^ <uint64_t> 0x1D8E4E27C47D124F, found ^ SEED)


cdef uint64_t hash_value(PyObject *value, Stack *stack) except? 0:
    cdef uint64_t found
    cdef Kind kind
    cdef Frame *frame
    while True:
        kind = <Kind> kind_of(value)
        if kind >= ARRAY:
            push(stack, kind, value, NULL)
        else:
            found = hash_leaf(kind, value)
            if stack.depth == 0:
                return found
            add_hash(&stack.frames[stack.depth - 1], found)
        while not next_value(&stack.frames[stack.depth - 1], &value):
            frame = &stack.frames[stack.depth - 1]
            found = mix_u64(frame.sum ^ SEED, <uint64_t> frame.kind + <uint64_t> 0x9E3779B97F4A7C15)
            pop(stack)
            if stack.depth == 0:
                return found
            add_hash(&stack.frames[stack.depth - 1], found)


# ---------------------------------------------------------------------------------------------------------------------
# Doors


def equal(object a, object b, /):
    """Return whether two JSON values are equal *(agentlog §4)*.

    Parameters
    ----------
    a, b : None, bool, int, float, str, list, tuple or dict with str keys
        Numbers are equal by value, exactly: ``1`` and ``1.0`` are, ``True`` and ``1`` are not. Members of objects have no
        order. Strings are not normalised. NaN, which no file can hold, equals itself.

    Raises
    ------
    ValueError
        A value of another type, a member's name that is no string, or more than 1,000 containers open at once; each only if
        the comparison gets there.

    Notes
    -----
    Linear in the smaller value, up to the first difference.
    """
    cdef Stack stack
    stack_init(&stack)
    try:
        return same_values(<PyObject *> a, <PyObject *> b, &stack) == 1
    finally:
        stack_free(&stack)


cdef int fill_ids(int32_t *ids, tuple values, int32_t *slots, uint64_t mask, uint64_t *hashes, int32_t *first) except -1:
    # Open addressing, linear probing; a slot holds an id + 1, 0 when empty.
    cdef Py_ssize_t k
    cdef uint64_t found, at
    cdef int32_t id, count = 0
    cdef int same
    cdef PyObject *value
    cdef Stack stack
    stack_init(&stack)
    try:
        for k in range(len(values)):
            value = PyTuple_GET_ITEM(<PyObject *> values, k)
            found = hash_value(value, &stack)
            at = found & mask
            while True:
                id = slots[at] - 1
                if id < 0:
                    slots[at] = count + 1
                    hashes[count] = found
                    first[count] = <int32_t> k
                    ids[k] = count
                    count += 1
                    break
                if hashes[id] == found:
                    same = same_values(PyTuple_GET_ITEM(<PyObject *> values, first[id]), value, &stack)
                    while stack.depth:
                        pop(&stack)
                    if same:
                        ids[k] = id
                        break
                at = (at + 1) & mask
    finally:
        stack_free(&stack)
    return 0


def intern(object values, /):
    """Return dense ids of JSON values: equal values, and only they, share one *(agentlog §4)*.

    Parameters
    ----------
    values : sequence
        JSON values as :func:`equal` takes them.

    Returns
    -------
    array.array of int32, shape (n,)
        Ids 0, 1, ... by first occurrence.

    Raises
    ------
    ValueError
        As :func:`equal`.
    OverflowError
        If there are more than 2147483645 values.

    Notes
    -----
    Expected time linear in the size of the values; 20 to 28 bytes of memory per value. Equality is decided on the values,
    a keyed hash only filters.
    """
    cdef tuple held = tuple(values)
    cdef Py_ssize_t count = len(held)
    cdef uint64_t size = 16
    cdef int32_t *slots
    cdef uint64_t *hashes
    cdef int32_t *first
    cdef array ids
    if count > 2147483645:
        raise OverflowError("more than 2147483645 values cannot be numbered; split them")
    ids = clone(INT32, count, False)
    while size < 2 * <uint64_t> count:
        size *= 2
    slots = <int32_t *> calloc(size, sizeof(int32_t))
    hashes = <uint64_t *> malloc((<size_t> count + 1) * sizeof(uint64_t))
    first = <int32_t *> malloc((<size_t> count + 1) * sizeof(int32_t))
    try:
        if slots == NULL or hashes == NULL or first == NULL:
            raise MemoryError
        fill_ids(<int32_t *> ids.data.as_ints, held, slots, size - 1, hashes, first)
    finally:
        free(slots)
        free(hashes)
        free(first)
    return ids
