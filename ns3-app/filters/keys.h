#ifndef PYSIM_FILTERS_KEYS_H
#define PYSIM_FILTERS_KEYS_H

#include "subscription.h"

#include "../python/ref.h"

namespace pysim
{

/// A word for each key: where its subscription is. No word is 0.
class Keys
{
  public:
    Keys() = default;
    Keys(const Keys&) = delete;
    Keys& operator=(const Keys&) = delete;

    ~Keys()
    {
        Py_XDECREF(m_dict);
    }

    /// @return whether the key is new; if not, a Python error is set
    bool Add(PyObject* key, uintptr_t word);
    /// Take back what Add did.
    void Discard(PyObject* key);
    /// @return the word of a key that goes, or 0 with a Python error
    uintptr_t Take(PyObject* key);
    /// @return the word of a key that stays, or 0 with a Python error
    uintptr_t Find(PyObject* key) const;
    /// @return 1, 0, or -1 with a Python error
    int Contains(PyObject* key) const;

    Py_ssize_t Size() const
    {
        return m_dict ? PyDict_GET_SIZE(m_dict) : 0;
    }

    PyObject* Dict() const
    {
        return m_dict;
    }

    /// Hand over the dict to who needs the keys a little longer.
    Ref Release()
    {
        return Ref(std::exchange(m_dict, nullptr));
    }

    template <class Visit> static void ForEachWord(PyObject* dict, Visit visit)
    {
        PyObject* word;
        for (Py_ssize_t place = 0; dict && PyDict_Next(dict, &place, nullptr, &word);)
        {
            visit(reinterpret_cast<uintptr_t>(PyLong_AsVoidPtr(word)));
        }
    }

  private:
    PyObject* m_dict{nullptr};
};

/// What to hand out for a key: itself, or a set of it that knows its hash where that is slow;
/// owned.
uintptr_t OutputOf(PyObject* key);

/// A set of all that is to be handed out, or nullptr with a Python error.
PyObject* SetOf(const Reached& outputs);

/// An event as a plain dict, or nothing with a Python error.
Ref PlainEvent(PyObject* event);

} // namespace pysim

#endif
