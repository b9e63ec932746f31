#include "box.h"

#include "value.h"

#include <algorithm>
#include <cmath>

namespace pysim
{

int64_t
Dimensions::Of(PyObject* name, bool isText)
{
    Ref& names = isText ? m_texts : m_numbers;
    if (!names && !(names = Ref(PyDict_New())))
    {
        return -1;
    }
    PyObject* known = PyDict_GetItemWithError(names.Get(), name);
    if (known)
    {
        return PyLong_AsLong(known);
    }
    Ref number(PyErr_Occurred() ? nullptr : PyLong_FromUnsignedLong(m_count));
    if (!number || PyDict_SetItem(names.Get(), name, number.Get()) < 0)
    {
        return -1;
    }
    return m_count++;
}

bool
Box::Cut::Read(PyObject* object)
{
    if (PyUnicode_Check(object))
    {
        near = 0;
        text = object;
        return true;
    }
    PyObject* number;
    int isAbove;
    if (!PyArg_ParseTuple(object, "Op", &number, &isAbove))
    {
        return false;
    }
    const Value value = Value::Of(number);
    near = value.Near();
    rest = 2 * static_cast<int64_t>(value.Rest()) + isAbove;
    return true;
}

int
Box::Cut::Compare(const Cut& other, bool isText) const
{
    if (near != other.near)
    {
        return near < other.near ? -1 : 1;
    }
    if (isText && near == 0)
    {
        return text == other.text ? 0 : PyUnicode_Compare(text, other.text);
    }
    return (rest > other.rest) - (rest < other.rest);
}

bool
Box::Side::Read(PyObject* side, Dimensions& dimensions)
{
    PyObject* name;
    PyObject* start;
    PyObject* end;
    int isOneValue;
    if (!PyArg_ParseTuple(side, "UpOO", &name, &isOneValue, &start, &end) || !low.Read(start))
    {
        return false;
    }
    isText = PyUnicode_Check(start);
    if (end == Py_None)
    {
        high.near = HUGE_VAL;
        high.rest = 0;
    }
    else if (!high.Read(end))
    {
        return false;
    }
    const int64_t number = dimensions.Of(name, isText);
    dimension = static_cast<uint32_t>(number);
    isPoint = isOneValue;
    return number >= 0;
}

uint32_t
Box::Side::Pin() const
{
    uint64_t hash = 0;
    std::memcpy(&hash, &low.near, sizeof(hash));
    hash += isText ? TextHash(low.text) : static_cast<uint64_t>(low.rest);
    return ((dimension + 1) * Outline::HASH_END) | (Mixed(hash) % Outline::HASH_END);
}

bool
Box::Read(PyObject* sides, Dimensions& dimensions)
{
    if (sides == Py_None)
    {
        return true;
    }
    if (!PyTuple_Check(sides))
    {
        PyErr_SetString(PyExc_TypeError, "Expected the sides of a box in a tuple, or None");
        return false;
    }
    m_source = Ref::Borrow(sides);
    m_sides.resize(PyTuple_GET_SIZE(sides));
    for (size_t place = 0; place < m_sides.size(); place++)
    {
        if (!m_sides[place].Read(PyTuple_GET_ITEM(sides, place), dimensions))
        {
            return false;
        }
    }
    std::sort(m_sides.begin(), m_sides.end(), [](const Side& a, const Side& b) {
        return a.dimension < b.dimension;
    });
    Draw();
    return true;
}

void
Box::Draw()
{
    for (const Side& side : m_sides)
    {
        if (side.isPoint)
        {
            if (!m_outline.pin && side.dimension + 1 < Outline::DIMENSIONS_END)
            {
                m_outline.pin = side.Pin();
            }
        }
        else if (!m_outline.dimension && !side.isText)
        {
            m_outline.dimension = side.dimension + 1;
            m_outline.low = side.low.near;
            m_outline.high = side.high.near;
        }
    }
}

Relation
Box::To(const Box& other) const
{
    unsigned found = EQUAL;
    auto mine = m_sides.begin();
    auto its = other.m_sides.begin();
    while (found && (mine != m_sides.end() || its != other.m_sides.end()))
    {
        // Who has a side that the other has not is the smaller one, if any.
        if (its == other.m_sides.end() ||
            (mine != m_sides.end() && mine->dimension < its->dimension))
        {
            found &= SUBSET;
            ++mine;
            continue;
        }
        if (mine == m_sides.end() || its->dimension < mine->dimension)
        {
            found &= SUPERSET;
            ++its;
            continue;
        }
        const int low = mine->low.Compare(its->low, mine->isText);
        const int high = mine->high.Compare(its->high, mine->isText);
        found &= (low >= 0 && high <= 0 ? SUBSET : 0) | (low <= 0 && high >= 0 ? SUPERSET : 0);
        ++mine;
        ++its;
    }
    return static_cast<Relation>(found);
}

} // namespace pysim
