#include "simulation-impl.h"

#include "ns3/simulator.h"

using namespace ns3;

// The functions that Python calls for every message, made natively: see Simulation::Function.

namespace pysim
{

namespace
{

using Impl = Simulation::Impl;

constexpr const char* CAPSULE = "pysim.simulation";
constexpr const char* OUTLET = "pysim.outlet";
constexpr const char* CHANNEL_NAMES[] = {"link", "tcp", "udp"};

/// The simulation behind a handle; sets a Python error and returns nullptr if it is closed.
Impl*
Open(const Impl::Handle& handle)
{
    if (!handle.simulation)
    {
        PyErr_SetString(PyExc_RuntimeError, "the simulation is closed");
    }
    return handle.simulation;
}

Impl*
Self(PyObject* capsule)
{
    return Open(
        **static_cast<std::shared_ptr<Impl::Handle>*>(PyCapsule_GetPointer(capsule, CAPSULE)));
}

bool
CheckCount(const char* name, Py_ssize_t count, Py_ssize_t expected)
{
    if (count != expected)
    {
        PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, got %zd", name, expected, count);
    }
    return count == expected;
}

/// Read a broker number; sets a Python error and returns false if it is none.
bool
Broker(Impl* self, PyObject* object, uint32_t& broker)
{
    const long number = PyLong_AsLong(object);
    if (number == -1 && PyErr_Occurred())
    {
        return false;
    }
    if (number < 0 || number >= static_cast<long>(self->brokers))
    {
        PyErr_Format(PyExc_ValueError, "there is no broker %ld", number);
        return false;
    }
    broker = number;
    return true;
}

bool
Ends(Impl* self, PyObject* const* arguments, uint32_t& source, uint32_t& target)
{
    return Broker(self, arguments[0], source) && Broker(self, arguments[1], target);
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
Sent(BrokerApplication::SendResult result, uint32_t source, uint32_t target, uint32_t size)
{
    switch (result)
    {
    case BrokerApplication::SendResult::OK:
        Py_RETURN_NONE;
    case BrokerApplication::SendResult::NO_LINK:
        return PyErr_Format(
            PyExc_ValueError, "broker %u has no link to broker %u to send over", source, target);
    default:
        return PyErr_Format(PyExc_ValueError,
                            "broker %u sends broker %u a frame of %u bytes that is malformed or "
                            "over the limit",
                            source,
                            target,
                            size);
    }
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
    if (!self || !CheckCount("send", count, 3) || !Ends(self, arguments, source, target))
    {
        return nullptr;
    }
    const uint8_t* frame = Bytes(arguments[2], size);
    return frame ? Sent(self->network.App(source).Send(target, frame, size), source, target, size)
                 : nullptr;
}

/// Send for one agent, to (neighbor, item): see Simulation::Outlet.
PyObject*
SendItem(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    const auto& outlet =
        *static_cast<std::shared_ptr<Impl::Outlet>*>(PyCapsule_GetPointer(capsule, OUTLET));
    Impl* self = Open(*outlet->handle);
    uint32_t target = 0;
    if (!self || !CheckCount("send", count, 2) || !Broker(self, arguments[0], target))
    {
        return nullptr;
    }
    Ref envelope = Ref::Borrow(arguments[1]);
    if (!Py_IS_TYPE(envelope.Get(), self->EnvelopeType()))
    {
        envelope = Ref(PyObject_CallOneArg(outlet->originate.Get(), envelope.Get()));
        if (!envelope)
        {
            return nullptr;
        }
    }
    PyObject* frame = reinterpret_cast<EnvelopeObject*>(envelope.Get())->frame;
    uint32_t size = 0;
    const uint8_t* bytes = Bytes(frame, size);
    const auto result = self->network.App(outlet->broker).Send(target, bytes, size);
    if (result == BrokerApplication::SendResult::OK)
    {
        self->books[outlet->broker].EnterSent(target, frame);
    }
    return Sent(result, outlet->broker, target, size);
}

PyObject*
SendDirect(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    Impl* self = Self(capsule);
    uint32_t source = 0;
    uint32_t target = 0;
    uint32_t size = 0;
    if (!self || !CheckCount("send_direct", count, 4) || !Ends(self, arguments, source, target))
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
    if (!self || !CheckCount("enter_sent", count, 3) || !Ends(self, arguments, source, target) ||
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
    if (!self || !CheckCount("enter_received", count, 2) || !Broker(self, arguments[0], broker) ||
        !Bytes(arguments[1], size))
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
    return self && Broker(self, number, broker) ? self->books[broker].Read() : nullptr;
}

PyObject*
Inject(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count)
{
    Impl* self = Self(capsule);
    uint32_t source = 0;
    uint32_t target = 0;
    uint32_t size = 0;
    if (!self || !CheckCount("inject", count, 3) || !Ends(self, arguments, source, target))
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
    if (!self || !CheckCount("submit", count, 2) || !Broker(self, arguments[0], broker))
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
    if (!self || !CheckCount("schedule", count, 2))
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
    if (!self || !CheckCount("run", count, 2))
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
            Ref row(Py_BuildValue("IKLLII",
                                  broker,
                                  statistics.served,
                                  static_cast<long long>(statistics.busy.GetNanoSeconds()),
                                  static_cast<long long>(statistics.waiting.GetNanoSeconds()),
                                  statistics.longest,
                                  app.GetQueueLength()));
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

PyMethodDef g_send = {"send", AsPyCFunction(SendItem), METH_FASTCALL, nullptr};

/// Keep something alive as long as a Python function of ours lives that works on it.
template <typename Shared>
Ref
Capsule(const char* name, const std::shared_ptr<Shared>& shared)
{
    return Ref(PyCapsule_New(new std::shared_ptr<Shared>(shared), name, [](PyObject* capsule) {
        delete static_cast<std::shared_ptr<Shared>*>(
            PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
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
            return PyCFunction_NewEx(&function, Capsule(CAPSULE, m_impl->handle).Get(), nullptr);
        }
    }
    return PyErr_Format(PyExc_AttributeError, "the simulation has no function %s", name.c_str());
}

PyObject*
Simulation::Outlet(uint32_t broker, PyObject* originate)
{
    auto outlet = std::make_shared<Impl::Outlet>(
        Impl::Outlet{m_impl->handle, broker, Ref::Borrow(originate)});
    m_impl->outlets.push_back(outlet);
    return PyCFunction_NewEx(&g_send, Capsule(OUTLET, outlet).Get(), nullptr);
}

} // namespace pysim
