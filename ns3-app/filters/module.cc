#include "matcher.h"

#include <new>

// The extension module pysim.filters._engine: the Matcher as a class of Python's.

namespace pysim
{

namespace
{

struct EngineObject
{
    PyObject_HEAD Matcher matcher;
};

Matcher&
MatcherOf(PyObject* self)
{
    return reinterpret_cast<EngineObject*>(self)->matcher;
}

/// Exceptions end here: the only ones are for want of memory.
template <class Result, class Call>
Result
Guarded(Result failure, Call call)
{
    try
    {
        return call();
    }
    catch (const std::bad_alloc&)
    {
        PyErr_NoMemory();
        return failure;
    }
}

PyObject*
New(PyTypeObject* type, PyObject*, PyObject*)
{
    PyObject* self = type->tp_alloc(type, 0);
    if (self)
    {
        new (&MatcherOf(self)) Matcher();
    }
    return self;
}

void
Dealloc(PyObject* self)
{
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    MatcherOf(self).~Matcher();
    type->tp_free(self);
    Py_DECREF(type);
}

int
Traverse(PyObject* self, visitproc visit, void* arg)
{
    Py_VISIT(Py_TYPE(self));
    return MatcherOf(self).Traverse(visit, arg);
}

int
Clear(PyObject* self)
{
    MatcherOf(self).Clear();
    return 0;
}

PyObject*
Enter(PyObject* self, PyObject* arguments)
{
    PyObject* key;
    PyObject* leaves;
    int isDecided;
    if (!PyArg_ParseTuple(arguments, "OOp:enter", &key, &leaves, &isDecided))
    {
        return nullptr;
    }
    const bool entered =
        Guarded(false, [&] { return MatcherOf(self).Insert(key, leaves, isDecided); });
    return entered ? Py_NewRef(Py_None) : nullptr;
}

PyObject*
Remove(PyObject* self, PyObject* key)
{
    return MatcherOf(self).Remove(key) ? Py_NewRef(Py_None) : nullptr;
}

PyObject*
Match(PyObject* self, PyObject* event)
{
    return Guarded<PyObject*>(nullptr, [&] { return MatcherOf(self).Match(event); });
}

Py_ssize_t
Length(PyObject* self)
{
    return MatcherOf(self).Size();
}

int
Contains(PyObject* self, PyObject* key)
{
    return MatcherOf(self).Contains(key);
}

PyMethodDef g_methods[] = {
    {"enter", Enter, METH_VARARGS, "Add a filter, given as leaves, under a new key."},
    {"remove", Remove, METH_O, "Take out the filter under the key."},
    {"match", Match, METH_O, "The keys of all filters that match, in a set of the caller's own."},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot g_slots[] = {
    {Py_tp_doc, const_cast<char*>("Filters under keys; pysim.filters.native makes their leaves.")},
    {Py_tp_new, reinterpret_cast<void*>(New)},
    {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Clear)},
    {Py_tp_methods, g_methods},
    {Py_sq_length, reinterpret_cast<void*>(Length)},
    {Py_sq_contains, reinterpret_cast<void*>(Contains)},
    {0, nullptr},
};

PyType_Spec g_spec = {
    "pysim.filters._engine.Engine",
    sizeof(EngineObject),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    g_slots,
};

int
Execute(PyObject* module)
{
    Ref type(PyType_FromModuleAndSpec(module, &g_spec, nullptr));
    return type ? PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.Get())) : -1;
}

PyModuleDef_Slot g_moduleSlots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(Execute)},
    {0, nullptr},
};

PyModuleDef g_module = {
    PyModuleDef_HEAD_INIT,
    "pysim.filters._engine",
    "The native matching engine.",
    0,
    nullptr,
    g_moduleSlots,
    nullptr,
    nullptr,
    nullptr,
};

} // namespace

} // namespace pysim

PyMODINIT_FUNC
PyInit__engine()
{
    return PyModuleDef_Init(&pysim::g_module);
}
