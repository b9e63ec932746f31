#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "facade.h"

#include "../helper/overlay-network.h"
#include "../model/interruptible-simulator-impl.h"
#include "../model/relay-agent.h"

#include "ns3/simulator.h"

#include <chrono>
#include <stdexcept>
#include <unordered_map>

using namespace ns3;

namespace pysim
{

namespace
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

constexpr const char* CAPSULE = "pysim.simulation";
constexpr auto PROGRESS_INTERVAL = std::chrono::milliseconds(200);
constexpr const char* CHANNEL_NAMES[] = {"link", "tcp", "udp"};

bool g_open = false;

} // namespace

struct Simulation::Impl
{
    /// Outlives the simulation as long as Python holds one of its functions.
    struct Handle
    {
        Impl* simulation;
    };

    class PythonAgent;

    struct PythonTimer
    {
        EventId event;
        Ref callback;
    };

    explicit Impl(const Settings& settings)
        : network(settings),
          handle(std::make_shared<Handle>(Handle{this}))
    {
    }

    ~Impl()
    {
        handle->simulation = nullptr;
    }

    /// Call Python; nothing is called any more once an upcall has failed.
    Ref Call(PyObject* callable, PyObject* first, PyObject* second = nullptr)
    {
        if (failed)
        {
            return {};
        }
        PyObject* arguments[] = {nullptr, first, second};
        const size_t count = second ? 2 : (first ? 1 : 0);
        Ref result(PyObject_Vectorcall(
            callable, arguments + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
        if (!result)
        {
            Fail();
        }
        return result;
    }

    /// Keep the exception that Python has just raised, and end the run.
    void Fail()
    {
        failed = true;
        PyErr_Fetch(&errorType, &errorValue, &errorTraceback);
        Simulator::Stop();
    }

    PyObject* Restore()
    {
        PyErr_Restore(errorType, errorValue, errorTraceback);
        errorType = errorValue = errorTraceback = nullptr;
        return nullptr;
    }

    void Pulse(PyObject* progress)
    {
        if (failed)
        {
            return;
        }
        if (PyErr_CheckSignals() != 0)
        {
            Fail();
            return;
        }
        const auto wall = std::chrono::steady_clock::now();
        if (progress != Py_None && wall >= nextProgress)
        {
            nextProgress = wall + PROGRESS_INTERVAL;
            Ref now(PyLong_FromLongLong(Simulator::Now().GetNanoSeconds()));
            Call(progress, now.Get());
        }
    }

    PyObject* Run(int64_t until, PyObject* progress)
    {
        if (failed)
        {
            PyErr_SetString(PyExc_RuntimeError, "the simulation was stopped by an error");
            return nullptr;
        }
        const Time remaining = NanoSeconds(until) - Simulator::Now();
        if (remaining.IsNegative())
        {
            PyErr_Format(PyExc_ValueError,
                         "until(=%lld ns) should be >= the current simulated time",
                         static_cast<long long>(until));
            return nullptr;
        }
        Simulator::Stop(remaining);
        InterruptibleSimulatorImpl::SetPulse([this, progress]() { Pulse(progress); });
        Simulator::Run();
        InterruptibleSimulatorImpl::SetPulse(nullptr);
        if (failed)
        {
            return Restore();
        }
        Py_RETURN_NONE;
    }

    int64_t Schedule(int64_t delay, PyObject* callback)
    {
        const int64_t ticket = ++lastTicket;
        auto& timer = timers[ticket];
        timer.callback = Ref::Borrow(callback);
        timer.event = Simulator::Schedule(NanoSeconds(delay), [this, ticket]() { Fire(ticket); });
        return ticket;
    }

    void Fire(int64_t ticket)
    {
        auto found = timers.find(ticket);
        Ref callback = std::move(found->second.callback);
        timers.erase(found);
        Call(callback.Get(), nullptr);
    }

    void Cancel(int64_t ticket)
    {
        auto found = timers.find(ticket);
        if (found != timers.end())
        {
            found->second.event.Cancel();
            timers.erase(found);
        }
    }

    uint32_t brokers{0};
    std::vector<std::unique_ptr<BrokerAgent>> agents; // outlive the applications that call them
    std::unordered_map<int64_t, PythonTimer> timers;
    OverlayNetwork network;
    std::shared_ptr<Handle> handle;
    int64_t lastTicket{0};
    bool failed{false};
    PyObject* errorType{nullptr};
    PyObject* errorValue{nullptr};
    PyObject* errorTraceback{nullptr};
    std::chrono::steady_clock::time_point nextProgress;
};

/// Hands whole frames and link changes to a Python host.
class Simulation::Impl::PythonAgent : public BrokerAgent
{
  public:
    PythonAgent(Impl& simulation, PyObject* host)
        : m_simulation(simulation),
          m_frameArrived(PyObject_GetAttrString(host, "frame_arrived")),
          m_work(PyObject_GetAttrString(host, "work")),
          m_linkUp(PyObject_GetAttrString(host, "link_up")),
          m_linkDown(PyObject_GetAttrString(host, "link_down"))
    {
        if (!m_frameArrived || !m_work || !m_linkUp || !m_linkDown)
        {
            PyErr_Clear();
            throw std::runtime_error("a host needs frame_arrived, work, link_up and link_down");
        }
    }

    Time FrameArrived(uint32_t sender, const uint8_t* frame, uint32_t size) override
    {
        Ref from(PyLong_FromUnsignedLong(sender));
        Ref bytes(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(frame), size));
        return ServiceTime(m_simulation.Call(m_frameArrived.Get(), from.Get(), bytes.Get()));
    }

    void LinkUp(uint32_t neighbor) override
    {
        Ref number(PyLong_FromUnsignedLong(neighbor));
        m_simulation.Call(m_linkUp.Get(), number.Get());
    }

    void LinkDown(uint32_t neighbor) override
    {
        Ref number(PyLong_FromUnsignedLong(neighbor));
        m_simulation.Call(m_linkDown.Get(), number.Get());
    }

    Time Work(const Ref& task)
    {
        return ServiceTime(m_simulation.Call(m_work.Get(), task.Get()));
    }

  private:
    static Time ServiceTime(const Ref& result)
    {
        return result && PyLong_Check(result.Get()) ? NanoSeconds(PyLong_AsLongLong(result.Get()))
                                                    : Time();
    }

    Impl& m_simulation;
    Ref m_frameArrived;
    Ref m_work;
    Ref m_linkUp;
    Ref m_linkDown;
};

// The Python functions ---------------------------------------------------------------------------

namespace
{

using Impl = Simulation::Impl;

Impl*
Self(PyObject* capsule)
{
    auto handle =
        static_cast<std::shared_ptr<Impl::Handle>*>(PyCapsule_GetPointer(capsule, CAPSULE));
    if (!(*handle)->simulation)
    {
        PyErr_SetString(PyExc_RuntimeError, "the simulation is closed");
    }
    return (*handle)->simulation;
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
    auto agent = static_cast<Impl::PythonAgent*>(self->agents[broker].get());
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
    {"run", AsPyCFunction(Run), METH_FASTCALL, nullptr},
    {"counters", Counters, METH_NOARGS, nullptr},
    {"queues", Queues, METH_NOARGS, nullptr},
    {"malformed", Malformed, METH_NOARGS, nullptr},
    {"events", Events, METH_NOARGS, nullptr},
    {"digest", Digest, METH_NOARGS, nullptr},
};

void
DeleteHandle(PyObject* capsule)
{
    delete static_cast<std::shared_ptr<Impl::Handle>*>(PyCapsule_GetPointer(capsule, CAPSULE));
}

/// Marks the process as simulating: ns-3's simulator is one per process.
void
Claim()
{
    if (g_open)
    {
        throw std::runtime_error("an ns-3 simulation is open in this process; close it first");
    }
    g_open = true;
}

} // namespace

// The facade -------------------------------------------------------------------------------------

Simulation::Simulation(const Settings& settings)
{
    Claim();
    m_impl = std::make_unique<Impl>(settings);
    m_impl->brokers = settings.brokers;
    m_impl->agents.resize(settings.brokers);
}

Simulation::~Simulation()
{
    m_impl.reset();
    g_open = false;
}

void
Simulation::Attach(uint32_t broker, PyObject* host, bool serviceModel)
{
    m_impl->agents[broker] = std::make_unique<Impl::PythonAgent>(*m_impl, host);
    m_impl->network.AttachAgent(broker, m_impl->agents[broker].get(), serviceModel);
}

void
Simulation::AttachRelay(uint32_t broker)
{
    m_impl->agents[broker] = std::make_unique<RelayAgent>(m_impl->network.App(broker));
    m_impl->network.AttachAgent(broker, m_impl->agents[broker].get(), false);
}

void
Simulation::RelayRoute(uint32_t broker, uint32_t origin, const std::vector<uint32_t>& neighbors)
{
    static_cast<RelayAgent*>(m_impl->agents[broker].get())->SetRoute(origin, neighbors);
}

void
Simulation::AddUnderlayLink(uint32_t a, uint32_t b, const LinkParameters& link)
{
    m_impl->network.AddUnderlayLink(a, b, link);
}

void
Simulation::SetDelayMatrix(const std::vector<int64_t>& delays)
{
    m_impl->network.SetDelayMatrix(delays);
}

bool
Simulation::HasLink(uint32_t a, uint32_t b) const
{
    return m_impl->network.HasLink(a, b);
}

void
Simulation::Connect(uint32_t a, uint32_t b, const LinkParameters& link)
{
    m_impl->network.Connect(a, b, link);
}

void
Simulation::Disconnect(uint32_t a, uint32_t b)
{
    m_impl->network.Disconnect(a, b);
}

void
Simulation::SetLoss(uint32_t a, uint32_t b, double loss)
{
    m_impl->network.SetLoss(a, b, loss);
}

void
Simulation::Crash(uint32_t broker)
{
    m_impl->network.Crash(broker);
}

void
Simulation::Restart(uint32_t broker)
{
    m_impl->network.Restart(broker);
}

void
Simulation::Malformed(uint32_t broker, uint32_t sender)
{
    m_impl->network.App(broker).CountMalformed();
    m_impl->network.CloseLink(broker, sender, false);
}

bool
Simulation::CapturesFailed() const
{
    return m_impl->network.CapturesFailed();
}

PyObject*
Simulation::Function(const std::string& name)
{
    for (PyMethodDef& function : g_functions)
    {
        if (name == function.ml_name)
        {
            Ref capsule(PyCapsule_New(
                new std::shared_ptr<Impl::Handle>(m_impl->handle), CAPSULE, DeleteHandle));
            return PyCFunction_NewEx(&function, capsule.Get(), nullptr);
        }
    }
    return PyErr_Format(PyExc_AttributeError, "the simulation has no function %s", name.c_str());
}

} // namespace pysim
