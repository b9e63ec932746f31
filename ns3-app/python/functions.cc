#include "arguments.h"
#include "outlet.h"

#include "ns3/simulator.h"

using namespace ns3;

// The functions that Python calls for every message, made natively: see Simulation::Function.

namespace pysim
{

namespace
{

using Impl = Simulation::Impl;

constexpr const char* CAPSULE = "pysim.simulation";
constexpr const char* CHANNEL_NAMES[] = {"link", "tcp", "udp"};

Impl*
Self(PyObject* capsule)
{
    const auto& handle =
        **static_cast<std::shared_ptr<Impl::Handle>*>(PyCapsule_GetPointer(capsule, CAPSULE));
    return RequireOpen(handle.simulation) ? handle.simulation : nullptr;
}

bool
Ends(Impl* self, PyObject* const* arguments, uint32_t& source, uint32_t& target)
{
    return ReadBroker(*self, arguments[0], source) && ReadBroker(*self, arguments[1], target);
}

/// Look at a bytes object; sets a Python error and returns nullptr if it is none.
const uint8_t*
Bytes(PyObject* object, uint32_t& size)
{
    char* data = nullptr;
    Py_ssize_t length = 0;
    if (PyBytes_AsStringAndSize(object, &data, &length) < 0)
    {
        return nullptr;
    }
    size = static_cast<uint32_t>(length);
    return reinterpret_cast<const uint8_t*>(data);
}

PyObject*
Now(PyObject* capsule, PyObject*)
{
    return Self(capsule) ? PyLong_FromLongLong(Simulator::Now().GetNanoSeconds()) : nullptr;
}

PyObject*
Send(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    Impl* self = Self(capsule);
    uint32_t source = 0;
    uint32_t target = 0;
    uint32_t size = 0;
    if (!self || !RequireCount("send", count, 3) || !Ends(self, arguments, source, target))
    {
        return nullptr;
    }
    const uint8_t* frame = Bytes(arguments[2], size);
    return frame ? Sent(self->network.App(source).Send(target, frame, size), source, target, size)
                 : nullptr;
}

PyObject*
SendDirect(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    Impl* self = Self(capsule);
    uint32_t source = 0;
    uint32_t target = 0;
    uint32_t size = 0;
    if (!self || !RequireCount("send_direct", count, 4) || !Ends(self, arguments, source, target))
    {
        return nullptr;
    }
    if (source == target)
    {
        return PyErr_Format(PyExc_ValueError, "broker %u sends directly to itself", source);
    }
    const uint8_t* frame = Bytes(arguments[2], size);
    const int udp = PyObject_IsTrue(arguments[3]);
    return frame && udp >= 0 ? Sent(self->network.SendDirect(source, target, udp, frame, size),
                                    source,
                                    target,
                                    size)
                             : nullptr;
}

PyObject*
EnterSent(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    Impl* self = Self(capsule);
    uint32_t source = 0;
    uint32_t target = 0;
    uint32_t size = 0;
    if (!self || !RequireCount("enter_sent", count, 3) || !Ends(self, arguments, source, target) ||
        !Bytes(arguments[2], size))
    {
        return nullptr;
    }
    self->books[source].EnterSent(target, arguments[2]);
    Py_RETURN_NONE;
}

PyObject*
EnterReceived(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    Impl* self = Self(capsule);
    uint32_t broker = 0;
    uint32_t size = 0;
    if (!self || !RequireCount("enter_received", count, 2) ||
        !ReadBroker(*self, arguments[0], broker) || !Bytes(arguments[1], size))
    {
        return nullptr;
    }
    self->books[broker].EnterReceived(arguments[1]);
    Py_RETURN_NONE;
}

PyObject*
Book(PyObject* capsule, PyObject* number)
{
    Impl* self = Self(capsule);
    uint32_t broker = 0;
    return self && ReadBroker(*self, number, broker) ? self->books[broker].Read() : nullptr;
}

PyObject*
Inject(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    Impl* self = Self(capsule);
    uint32_t source = 0;
    uint32_t target = 0;
    uint32_t size = 0;
    if (!self || !RequireCount("inject", count, 3) || !Ends(self, arguments, source, target))
    {
        return nullptr;
    }
    const uint8_t* bytes = Bytes(arguments[2], size);
    return bytes ? PyBool_FromLong(self->network.App(source).Inject(target, bytes, size)) : nullptr;
}

PyObject*
Submit(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    Impl* self = Self(capsule);
    uint32_t broker = 0;
    if (!self || !RequireCount("submit", count, 2) || !ReadBroker(*self, arguments[0], broker))
    {
        return nullptr;
    }
    auto agent = static_cast<PythonAgent*>(self->agents[broker].get());
    self->network.App(broker).Submit(
        [agent, task = Ref::Borrow(arguments[1])]() { return agent->Work(task); });
    Py_RETURN_NONE;
}

PyObject*
Schedule(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    Impl* self = Self(capsule);
    if (!self || !RequireCount("schedule", count, 2))
    {
        return nullptr;
    }
    const long long delay = PyLong_AsLongLong(arguments[0]);
    if (delay == -1 && PyErr_Occurred())
    {
        return nullptr;
    }
    if (delay < 0)
    {
        return PyErr_Format(PyExc_ValueError, "delay(=%lld ns) should be >= 0", delay);
    }
    return PyLong_FromLongLong(self->Schedule(delay, arguments[1]));
}

PyObject*
Cancel(PyObject* capsule, PyObject* ticket)
{
    Impl* self = Self(capsule);
    const long long number = PyLong_AsLongLong(ticket);
    if (!self || (number == -1 && PyErr_Occurred()))
    {
        return nullptr;
    }
    self->Cancel(number);
    Py_RETURN_NONE;
}

PyObject*
Run(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    Impl* self = Self(capsule);
    if (!self || !RequireCount("run", count, 2))
    {
        return nullptr;
    }
    const long long until = PyLong_AsLongLong(arguments[0]);
    if (until == -1 && PyErr_Occurred())
    {
        return nullptr;
    }
    return self->Run(until, arguments[1]);
}

PyObject*
Counters(PyObject* capsule, PyObject*)
{
    Impl* self = Self(capsule);
    Ref rows(self ? PyList_New(0) : nullptr);
    if (!rows)
    {
        return nullptr;
    }
    self->network.Book().ForEach([&](const Flow& flow) {
        for (const TypeCount& count : flow.types)
        {
            Ref row(Py_BuildValue("IIsBKKKKKKKKK",
                                  flow.source,
                                  flow.target,
                                  CHANNEL_NAMES[static_cast<int>(flow.kind)],
                                  count.type,
                                  count.sent,
                                  count.sentBytes,
                                  count.received,
                                  count.receivedBytes,
                                  count.lostLink,
                                  count.lostPacket,
                                  count.UnderWay(),
                                  count.received - count.served,
                                  count.receivedBytes - count.servedBytes));
            PyList_Append(rows.Get(), row.Get());
        }
    });
    return rows.Release();
}

PyObject*
Queues(PyObject* capsule, PyObject*)
{
    Impl* self = Self(capsule);
    Ref rows(self ? PyList_New(0) : nullptr);
    for (uint32_t broker = 0; rows && broker < self->brokers; broker++)
    {
        const BrokerApplication& app = self->network.App(broker);
        if (app.HasServiceModel())
        {
            const auto& statistics = app.GetQueueStatistics();
            Ref row(Py_BuildValue("IKLLIIKK",
                                  broker,
                                  statistics.served,
                                  static_cast<long long>(statistics.busy.GetNanoSeconds()),
                                  static_cast<long long>(statistics.waiting.GetNanoSeconds()),
                                  statistics.longest,
                                  app.GetQueueLength(),
                                  statistics.delayed,
                                  statistics.joined));
            PyList_Append(rows.Get(), row.Get());
        }
    }
    return rows.Release();
}

PyObject*
Malformed(PyObject* capsule, PyObject*)
{
    Impl* self = Self(capsule);
    Ref rows(self ? PyList_New(0) : nullptr);
    for (uint32_t broker = 0; rows && broker < self->brokers; broker++)
    {
        if (const uint64_t malformed = self->network.App(broker).GetMalformed())
        {
            Ref row(Py_BuildValue("IK", broker, malformed));
            PyList_Append(rows.Get(), row.Get());
        }
    }
    return rows.Release();
}

PyObject*
Events(PyObject* capsule, PyObject*)
{
    return Self(capsule) ? PyLong_FromUnsignedLongLong(Simulator::GetEventCount()) : nullptr;
}

PyObject*
Digest(PyObject* capsule, PyObject*)
{
    Impl* self = Self(capsule);
    return self ? PyLong_FromUnsignedLongLong(self->network.Book().Digest()) : nullptr;
}

template <typename FunctionPointer>
PyCFunction
AsPyCFunction(FunctionPointer function)
{
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef g_functions[] = {
    {"now", Now, METH_NOARGS, nullptr},
    {"send", AsPyCFunction(Send), METH_FASTCALL, nullptr},
    {"send_direct", AsPyCFunction(SendDirect), METH_FASTCALL, nullptr},
    {"inject", AsPyCFunction(Inject), METH_FASTCALL, nullptr},
    {"submit", AsPyCFunction(Submit), METH_FASTCALL, nullptr},
    {"schedule", AsPyCFunction(Schedule), METH_FASTCALL, nullptr},
    {"cancel", Cancel, METH_O, nullptr},
    {"enter_sent", AsPyCFunction(EnterSent), METH_FASTCALL, nullptr},
    {"enter_received", AsPyCFunction(EnterReceived), METH_FASTCALL, nullptr},
    {"book", Book, METH_O, nullptr},
    {"run", AsPyCFunction(Run), METH_FASTCALL, nullptr},
    {"counters", Counters, METH_NOARGS, nullptr},
    {"queues", Queues, METH_NOARGS, nullptr},
    {"malformed", Malformed, METH_NOARGS, nullptr},
    {"events", Events, METH_NOARGS, nullptr},
    {"digest", Digest, METH_NOARGS, nullptr},
};

/// Holds the handle as long as a Python function of ours lives that works on it.
Ref
Capsule(const std::shared_ptr<Impl::Handle>& handle)
{
    return Ref(
        PyCapsule_New(new std::shared_ptr<Impl::Handle>(handle), CAPSULE, [](PyObject* capsule) {
            delete static_cast<std::shared_ptr<Impl::Handle>*>(
                PyCapsule_GetPointer(capsule, CAPSULE));
        }));
}

} // namespace

PyObject*
Simulation::Function(const std::string& name)
{
    for (PyMethodDef& function : g_functions)
    {
        if (name == function.ml_name)
        {
            return PyCFunction_NewEx(&function, Capsule(m_impl->handle).Get(), nullptr);
        }
    }
    return PyErr_Format(PyExc_AttributeError, "the simulation has no function %s", name.c_str());
}

PyObject*
Simulation::Outlet(uint32_t broker, PyObject* originate)
{
    PyObject* outlet = OutletObject::New(*m_impl, broker, originate);
    m_impl->outlets.push_back(Ref::Borrow(outlet));
    return outlet;
}

} // namespace pysim
