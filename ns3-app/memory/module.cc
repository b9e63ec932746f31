#include "../python/agent-book.h"
#include "post.h"

#include <limits>

// The extension module pysim.network._post: the hot part of the memory network, and its agents'
// books. It checks what Python gives; Post and AgentBook trust it.

namespace pysim
{

namespace
{

struct PostObject
{
    PyObject_HEAD Post* post;
};

struct BooksObject
{
    PyObject_HEAD AgentBook* book;
};

Post&
PostOf(PyObject* self)
{
    return *reinterpret_cast<PostObject*>(self)->post;
}

AgentBook&
BookOf(PyObject* self)
{
    return *reinterpret_cast<BooksObject*>(self)->book;
}

// Arguments

bool
RequireCount(const char* name, Py_ssize_t count, Py_ssize_t expected)
{
    if (count != expected)
    {
        PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, not %zd", name, expected, count);
    }
    return count == expected;
}

bool
ReadNumber(PyObject* object, int64_t& number)
{
    number = PyLong_AsLongLong(object);
    return number != -1 || !PyErr_Occurred();
}

bool
ReadId(PyObject* object, uint32_t& broker)
{
    int64_t number = 0;
    if (!ReadNumber(object, number))
    {
        return false;
    }
    if (number < 0 || number > std::numeric_limits<uint32_t>::max())
    {
        PyErr_Format(PyExc_ValueError, "there is no broker %lld", static_cast<long long>(number));
        return false;
    }
    broker = static_cast<uint32_t>(number);
    return true;
}

/// Read the id of a broker that is there.
bool
ReadBroker(PyObject* self, PyObject* object, uint32_t& broker)
{
    if (!ReadId(object, broker))
    {
        return false;
    }
    if (!PostOf(self).IsKnown(broker))
    {
        PyErr_Format(PyExc_ValueError, "there is no broker %u", broker);
        return false;
    }
    return true;
}

bool
RequireBytes(PyObject* frame)
{
    if (!PyBytes_Check(frame))
    {
        PyErr_Format(PyExc_TypeError, "a frame is bytes, not %s", Py_TYPE(frame)->tp_name);
        return false;
    }
    return true;
}

PyObject*
NoneIf(bool isWell)
{
    return isWell ? Py_NewRef(Py_None) : nullptr;
}

using Arguments = PyObject* const*;

// Post: brokers and links

PyObject*
Attach(PyObject* self, Arguments given, Py_ssize_t count)
{
    uint32_t broker = 0;
    if (!RequireCount("attach", count, 3) || !ReadId(given[0], broker))
    {
        return nullptr;
    }
    PostOf(self).Attach(broker, given[1], PyObject_IsTrue(given[2]) == 1);
    Py_RETURN_NONE;
}

PyObject*
IsAlive(PyObject* self, PyObject* given)
{
    uint32_t broker = 0;
    return ReadBroker(self, given, broker) ? PyBool_FromLong(PostOf(self).IsAlive(broker))
                                           : nullptr;
}

PyObject*
Open(PyObject* self, Arguments given, Py_ssize_t count)
{
    uint32_t source = 0;
    uint32_t target = 0;
    int64_t delay = 0;
    if (!RequireCount("open", count, 3) || !ReadBroker(self, given[0], source) ||
        !ReadBroker(self, given[1], target) || !ReadNumber(given[2], delay))
    {
        return nullptr;
    }
    PostOf(self).Open(source, target, delay);
    Py_RETURN_NONE;
}

PyObject*
Cut(PyObject* self, Arguments given, Py_ssize_t count)
{
    uint32_t a = 0;
    uint32_t b = 0;
    if (!RequireCount("cut", count, 2) || !ReadBroker(self, given[0], a) ||
        !ReadBroker(self, given[1], b))
    {
        return nullptr;
    }
    PostOf(self).Cut(a, b);
    Py_RETURN_NONE;
}

PyObject*
Silence(PyObject* self, PyObject* given)
{
    uint32_t broker = 0;
    if (!ReadBroker(self, given, broker))
    {
        return nullptr;
    }
    PostOf(self).Silence(broker);
    Py_RETURN_NONE;
}

PyObject*
Revive(PyObject* self, PyObject* given)
{
    uint32_t broker = 0;
    if (!ReadBroker(self, given, broker))
    {
        return nullptr;
    }
    PostOf(self).Revive(broker);
    Py_RETURN_NONE;
}

// Post: sending

PyObject*
Send(PyObject* self, Arguments given, Py_ssize_t count)
{
    uint32_t source = 0;
    uint32_t target = 0;
    return RequireCount("send", count, 3) && ReadId(given[0], source) && ReadId(given[1], target) &&
                   RequireBytes(given[2])
               ? NoneIf(PostOf(self).Send(source, target, given[2]))
               : nullptr;
}

PyObject*
SendDirect(PyObject* self, Arguments given, Py_ssize_t count)
{
    uint32_t source = 0;
    uint32_t target = 0;
    if (!RequireCount("send_direct", count, 4) || !ReadId(given[0], source) ||
        !ReadId(given[1], target) || !RequireBytes(given[2]))
    {
        return nullptr;
    }
    if (source == target)
    {
        return PyErr_Format(
            PyExc_ValueError, "broker %u cannot send a direct message to itself", source);
    }
    if (!ReadBroker(self, given[0], source) || !ReadBroker(self, given[1], target))
    {
        return nullptr;
    }
    const bool isUdp = PyUnicode_CompareWithASCIIString(given[3], "udp") == 0;
    const auto channel = isUdp ? Post::UDP : Post::TCP;
    return NoneIf(PostOf(self).SendDirect(source, target, given[2], channel));
}

PyObject*
Submit(PyObject* self, Arguments given, Py_ssize_t count)
{
    uint32_t broker = 0;
    if (!RequireCount("submit", count, 2) || !ReadBroker(self, given[0], broker))
    {
        return nullptr;
    }
    if (!PostOf(self).IsAlive(broker))
    {
        return PyErr_Format(PyExc_ValueError, "broker %u is down and takes no work", broker);
    }
    return NoneIf(PostOf(self).Submit(broker, given[1]));
}

// Post: time

PyObject*
Schedule(PyObject* self, Arguments given, Py_ssize_t count)
{
    int64_t delay = 0;
    if (!RequireCount("schedule", count, 2) || !ReadNumber(given[0], delay))
    {
        return nullptr;
    }
    if (delay < 0)
    {
        return PyErr_Format(
            PyExc_ValueError, "delay(=%lld) should be >= 0 ns", static_cast<long long>(delay));
    }
    return PyLong_FromUnsignedLongLong(PostOf(self).Schedule(delay, given[1]));
}

PyObject*
Cancel(PyObject* self, PyObject* given)
{
    int64_t ticket = 0;
    if (!ReadNumber(given, ticket))
    {
        return nullptr;
    }
    PostOf(self).Cancel(ticket);
    Py_RETURN_NONE;
}

PyObject*
Run(PyObject* self, PyObject* given, PyObject* keywords)
{
    static const char* names[] = {"until", "progress", nullptr};
    long long until = 0;
    PyObject* progress = Py_None;
    if (!PyArg_ParseTupleAndKeywords(
            given, keywords, "L|O:run", const_cast<char**>(names), &until, &progress))
    {
        return nullptr;
    }
    const auto now = static_cast<long long>(PostOf(self).Now());
    if (until < now)
    {
        return PyErr_Format(
            PyExc_ValueError, "until(=%lld) should be >= the current time of %lld ns", until, now);
    }
    return NoneIf(PostOf(self).Run(until, progress));
}

PyObject*
GetNow(PyObject* self, void*)
{
    return PyLong_FromLongLong(PostOf(self).Now());
}

// Post: results

PyObject*
Counters(PyObject* self, PyObject*)
{
    return PostOf(self).Counters();
}

PyObject*
Queues(PyObject* self, PyObject*)
{
    return PostOf(self).Queues();
}

PyObject*
Flush(PyObject* self, PyObject*)
{
    return NoneIf(PostOf(self).Flush());
}

PyObject*
Clear(PyObject* self, PyObject*)
{
    PostOf(self).Clear();
    Py_RETURN_NONE;
}

PyObject*
NewPost(PyTypeObject* type, PyObject* given, PyObject* keywords)
{
    static const char* names[] = {"way", "draw", "digest", nullptr};
    PyObject* way = nullptr;
    PyObject* draw = nullptr;
    PyObject* digest = nullptr;
    if (!PyArg_ParseTupleAndKeywords(
            given, keywords, "OOO:Post", const_cast<char**>(names), &way, &draw, &digest))
    {
        return nullptr;
    }
    PyObject* self = type->tp_alloc(type, 0);
    if (self)
    {
        reinterpret_cast<PostObject*>(self)->post = new Post(way, draw, digest);
    }
    return self;
}

int
TraversePost(PyObject* self, visitproc visit, void* arg)
{
    Py_VISIT(Py_TYPE(self));
    const Post* post = reinterpret_cast<PostObject*>(self)->post;
    return post ? post->Traverse(visit, arg) : 0;
}

int
ClearPost(PyObject* self)
{
    PostOf(self).Clear();
    return 0;
}

void
DeallocPost(PyObject* self)
{
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    delete reinterpret_cast<PostObject*>(self)->post;
    type->tp_free(self);
    Py_DECREF(type);
}

template <typename FunctionPointer>
PyCFunction
AsPyCFunction(FunctionPointer function)
{
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef g_postMethods[] = {
    {"attach", AsPyCFunction(Attach), METH_FASTCALL, "Give a broker its host."},
    {"is_alive", IsAlive, METH_O, "Whether a broker is not silenced."},
    {"open", AsPyCFunction(Open), METH_FASTCALL, "Open one direction of a link."},
    {"cut", AsPyCFunction(Cut), METH_FASTCALL, "End a link."},
    {"silence", Silence, METH_O, "End a broker's life."},
    {"revive", Revive, METH_O, "Let a broker live again."},
    {"send", AsPyCFunction(Send), METH_FASTCALL, "Send a frame over a link."},
    {"send_direct", AsPyCFunction(SendDirect), METH_FASTCALL, "Send a frame off the overlay."},
    {"submit", AsPyCFunction(Submit), METH_FASTCALL, "Put work into a broker's input queue."},
    {"schedule", AsPyCFunction(Schedule), METH_FASTCALL, "Call back after some ns."},
    {"cancel", Cancel, METH_O, "Forget a scheduled call."},
    {"run", AsPyCFunction(Run), METH_VARARGS | METH_KEYWORDS, "Let time pass until then."},
    {"counters", Counters, METH_NOARGS, "Rows of pysim.network.transport.Counter."},
    {"queues", Queues, METH_NOARGS, "Rows of pysim.network.transport.QueueReport."},
    {"flush", Flush, METH_NOARGS, "Let the digest have all that was handed over."},
    {"clear", Clear, METH_NOARGS, "Forget all that is to come, and everybody."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef g_postProperties[] = {
    {"now", GetNow, nullptr, "Simulated time in nanoseconds.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot g_postSlots[] = {
    {Py_tp_doc, const_cast<char*>("As pysim.network.plain_post.PlainPost, in native code.")},
    {Py_tp_new, reinterpret_cast<void*>(NewPost)},
    {Py_tp_dealloc, reinterpret_cast<void*>(DeallocPost)},
    {Py_tp_traverse, reinterpret_cast<void*>(TraversePost)},
    {Py_tp_clear, reinterpret_cast<void*>(ClearPost)},
    {Py_tp_methods, g_postMethods},
    {Py_tp_getset, g_postProperties},
    {0, nullptr},
};

PyType_Spec g_postSpec = {
    "pysim.network._post.Post",
    sizeof(PostObject),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    g_postSlots,
};

// Books

PyObject*
EnterSent(PyObject* self, Arguments given, Py_ssize_t count)
{
    uint32_t target = 0;
    if (!RequireCount("enter_sent", count, 2) || !ReadId(given[0], target) ||
        !RequireBytes(given[1]))
    {
        return nullptr;
    }
    BookOf(self).EnterSent(target, given[1]);
    Py_RETURN_NONE;
}

PyObject*
EnterReceived(PyObject* self, PyObject* frame)
{
    if (!RequireBytes(frame))
    {
        return nullptr;
    }
    BookOf(self).EnterReceived(frame);
    Py_RETURN_NONE;
}

/// One of the three parts that a book reads as.
template <int PART>
PyObject*
GetPart(PyObject* self, void*)
{
    Ref parts(BookOf(self).Read());
    return parts ? Py_NewRef(PyTuple_GET_ITEM(parts.Get(), PART)) : nullptr;
}

PyObject*
NewBooks(PyTypeObject* type, PyObject*, PyObject*)
{
    PyObject* self = type->tp_alloc(type, 0);
    if (self)
    {
        reinterpret_cast<BooksObject*>(self)->book = new AgentBook;
    }
    return self;
}

void
DeallocBooks(PyObject* self)
{
    PyTypeObject* type = Py_TYPE(self);
    delete reinterpret_cast<BooksObject*>(self)->book;
    type->tp_free(self);
    Py_DECREF(type);
}

PyMethodDef g_booksMethods[] = {
    {"enter_sent", AsPyCFunction(EnterSent), METH_FASTCALL, "A frame was sent to a target."},
    {"enter_received", EnterReceived, METH_O, "A frame was received."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef g_booksProperties[] = {
    {"sent", GetPart<0>, nullptr, "Messages and bytes by type.", nullptr},
    {"received", GetPart<1>, nullptr, "Messages and bytes by type.", nullptr},
    {"contents", GetPart<2>, nullptr, "Checksums by target.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot g_booksSlots[] = {
    {Py_tp_doc, const_cast<char*>("As pysim.network.agent_books.PlainBooks, in native code.")},
    {Py_tp_new, reinterpret_cast<void*>(NewBooks)},
    {Py_tp_dealloc, reinterpret_cast<void*>(DeallocBooks)},
    {Py_tp_methods, g_booksMethods},
    {Py_tp_getset, g_booksProperties},
    {0, nullptr},
};

PyType_Spec g_booksSpec = {
    "pysim.network._post.Books",
    sizeof(BooksObject),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    g_booksSlots,
};

PyModuleDef g_module = {
    PyModuleDef_HEAD_INIT,
    "pysim.network._post",
    "The hot part of the memory network in native code.",
    -1,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

bool
AddType(PyObject* module, PyType_Spec& spec)
{
    Ref type(PyType_FromSpec(&spec));
    return type && PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.Get())) == 0;
}

} // namespace

} // namespace pysim

PyMODINIT_FUNC
PyInit__post()
{
    using namespace pysim;
    Ref module(PyModule_Create(&g_module));
    const bool complete =
        module && AddType(module.Get(), g_postSpec) && AddType(module.Get(), g_booksSpec);
    return complete ? module.Release() : nullptr;
}
