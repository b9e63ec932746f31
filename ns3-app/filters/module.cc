#include "matcher.h"
#include "simplified.h"
#include "traditional.h"
#include "two-step.h"

#include <new>

// The extension module pysim.filters._engine: the engines as classes of Python's.

namespace pysim
{

namespace
{

template <class Index> struct Object
{
    PyObject_HEAD Index index;
};

template <class Index>
Index&
IndexOf(PyObject* self)
{
    return reinterpret_cast<Object<Index>*>(self)->index;
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

/// None if a call went well.
template <class Call>
PyObject*
Done(Call call)
{
    return Guarded(false, call) ? Py_NewRef(Py_None) : nullptr;
}

/// What all engines have in common.
template <class Index> struct Methods
{
    static PyObject* New(PyTypeObject* type, PyObject*, PyObject*)
    {
        PyObject* self = type->tp_alloc(type, 0);
        if (self)
        {
            new (&IndexOf<Index>(self)) Index();
        }
        return self;
    }

    static void Dealloc(PyObject* self)
    {
        PyTypeObject* type = Py_TYPE(self);
        PyObject_GC_UnTrack(self);
        IndexOf<Index>(self).~Index();
        type->tp_free(self);
        Py_DECREF(type);
    }

    static int Traverse(PyObject* self, visitproc visit, void* arg)
    {
        Py_VISIT(Py_TYPE(self));
        return IndexOf<Index>(self).Traverse(visit, arg);
    }

    static int Clear(PyObject* self)
    {
        IndexOf<Index>(self).Clear();
        return 0;
    }

    static PyObject* Remove(PyObject* self, PyObject* key)
    {
        return Done([&] { return IndexOf<Index>(self).Remove(key); });
    }

    static PyObject* Match(PyObject* self, PyObject* event)
    {
        return Guarded<PyObject*>(nullptr, [&] { return IndexOf<Index>(self).Match(event); });
    }

    static Py_ssize_t Length(PyObject* self)
    {
        return IndexOf<Index>(self).Size();
    }

    static int Contains(PyObject* self, PyObject* key)
    {
        return IndexOf<Index>(self).Contains(key);
    }
};

PyObject*
EnterDecided(PyObject* self, PyObject* arguments)
{
    PyObject* key;
    PyObject* leaves;
    int isDecided;
    if (!PyArg_ParseTuple(arguments, "OOp:enter", &key, &leaves, &isDecided))
    {
        return nullptr;
    }
    return Done([&] { return IndexOf<Matcher>(self).Insert(key, leaves, isDecided); });
}

PyObject*
Enter(PyObject* self, PyObject* arguments)
{
    PyObject* key;
    PyObject* leaves;
    unsigned int minimum;
    if (!PyArg_ParseTuple(arguments, "OOI:enter", &key, &leaves, &minimum))
    {
        return nullptr;
    }
    return Done([&] { return IndexOf<TwoStep>(self).Insert(key, leaves, minimum); });
}

PyObject*
Exchange(PyObject* self, PyObject* arguments)
{
    PyObject* key;
    PyObject* leaves;
    unsigned int minimum;
    if (!PyArg_ParseTuple(arguments, "OOI:exchange", &key, &leaves, &minimum))
    {
        return nullptr;
    }
    return Done([&] { return IndexOf<TwoStep>(self).Replace(key, leaves, minimum); });
}

PyObject*
Selectivity(PyObject* self, PyObject* leaves)
{
    return Guarded<PyObject*>(nullptr, [&] { return IndexOf<TwoStep>(self).Selectivity(leaves); });
}

template <class Index, auto get>
PyObject*
Count(PyObject* self, void*)
{
    return PyLong_FromUnsignedLongLong((IndexOf<Index>(self).*get)());
}

/// What both relation graphs can do.
template <class Graph> struct GraphMethods
{
    static PyObject* Enter(PyObject* self, PyObject* arguments)
    {
        PyObject* key;
        PyObject* filter;
        PyObject* sides;
        if (!PyArg_ParseTuple(arguments, "OOO:enter", &key, &filter, &sides))
        {
            return nullptr;
        }
        return Guarded<PyObject*>(nullptr,
                                  [&] { return IndexOf<Graph>(self).Insert(key, filter, sides); });
    }

    static PyObject* Remove(PyObject* self, PyObject* key)
    {
        return Guarded<PyObject*>(nullptr, [&] { return IndexOf<Graph>(self).Remove(key); });
    }

    static PyObject* IsRoot(PyObject* self, PyObject* key)
    {
        const int isRoot = IndexOf<Graph>(self).IsRoot(key);
        return isRoot < 0 ? nullptr : PyBool_FromLong(isRoot);
    }

    static PyObject* Roots(PyObject* self, PyObject*)
    {
        return Guarded<PyObject*>(nullptr, [&] { return IndexOf<Graph>(self).Roots(); });
    }

    static PyObject* Edges(PyObject* self, PyObject*)
    {
        return Guarded<PyObject*>(nullptr, [&] { return IndexOf<Graph>(self).Edges(); });
    }
};

constexpr const char* REMOVE = "Take out the filter under the key.";
constexpr const char* MATCH = "The keys of all filters that match, in a set of the caller's own.";

PyMethodDef g_matcherMethods[] = {
    {"enter", EnterDecided, METH_VARARGS, "Add a filter, given as leaves, under a new key."},
    {"remove", Methods<Matcher>::Remove, METH_O, REMOVE},
    {"match", Methods<Matcher>::Match, METH_O, MATCH},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef g_noCounts[] = {
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef g_twoStepMethods[] = {
    {"enter", Enter, METH_VARARGS, "Add a filter, given as leaves, under a new key."},
    {"exchange", Exchange, METH_VARARGS, "Put another filter, given as leaves, under the key."},
    {"selectivity", Selectivity, METH_O, "Events that fulfilled a predicate, of how many."},
    {"remove", Methods<TwoStep>::Remove, METH_O, REMOVE},
    {"match", Methods<TwoStep>::Match, METH_O, MATCH},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef g_twoStepCounts[] = {
    {"events", Count<TwoStep, &TwoStep::Events>, nullptr, "Events matched so far.", nullptr},
    {"candidates",
     Count<TwoStep, &TwoStep::Candidates>,
     nullptr,
     "Their candidates, together.",
     nullptr},
    {"predicates", Count<TwoStep, &TwoStep::Predicates>, nullptr, "Distinct predicates.", nullptr},
    {"associations",
     Count<TwoStep, &TwoStep::Associations>,
     nullptr,
     "Pairs of these and keys.",
     nullptr},
    {"bytes", Count<TwoStep, &TwoStep::Bytes>, nullptr, "Memory of the tables and trees.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <class Graph>
PyMethodDef g_graphMethods[] = {
    {"enter", GraphMethods<Graph>::Enter, METH_VARARGS, "Add a filter, given with its box."},
    {"remove", GraphMethods<Graph>::Remove, METH_O, "Take a filter out; the keys of new roots."},
    {"is_root", GraphMethods<Graph>::IsRoot, METH_O, "Whether the key stands for a root."},
    {"roots", GraphMethods<Graph>::Roots, METH_NOARGS, "Their keys, in order of insertion."},
    {"edges", GraphMethods<Graph>::Edges, METH_NOARGS, "The keys of parents and children."},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

template <class Graph>
PyGetSetDef g_graphCounts[] = {
    {"comparisons", Count<Graph, &Graph::Comparisons>, nullptr, "So far.", nullptr},
    {"root_count", Count<Graph, &Graph::RootCount>, nullptr, "Roots now.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <class Index>
int
AddType(PyObject* module, const char* name, PyMethodDef* methods, PyGetSetDef* counts)
{
    using Common = Methods<Index>;
    PyType_Slot slots[] = {
        {Py_tp_doc, const_cast<char*>("Filters under keys; pysim.filters makes their leaves.")},
        {Py_tp_new, reinterpret_cast<void*>(Common::New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(Common::Dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(Common::Traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(Common::Clear)},
        {Py_tp_methods, methods},
        {Py_tp_getset, counts},
        {Py_sq_length, reinterpret_cast<void*>(Common::Length)},
        {Py_sq_contains, reinterpret_cast<void*>(Common::Contains)},
        {0, nullptr},
    };
    PyType_Spec spec = {
        name,
        sizeof(Object<Index>),
        0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
        slots,
    };
    Ref type(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return type ? PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.Get())) : -1;
}

template <class Graph>
int
AddGraph(PyObject* module, const char* name)
{
    return AddType<Graph>(module, name, g_graphMethods<Graph>, g_graphCounts<Graph>);
}

int
Execute(PyObject* module)
{
    if (AddType<Matcher>(module, "pysim.filters._engine.Engine", g_matcherMethods, g_noCounts) < 0)
    {
        return -1;
    }
    if (AddType<TwoStep>(
            module, "pysim.filters._engine.TwoStepEngine", g_twoStepMethods, g_twoStepCounts) < 0)
    {
        return -1;
    }
    if (AddGraph<Simplified>(module, "pysim.filters._engine.SimplifiedEngine") < 0)
    {
        return -1;
    }
    return AddGraph<Traditional>(module, "pysim.filters._engine.TraditionalEngine");
}

PyModuleDef_Slot g_moduleSlots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(Execute)},
    {0, nullptr},
};

PyModuleDef g_module = {
    PyModuleDef_HEAD_INIT,
    "pysim.filters._engine",
    "The native matching engines and relation graphs.",
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
