# JSON values given as Python objects: their kinds, and a stack of open containers, so that no depth is the C stack's.

from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF

from buffers cimport free, malloc, memcpy, uint64_t

cdef extern from "Python.h":
    PyObject *Py_None
    PyObject *Py_True
    PyObject *Py_False
    bint PyUnicode_Check(PyObject *)
    bint PyLong_Check(PyObject *)
    bint PyFloat_Check(PyObject *)
    bint PyDict_Check(PyObject *)
    bint PyList_Check(PyObject *)
    bint PyTuple_Check(PyObject *)
    Py_ssize_t PyList_GET_SIZE(PyObject *)
    PyObject *PyList_GET_ITEM(PyObject *, Py_ssize_t)
    Py_ssize_t PyTuple_GET_SIZE(PyObject *)
    PyObject *PyTuple_GET_ITEM(PyObject *, Py_ssize_t)
    void incref "Py_INCREF" (PyObject *)
    void decref "Py_DECREF" (PyObject *)

cdef enum Kind:
    NULL_VALUE = 1
    FALSE_VALUE = 2
    TRUE_VALUE = 3
    INTEGER = 4
    REAL = 5
    TEXT = 6
    ARRAY = 7
    OBJECT = 8

cdef enum:
    MAX_DEPTH = 1000        # containers open at once
    NEAR = 16               # of those, how many need no memory of their own


cdef struct Frame:
    # An open container, or a pair of them; both held.
    PyObject *a
    PyObject *b
    PyObject *x             # a pair found by name: held until the next, as the search may have run a key's own code
    PyObject *y
    Py_ssize_t a_at         # the next element, or where PyDict_Next goes on
    Py_ssize_t b_at
    Kind kind
    uint64_t sum            # hashing: of the elements so far
    uint64_t name           # hashing: of the member whose value is due


cdef struct Stack:
    Frame near[NEAR]
    Frame *frames
    Py_ssize_t depth
    Py_ssize_t capacity


cdef inline void let_go(Frame *frame) noexcept:
    cdef PyObject *x = frame.x
    cdef PyObject *y = frame.y
    frame.x = frame.y = NULL
    Py_XDECREF(x)
    Py_XDECREF(y)


cdef inline void pop(Stack *stack) noexcept:
    cdef Frame frame
    stack.depth -= 1
    frame = stack.frames[stack.depth]
    if frame.x != NULL:
        let_go(&frame)
    decref(frame.a)
    Py_XDECREF(frame.b)


cdef inline void stack_init(Stack *stack) noexcept:
    stack.frames = stack.near
    stack.depth = 0
    stack.capacity = NEAR


cdef inline void stack_free(Stack *stack) noexcept:
    while stack.depth:
        pop(stack)
    if stack.frames != stack.near:
        free(stack.frames)


cdef inline int grow(Stack *stack) except -1:
    cdef Frame *grown
    if stack.depth >= MAX_DEPTH:
        raise ValueError("a value is nested deeper than 1000 levels")
    grown = <Frame *> malloc(2 * <size_t> stack.capacity * sizeof(Frame))
    if grown == NULL:
        raise MemoryError
    memcpy(grown, stack.frames, <size_t> stack.depth * sizeof(Frame))
    if stack.frames != stack.near:
        free(stack.frames)
    stack.frames = grown
    stack.capacity *= 2
    return 0


cdef inline Frame *push(Stack *stack, Kind kind, PyObject *a, PyObject *b) except NULL:
    cdef Frame *frame
    if stack.depth == stack.capacity or stack.depth == MAX_DEPTH:
        grow(stack)
    frame = &stack.frames[stack.depth]
    frame.a = a
    frame.b = b
    frame.x = frame.y = NULL
    frame.a_at = frame.b_at = 0
    frame.kind = kind
    frame.sum = frame.name = 0
    incref(a)
    if b != NULL:
        incref(b)
    stack.depth += 1
    return frame


cdef inline int kind_of(PyObject *value) except -1:
    if PyUnicode_Check(value):
        return TEXT
    if PyDict_Check(value):
        return OBJECT
    if value == Py_None:
        return NULL_VALUE
    if value == Py_True:
        return TRUE_VALUE
    if value == Py_False:
        return FALSE_VALUE
    if PyLong_Check(value):
        return INTEGER
    if PyFloat_Check(value):
        return REAL
    if PyList_Check(value) or PyTuple_Check(value):
        return ARRAY
    raise ValueError(f"{type(<object> value).__name__} is no JSON type")


cdef inline Py_ssize_t length_of(PyObject *sequence) noexcept:
    return PyList_GET_SIZE(sequence) if PyList_Check(sequence) else PyTuple_GET_SIZE(sequence)


cdef inline PyObject *element_of(PyObject *sequence, Py_ssize_t at) noexcept:
    return PyList_GET_ITEM(sequence, at) if PyList_Check(sequence) else PyTuple_GET_ITEM(sequence, at)
