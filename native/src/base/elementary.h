// SPDX-License-Identifier: GPL-3.0-or-later
/* cos, exp, log, cbrt and pow in plain IEEE operations: the last bits of libm differ between
 * machines. Accurate to a few ulp, which suffices for material settings. */
#ifndef PL_BASE_ELEMENTARY_H
#define PL_BASE_ELEMENTARY_H

#include <math.h>

/* exp(x) for x in [-700, 700]; outside it is clamped. */
static inline double pl_exp(double x)
{
    x = x < -700 ? -700 : x > 700 ? 700 : x;
    double k = floor(x * 1.4426950408889634 + .5);
    double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double term = 1, sum = 1;
    for (int i = 1; i <= 14; ++i)
    {
        term = term * r / i;
        sum += term;
    }
    return ldexp(sum, (int)k);
}

/* cos(x) for x in [0, pi]; outside it is clamped. */
static inline double pl_cos(double x)
{
    const double pi = 3.14159265358979323846;
    x = x < 0 ? 0 : x > pi ? pi : x;
    double sign = 1;
    if (x > pi / 2)
    {
        x = pi - x;
        sign = -1;
    }
    double square = x * x, term = 1, sum = 1;
    for (int i = 1; i <= 12; ++i)
    {
        term = -term * square / ((2 * i - 1) * (2 * i));
        sum += term;
    }
    return sign * sum;
}

/* The cube root of a positive number, by Newton iterations from a power of two. */
static inline double pl_cbrt(double x)
{
    int exponent;
    if (!(x > 0))
        return 0;
    double part = frexp(x, &exponent); /* part in [1/2, 1) */
    int third = exponent / 3, rest = exponent - 3 * third;
    part = ldexp(part, rest); /* in [1/8, 4) */
    double root = part < 1 ? .5 + .5 * part : 1 + .2 * (part - 1);
    for (int i = 0; i < 6; ++i)
        root -= (root * root * root - part) / (3 * root * root);
    return ldexp(root, third);
}

/* The natural logarithm of a positive number. */
static inline double pl_log(double x)
{
    int exponent;
    if (!(x > 0))
        return -700;
    double part = frexp(x, &exponent); /* in [1/2, 1) */
    if (part < 0.70710678118654752)
    {
        part *= 2;
        --exponent;
    }
    double s = (part - 1) / (part + 1), square = s * s, term = s, sum = s;
    for (int i = 3; i <= 31; i += 2)
    {
        term *= square;
        sum += term / i;
    }
    return 2 * sum + exponent * 0.69314718055994530942;
}

/* base^power, base >= 0. */
static inline double pl_power(double base, double power)
{
    return base > 0 ? pl_exp(power * pl_log(base)) : power == 0 ? 1 : 0;
}

#endif
