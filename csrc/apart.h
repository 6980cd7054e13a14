/* Before a loop: what it writes is nothing that it reads later, so compilers may do several steps at a time. */
#ifndef STRATADIFF_APART_H
#define STRATADIFF_APART_H
#if defined(__clang__)
#define STRATADIFF_APART _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define STRATADIFF_APART _Pragma("GCC ivdep")
#elif defined(_MSC_VER)
#define STRATADIFF_APART __pragma(loop(ivdep))
#else
#define STRATADIFF_APART
#endif
#endif
