/* Items of dictionaries and lists, held before another thread can take them away. */
#ifndef STRATADIFF_OBJECT_ACCESS_H
#define STRATADIFF_OBJECT_ACCESS_H
#include <Python.h>

/* A new reference, or NULL: not there, or an error is set (a key of a type of its own may raise on comparison). */
static inline PyObject *held_member(PyObject *dict, PyObject *key) {
#ifdef Py_GIL_DISABLED
    PyObject *found;
    PyDict_GetItemRef(dict, key, &found);
    return found;
#else
    PyObject *found = PyDict_GetItemWithError(dict, key);
    Py_XINCREF(found);
    return found;
#endif
}

/* A new reference, or NULL past the end; never an error. */
static inline PyObject *held_item(PyObject *list, Py_ssize_t at) {
#ifdef Py_GIL_DISABLED
    PyObject *found = PyList_GetItemRef(list, at);
    if (!found) PyErr_Clear();
    return found;
#else
    PyObject *found;
    if (at >= PyList_GET_SIZE(list)) return NULL;
    found = PyList_GET_ITEM(list, at);
    Py_INCREF(found);
    return found;
#endif
}
#endif
