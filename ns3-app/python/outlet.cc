#include "outlet.h"

#include "arguments.h"

#include <structmember.h>

namespace pysim
{

namespace
{

OutletObject*
Self(PyObject* object)
{
    return reinterpret_cast<OutletObject*>(object);
}

/// The item itself if it is an envelope, else the new message as one.
Ref
EnvelopeOf(const OutletObject& outlet, PyObject* item)
{
    return Py_IS_TYPE(item, outlet.simulation->EnvelopeType())
               ? Ref::Borrow(item)
               : Ref(PyObject_CallOneArg(outlet.originate, item));
}

PyObject*
Send(PyObject* self, PyObject* const* arguments, size_t countAndFlag, PyObject* keywords)
{
    OutletObject& outlet = *Self(self);
    uint32_t target = 0;
    if (keywords && PyTuple_GET_SIZE(keywords) > 0)
    {
        PyErr_SetString(PyExc_TypeError, "send() takes no keyword arguments");
        return nullptr;
    }
    if (!RequireOpen(outlet.simulation) ||
        !RequireCount("send", PyVectorcall_NARGS(countAndFlag), 2) ||
        !ReadBroker(*outlet.simulation, arguments[0], target))
    {
        return nullptr;
    }
    Ref envelope = EnvelopeOf(outlet, arguments[1]);
    if (!envelope)
    {
        return nullptr;
    }
    PyObject* frame = reinterpret_cast<EnvelopeObject*>(envelope.Get())->frame;
    const auto bytes = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(frame));
    const auto size = static_cast<uint32_t>(PyBytes_GET_SIZE(frame));
    const auto result = outlet.application->Send(target, bytes, size);
    if (result == BrokerApplication::SendResult::OK)
    {
        outlet.book->EnterSent(target, frame);
    }
    return Sent(result, outlet.broker, target, size);
}

void
Dealloc(PyObject* self)
{
    PyTypeObject* type = Py_TYPE(self);
    Py_XDECREF(Self(self)->originate);
    PyObject_Free(self);
    Py_DECREF(type);
}

PyMemberDef g_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OutletObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot g_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_members, g_members},
    {0, nullptr},
};

PyType_Spec g_spec = {
    "pysim.network.Outlet",
    sizeof(OutletObject),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION |
        Py_TPFLAGS_IMMUTABLETYPE,
    g_slots,
};

} // namespace

PyObject*
OutletObject::New(Simulation::Impl& simulation, uint32_t broker, PyObject* originate)
{
    static auto type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&g_spec));
    auto outlet = type ? PyObject_New(OutletObject, type) : nullptr;
    if (outlet)
    {
        outlet->call = Send;
        outlet->simulation = &simulation;
        outlet->application = &simulation.network.App(broker);
        outlet->book = &simulation.books[broker];
        outlet->originate = Py_NewRef(originate);
        outlet->broker = broker;
    }
    return reinterpret_cast<PyObject*>(outlet);
}

void
OutletObject::Close()
{
    simulation = nullptr;
    Py_CLEAR(originate); // a method of the world that holds the outlet
}

} // namespace pysim
