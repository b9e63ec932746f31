#ifndef PYSIM_REF_H
#define PYSIM_REF_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace pysim
{

/// An owned reference to a Python object.
class Ref
{
  public:
    Ref() = default;

    /// Take over a reference that we were given.
    explicit Ref(PyObject* owned)
        : m_object(owned)
    {
    }

    static Ref Borrow(PyObject* borrowed)
    {
        Py_XINCREF(borrowed);
        return Ref(borrowed);
    }

    Ref(const Ref& other)
        : m_object(other.m_object)
    {
        Py_XINCREF(m_object);
    }

    Ref(Ref&& other) noexcept
        : m_object(std::exchange(other.m_object, nullptr))
    {
    }

    Ref& operator=(Ref other) noexcept
    {
        std::swap(m_object, other.m_object);
        return *this;
    }

    ~Ref()
    {
        Py_XDECREF(m_object);
    }

    PyObject* Get() const
    {
        return m_object;
    }

    explicit operator bool() const
    {
        return m_object != nullptr;
    }

    PyObject* Release()
    {
        return std::exchange(m_object, nullptr);
    }

  private:
    PyObject* m_object{nullptr};
};

/// An order by identity.
struct RefOrder
{
    bool operator()(const Ref& a, const Ref& b) const
    {
        return a.Get() < b.Get();
    }
};

/// Take the exception that Python has just raised, with its traceback.
inline Ref
TakeException()
{
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Ref ownedType(type);
    Ref ownedTraceback(traceback);
    if (traceback)
    {
        PyException_SetTraceback(value, traceback);
    }
    return Ref(value);
}

} // namespace pysim

#endif
