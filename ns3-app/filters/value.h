#ifndef PYSIM_FILTERS_VALUE_H
#define PYSIM_FILTERS_VALUE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace pysim
{

/// The hash of a string's characters, also where a subclass of str has another; it is computed once
/// for each object.
inline uint64_t
TextHash(PyObject* text)
{
    const Py_hash_t known = reinterpret_cast<PyASCIIObject*>(text)->hash;
    return static_cast<uint64_t>(known != -1 ? known : PyUnicode_Type.tp_hash(text));
}

inline bool
SameText(PyObject* a, PyObject* b)
{
    return a == b || PyUnicode_Compare(a, b) == 0;
}

/// Spreads what differs in few bits over all bits.
inline uint64_t
Mixed(uint64_t bits)
{
    bits ^= bits >> 32;
    bits *= 0x9E3779B97F4A7C15;
    return bits ^ (bits >> 29);
}

/**
 * A number or a string, in two words that are compared without looking further where possible.
 *
 * A number is the double next to it and what remains: the pairs are in the order of the numbers,
 * exactly, for all integers of 64 bits, all doubles, and any longer integer among these. A string
 * is its hash and the object, which is borrowed.
 */
struct Value
{
    uint64_t bits{0}; ///< of the double, or of the string's hash
    uintptr_t tag{0}; ///< 2 * remainder + 1, or the string's address; 0 for a missing value

    /// What an object of Python's means to the language; missing if it means nothing.
    static Value Of(PyObject* object);

    bool IsMissing() const
    {
        return tag == 0;
    }

    bool IsNumber() const
    {
        return tag & 1;
    }

    bool IsText() const
    {
        return tag && !(tag & 1);
    }

    PyObject* Text() const
    {
        return reinterpret_cast<PyObject*>(tag);
    }

    double Near() const
    {
        double near;
        std::memcpy(&near, &bits, sizeof(near));
        return near;
    }

    intptr_t Rest() const
    {
        return static_cast<intptr_t>(tag) >> 1;
    }

    uint64_t Hash() const
    {
        return Mixed(IsNumber() ? bits + (tag - 1) : bits);
    }

    bool operator==(const Value& other) const
    {
        return bits == other.bits &&
               (tag == other.tag || (IsText() && other.IsText() && SameText(Text(), other.Text())));
    }

    /// Negative, zero or positive; both are of one kind.
    int Compare(const Value& other) const
    {
        if (IsText())
        {
            return PyUnicode_Compare(Text(), other.Text());
        }
        const double a = Near();
        const double b = other.Near();
        if (a != b)
        {
            return a < b ? -1 : 1;
        }
        return (Rest() > other.Rest()) - (Rest() < other.Rest());
    }

  private:
    static Value OfNumber(double near, intptr_t rest);
    static Value OfLong(PyObject* object);
};

/// A value that keeps its string alive.
class Operand
{
  public:
    Operand() = default;

    explicit Operand(const Value& value)
        : m_value(value)
    {
        if (m_value.IsText())
        {
            Py_INCREF(m_value.Text());
        }
    }

    Operand(Operand&& other) noexcept
        : m_value(std::exchange(other.m_value, Value()))
    {
    }

    Operand& operator=(Operand&& other) noexcept
    {
        std::swap(m_value, other.m_value);
        return *this;
    }

    ~Operand()
    {
        if (m_value.IsText())
        {
            Py_DECREF(m_value.Text());
        }
    }

    const Value& Get() const
    {
        return m_value;
    }

  private:
    Value m_value;
};

inline Value
Value::OfNumber(double near, intptr_t rest)
{
    Value value;
    near += 0.0; // one zero, not two
    std::memcpy(&value.bits, &near, sizeof(near));
    value.tag = (static_cast<uintptr_t>(rest) << 1) | 1;
    return value;
}

inline Value
Value::Of(PyObject* object)
{
    if (PyUnicode_Check(object))
    {
        Value value;
        value.bits = TextHash(object);
        value.tag = reinterpret_cast<uintptr_t>(object);
        return value;
    }
    if (PyLong_Check(object))
    {
        return OfLong(object);
    }
    if (PyFloat_Check(object) && PyFloat_AS_DOUBLE(object) == PyFloat_AS_DOUBLE(object))
    {
        return OfNumber(PyFloat_AS_DOUBLE(object), 0);
    }
    return Value();
}

} // namespace pysim

#endif
