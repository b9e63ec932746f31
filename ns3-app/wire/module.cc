#include "../python/ref.h"
#include "envelope.h"

#include <structmember.h>

#include <cstring>

// The extension module pysim.wire._envelope: the class Envelope, which every message of a run
// passes through. The codec and the words for what is wrong with a frame come from Python (`bind`).

namespace pysim
{

namespace
{

/// What `bind` was given.
struct Codec
{
    Ref encode;   ///< a message to the bytes of its body
    Ref decoders; ///< by type code
    Ref messageId;
    Ref describe;
    Ref refuseFrame;
    Ref refuseLength;
    Ref refuseType;
    Ref refuseBody;
    long maxFrame{0};
};

Codec& g_codec = *new Codec; // Python may be gone when the process ends, so this never goes

PyObject* g_codeName = nullptr;
PyObject* g_handlersName = nullptr;
PyObject* g_unhandledName = nullptr;

PyTypeObject* g_envelopeType = nullptr;

EnvelopeObject*
Self(PyObject* object)
{
    return reinterpret_cast<EnvelopeObject*>(object);
}

bool
IsInOrder(PyObject* frame)
{
    if (PyBytes_GET_SIZE(frame) < static_cast<Py_ssize_t>(FrameHeader::SIZE))
    {
        return false;
    }
    auto bytes = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(frame));
    const long length = FrameHeader::Number(bytes);
    return length == PyBytes_GET_SIZE(frame) && length <= g_codec.maxFrame &&
           bytes[FrameHeader::VERSION_AT] == FrameHeader::VERSION;
}

PyObject*
Open(PyObject*, PyObject* frame)
{
    if (!PyBytes_Check(frame))
    {
        return PyErr_Format(PyExc_TypeError, "a frame is bytes, not %s", Py_TYPE(frame)->tp_name);
    }
    return IsInOrder(frame) ? NewEnvelope(g_envelopeType, Py_NewRef(frame))
                            : PyObject_CallOneArg(g_codec.refuseFrame.Get(), frame);
}

/// The type code of a message, or -1 with a Python error; most are of the same class as the last.
long
CodeOf(PyObject* message)
{
    static Ref& lastClass = *new Ref; // held, lest another class come to the same place
    static long lastCode = 0;
    auto const itsClass = reinterpret_cast<PyObject*>(Py_TYPE(message));
    if (itsClass != lastClass.Get())
    {
        Ref code(PyObject_GetAttr(message, g_codeName));
        const long number = code ? PyLong_AsLong(code.Get()) : -1;
        if (number < 0)
        {
            return -1;
        }
        lastCode = number;
        lastClass = Ref::Borrow(itsClass);
    }
    return lastCode;
}

/// Encode a message into a frame of its own.
PyObject*
Sealed(PyObject* message, uint32_t origin, uint32_t sequence, uint16_t flags)
{
    Ref body(PyObject_CallOneArg(g_codec.encode.Get(), message));
    const long type = body ? CodeOf(message) : -1;
    if (type < 0)
    {
        return nullptr;
    }
    const Py_ssize_t bodySize = PyBytes_GET_SIZE(body.Get());
    const long length = FrameHeader::SIZE + bodySize;
    if (length > g_codec.maxFrame)
    {
        return PyObject_CallFunction(g_codec.refuseLength.Get(), "Ol", message, length);
    }
    PyObject* frame = PyBytes_FromStringAndSize(nullptr, length);
    if (!frame)
    {
        return nullptr;
    }
    auto bytes = reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(frame));
    FrameHeader::Put(bytes, length);
    bytes[FrameHeader::VERSION_AT] = FrameHeader::VERSION;
    bytes[FrameHeader::TYPE_AT] = type;
    bytes[FrameHeader::FLAGS_AT] = flags >> 8;
    bytes[FrameHeader::FLAGS_AT + 1] = flags;
    FrameHeader::Put(bytes + FrameHeader::ORIGIN_AT, origin);
    FrameHeader::Put(bytes + FrameHeader::SEQUENCE_AT, sequence);
    std::memcpy(bytes + FrameHeader::SIZE, PyBytes_AS_STRING(body.Get()), bodySize);
    return NewEnvelope(g_envelopeType, frame, message);
}

PyObject*
Seal(PyObject*, PyObject* arguments, PyObject* keywords)
{
    static const char* names[] = {"message", "origin", "sequence", "flags", nullptr};
    PyObject* message = nullptr;
    long long origin = 0;
    long long sequence = 0;
    long long flags = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments,
                                     keywords,
                                     "OLL|L:seal",
                                     const_cast<char**>(names),
                                     &message,
                                     &origin,
                                     &sequence,
                                     &flags))
    {
        return nullptr;
    }
    if (origin != static_cast<uint32_t>(origin) || sequence != static_cast<uint32_t>(sequence) ||
        flags != static_cast<uint16_t>(flags))
    {
        return PyErr_Format(PyExc_ValueError,
                            "origin(=%lld), sequence(=%lld) and flags(=%lld) should fit the header",
                            origin,
                            sequence,
                            flags);
    }
    return Sealed(message, origin, sequence, flags);
}

PyObject*
WithBody(PyObject* self, PyObject* message)
{
    return Sealed(message, Self(self)->origin, Self(self)->sequence, 0);
}

/// Decode the body. @return a new reference, or nullptr with a Python error
PyObject*
Decoded(EnvelopeObject* envelope)
{
    auto self = reinterpret_cast<PyObject*>(envelope);
    Ref code(PyLong_FromLong(envelope->type));
    PyObject* decode = PyDict_GetItemWithError(g_codec.decoders.Get(), code.Get());
    if (!decode)
    {
        return PyErr_Occurred() ? nullptr : PyObject_CallOneArg(g_codec.refuseType.Get(), self);
    }
    Ref body(PyBytes_FromStringAndSize(PyBytes_AS_STRING(envelope->frame) + FrameHeader::SIZE,
                                       PyBytes_GET_SIZE(envelope->frame) - FrameHeader::SIZE));
    PyObject* message = body ? PyObject_CallOneArg(decode, body.Get()) : nullptr;
    if (!message)
    {
        Ref error = TakeException();
        return PyObject_CallFunctionObjArgs(g_codec.refuseBody.Get(), self, error.Get(), nullptr);
    }
    return message;
}

PyObject*
GetMessage(PyObject* self, void*)
{
    EnvelopeObject* envelope = Self(self);
    if (!envelope->body)
    {
        envelope->body = Decoded(envelope);
    }
    return Py_XNewRef(envelope->body);
}

PyObject*
GetId(PyObject* self, void*)
{
    return PyObject_CallFunction(
        g_codec.messageId.Get(), "II", Self(self)->origin, Self(self)->sequence);
}

PyObject*
Repr(PyObject* self)
{
    return PyObject_CallOneArg(g_codec.describe.Get(), self);
}

void
Dealloc(PyObject* self)
{
    PyTypeObject* type = Py_TYPE(self);
    Py_DECREF(Self(self)->frame);
    Py_XDECREF(Self(self)->body);
    PyObject_Free(self);
    Py_DECREF(type);
}

PyObject*
Bind(PyObject*, PyObject* arguments, PyObject* keywords)
{
    static const char* names[] = {"encode",
                                  "decoders",
                                  "message_id",
                                  "max_frame",
                                  "describe",
                                  "refuse_frame",
                                  "refuse_length",
                                  "refuse_type",
                                  "refuse_body",
                                  nullptr};
    PyObject* given[8];
    long maxFrame = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments,
                                     keywords,
                                     "$OO!OlOOOOO:bind",
                                     const_cast<char**>(names),
                                     &given[0],
                                     &PyDict_Type,
                                     &given[1],
                                     &given[2],
                                     &maxFrame,
                                     &given[3],
                                     &given[4],
                                     &given[5],
                                     &given[6],
                                     &given[7]))
    {
        return nullptr;
    }
    g_codec = {Ref::Borrow(given[0]),
               Ref::Borrow(given[1]),
               Ref::Borrow(given[2]),
               Ref::Borrow(given[3]),
               Ref::Borrow(given[4]),
               Ref::Borrow(given[5]),
               Ref::Borrow(given[6]),
               Ref::Borrow(given[7]),
               maxFrame};
    Py_RETURN_NONE;
}

template <typename FunctionPointer>
PyCFunction
AsPyCFunction(FunctionPointer function)
{
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef g_methods[] = {
    {"open",
     Open,
     METH_O | METH_STATIC,
     "Open a received frame; raises WireError unless it is exactly one whole frame."},
    {"seal",
     AsPyCFunction(Seal),
     METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "Encode a message into a new frame."},
    {"with_body",
     WithBody,
     METH_O,
     "The same message (same identity) with another body, as rewritten in transit."},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef g_members[] = {
    {"frame", T_OBJECT_EX, offsetof(EnvelopeObject, frame), READONLY, "The bytes."},
    {"type", T_UBYTE, offsetof(EnvelopeObject, type), READONLY, "The type's code."},
    {"origin", T_UINT, offsetof(EnvelopeObject, origin), READONLY, "The broker that made it."},
    {"sequence", T_UINT, offsetof(EnvelopeObject, sequence), READONLY, "Its number there."},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef g_properties[] = {
    {"message",
     GetMessage,
     nullptr,
     "The decoded body; raises WireError if it is not a well-formed body of its type.",
     nullptr},
    {"id", GetId, nullptr, "Origin and sequence.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot g_slots[] = {
    {Py_tp_doc, const_cast<char*>("As pysim.wire.plain_envelope.Envelope, in native code.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
    {Py_tp_repr, reinterpret_cast<void*>(Repr)},
    {Py_tp_methods, g_methods},
    {Py_tp_members, g_members},
    {Py_tp_getset, g_properties},
    {0, nullptr},
};

PyType_Spec g_spec = {
    "pysim.wire._envelope.Envelope",
    sizeof(EnvelopeObject),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    g_slots,
};

/// (agent, sender, envelope): a method, see pysim.wire.plain_envelope.
PyObject*
ReceiveByType(PyObject*, PyObject* const* arguments, Py_ssize_t count)
{
    if (count != 3 || Py_TYPE(arguments[2]) != g_envelopeType)
    {
        PyErr_SetString(PyExc_TypeError,
                        "receive_by_type() takes an agent, a sender and an envelope");
        return nullptr;
    }
    Ref handlers(PyObject_GetAttr(arguments[0], g_handlersName));
    Ref code(PyLong_FromLong(Self(arguments[2])->type));
    PyObject* handler = handlers ? PyDict_GetItemWithError(handlers.Get(), code.Get()) : nullptr;
    if (!handler)
    {
        return PyErr_Occurred()
                   ? nullptr
                   : PyObject_CallMethodOneArg(arguments[0], g_unhandledName, arguments[2]);
    }
    return PyObject_Vectorcall(handler, arguments, 3, nullptr);
}

PyMethodDef g_receiveByType = {"receive_by_type",
                               AsPyCFunction(ReceiveByType),
                               METH_FASTCALL,
                               "Hand a message to the handler of its type."};

PyMethodDef g_functions[] = {
    {"bind",
     AsPyCFunction(Bind),
     METH_VARARGS | METH_KEYWORDS,
     "Say how bodies are coded, and in what words a frame is refused."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef g_module = {
    PyModuleDef_HEAD_INIT,
    "pysim.wire._envelope",
    "Envelopes in native code.",
    -1,
    g_functions,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

} // namespace

} // namespace pysim

PyMODINIT_FUNC
PyInit__envelope()
{
    using namespace pysim;
    g_codeName = PyUnicode_InternFromString("CODE");
    g_handlersName = PyUnicode_InternFromString("_handlers");
    g_unhandledName = PyUnicode_InternFromString("_unhandled");
    g_envelopeType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&g_spec));
    Ref module(PyModule_Create(&g_module));
    Ref function(PyCFunction_New(&g_receiveByType, nullptr));
    Ref method(function ? PyInstanceMethod_New(function.Get()) : nullptr); // binds, as Python's do
    const bool complete = g_codeName && g_handlersName && g_unhandledName && g_envelopeType &&
                          module && method && PyModule_AddType(module.Get(), g_envelopeType) == 0 &&
                          PyModule_AddObjectRef(module.Get(), "receive_by_type", method.Get()) == 0;
    return complete ? module.Release() : nullptr;
}
