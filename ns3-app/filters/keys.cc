#include "keys.h"

namespace pysim
{

namespace
{

/// Raise an error of pysim.filters.index.
void
RaiseKeyError(const char* name, PyObject* key)
{
    Ref module(PyImport_ImportModule("pysim.filters.index"));
    Ref type(module ? PyObject_GetAttrString(module.Get(), name) : nullptr);
    // Made here, because Python would take a key that is a tuple for several arguments.
    Ref error(type ? PyObject_CallOneArg(type.Get(), key) : nullptr);
    if (error)
    {
        PyErr_SetObject(type.Get(), error.Get());
    }
}

uintptr_t
WordOf(PyObject* found, PyObject* key)
{
    if (!found || found == Py_None)
    {
        RaiseKeyError("UnknownKeyError", key);
        return 0;
    }
    return reinterpret_cast<uintptr_t>(PyLong_AsVoidPtr(found));
}

/// Outputs that stay although what runs until they are taken may remove them from the engine.
class HeldOutputs
{
  public:
    explicit HeldOutputs(const Reached& outputs)
        : m_outputs(outputs)
    {
        for (const uintptr_t output : m_outputs)
        {
            Py_INCREF(Item::Object(output));
        }
    }

    HeldOutputs(const HeldOutputs&) = delete;
    HeldOutputs& operator=(const HeldOutputs&) = delete;

    ~HeldOutputs()
    {
        while (m_taken < m_outputs.Size())
        {
            Take();
        }
    }

    Ref Take()
    {
        return Ref(Item::Object(m_outputs[m_taken++]));
    }

  private:
    const Reached& m_outputs;
    size_t m_taken{0};
};

} // namespace

// A key's methods may do anything, even clear the engine: so the dict is held while they run.

bool
Keys::Add(PyObject* key, uintptr_t word)
{
    Ref value(PyLong_FromVoidPtr(reinterpret_cast<void*>(word)));
    if (!value || !(m_dict || (m_dict = PyDict_New())))
    {
        return false;
    }
    Ref dict = Ref::Borrow(m_dict);
    PyObject* entered = PyDict_SetDefault(dict.Get(), key, value.Get());
    if (entered && entered != value.Get())
    {
        RaiseKeyError("DuplicateKeyError", key);
    }
    return entered == value.Get();
}

void
Keys::Discard(PyObject* key)
{
    Ref dict = Ref::Borrow(m_dict);
    PyDict_DelItem(dict.Get(), key);
}

uintptr_t
Keys::Take(PyObject* key)
{
    Ref dict = Ref::Borrow(m_dict);
    Ref word;
    if (dict)
    {
        static PyObject* pop = PyUnicode_InternFromString("pop");
        word = Ref(PyObject_CallMethodObjArgs(dict.Get(), pop, key, Py_None, nullptr));
        if (!word)
        {
            return 0;
        }
    }
    return WordOf(word.Get(), key);
}

uintptr_t
Keys::Find(PyObject* key) const
{
    Ref dict = Ref::Borrow(m_dict);
    PyObject* word = dict ? PyDict_GetItemWithError(dict.Get(), key) : nullptr;
    return word || !PyErr_Occurred() ? WordOf(word, key) : 0;
}

int
Keys::Contains(PyObject* key) const
{
    Ref dict = Ref::Borrow(m_dict);
    return dict ? PyDict_Contains(dict.Get(), key) : 0;
}

uintptr_t
OutputOf(PyObject* key)
{
    const hashfunc hash = Py_TYPE(key)->tp_hash;
    if (hash == PyBaseObject_Type.tp_hash || hash == PyUnicode_Type.tp_hash ||
        hash == PyLong_Type.tp_hash)
    {
        Py_INCREF(key);
        return reinterpret_cast<uintptr_t>(key);
    }
    Ref alone(PyTuple_Pack(1, key));
    PyObject* held = alone ? PyFrozenSet_New(alone.Get()) : nullptr;
    return held ? reinterpret_cast<uintptr_t>(held) | Item::HELD : 0;
}

PyObject*
SetOf(const Reached& outputs)
{
    HeldOutputs held(outputs);
    Ref set(PySet_New(nullptr));
    for (const uintptr_t output : outputs)
    {
        if (!set)
        {
            break;
        }
        const Ref object = held.Take();
        if (output & Item::HELD)
        {
            set = Ref(PyNumber_InPlaceOr(set.Get(), object.Get()));
        }
        else if (PySet_Add(set.Get(), object.Get()) < 0)
        {
            return nullptr;
        }
    }
    return set.Release();
}

Ref
PlainEvent(PyObject* event)
{
    if (PyDict_CheckExact(event))
    {
        return Ref::Borrow(event);
    }
    Ref items(PyMapping_Items(event));
    Ref plain(items ? PyDict_New() : nullptr);
    if (!plain || PyDict_MergeFromSeq2(plain.Get(), items.Get(), 1) < 0)
    {
        return Ref();
    }
    return plain;
}

} // namespace pysim
