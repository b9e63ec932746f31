#include "value.h"

#include "../python/ref.h"

#include <cmath>

namespace pysim
{

Value
Value::OfLong(PyObject* object)
{
    constexpr double LIMIT = 9223372036854775808.0; // 2^63
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (!overflow)
    {
        const double near = static_cast<double>(number);
        if (near >= LIMIT)
        {
            return OfNumber(near, static_cast<intptr_t>(number - INT64_MAX) - 1);
        }
        return OfNumber(near, static_cast<intptr_t>(number - static_cast<long long>(near)));
    }
    const double near = PyLong_AsDouble(object);
    if (PyErr_Occurred())
    {
        PyErr_Clear(); // it is beyond all doubles, so on this side of infinity
        return OfNumber(overflow * HUGE_VAL, -overflow);
    }
    // Python's own comparison is exact; a subclass's would be called by PyObject_RichCompare.
    Ref exact(PyFloat_FromDouble(near));
    if (!exact)
    {
        return Value();
    }
    Ref below(PyFloat_Type.tp_richcompare(exact.Get(), object, Py_LT));
    Ref above(PyFloat_Type.tp_richcompare(exact.Get(), object, Py_GT));
    return OfNumber(near, (below.Get() == Py_True) - (above.Get() == Py_True));
}

} // namespace pysim
