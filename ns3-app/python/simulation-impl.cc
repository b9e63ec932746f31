#include "simulation-impl.h"

#include "../model/interruptible-simulator-impl.h"

#include "ns3/simulator.h"

#include <stdexcept>

using namespace ns3;

namespace pysim
{

namespace
{

constexpr auto PROGRESS_INTERVAL = std::chrono::milliseconds(200);

/// What an upcall returned: nanoseconds, or None for no time at all.
Time
ServiceTime(const Ref& result)
{
    return result && PyLong_Check(result.Get()) ? NanoSeconds(PyLong_AsLongLong(result.Get()))
                                                : Time();
}

} // namespace

Simulation::Impl::Impl(const Settings& settings)
    : brokers(settings.brokers),
      agents(settings.brokers),
      network(settings),
      handle(std::make_shared<Handle>(Handle{this}))
{
}

Simulation::Impl::~Impl()
{
    handle->simulation = nullptr;
}

Ref
Simulation::Impl::Call(PyObject* callable, PyObject* first, PyObject* second)
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

void
Simulation::Impl::Fail()
{
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    errorType = Ref(type);
    errorValue = Ref(value);
    errorTraceback = Ref(traceback);
    failed = true;
    Simulator::Stop();
}

void
Simulation::Impl::Pulse(PyObject* progress)
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

PyObject*
Simulation::Impl::Run(int64_t until, PyObject* progress)
{
    if (!failed)
    {
        const Time remaining = NanoSeconds(until) - Simulator::Now();
        if (remaining.IsNegative())
        {
            return PyErr_Format(PyExc_ValueError,
                                "until(=%lld ns) should be >= the current simulated time",
                                static_cast<long long>(until));
        }
        Simulator::Stop(remaining);
        InterruptibleSimulatorImpl::SetPulse([this, progress]() { Pulse(progress); });
        Simulator::Run();
        InterruptibleSimulatorImpl::SetPulse(nullptr);
        if (!failed)
        {
            Py_RETURN_NONE;
        }
    }
    if (!errorType)
    {
        PyErr_SetString(PyExc_RuntimeError, "the simulation was stopped by an error");
        return nullptr;
    }
    PyErr_Restore(errorType.Release(), errorValue.Release(), errorTraceback.Release());
    return nullptr;
}

int64_t
Simulation::Impl::Schedule(int64_t delay, PyObject* callback)
{
    const int64_t ticket = ++lastTicket;
    auto& timer = timers[ticket];
    timer.callback = Ref::Borrow(callback);
    timer.event = Simulator::Schedule(NanoSeconds(delay), [this, ticket]() { Fire(ticket); });
    return ticket;
}

void
Simulation::Impl::Fire(int64_t ticket)
{
    auto found = timers.find(ticket);
    Ref callback = std::move(found->second.callback);
    timers.erase(found);
    Call(callback.Get(), nullptr);
}

void
Simulation::Impl::Cancel(int64_t ticket)
{
    auto found = timers.find(ticket);
    if (found != timers.end())
    {
        found->second.event.Cancel();
        timers.erase(found);
    }
}

PythonAgent::PythonAgent(Simulation::Impl& simulation, PyObject* host)
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

Time
PythonAgent::FrameArrived(uint32_t sender, const uint8_t* frame, uint32_t size)
{
    Ref from(PyLong_FromUnsignedLong(sender));
    Ref bytes(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(frame), size));
    return ServiceTime(m_simulation.Call(m_frameArrived.Get(), from.Get(), bytes.Get()));
}

void
PythonAgent::LinkUp(uint32_t neighbor)
{
    Ref number(PyLong_FromUnsignedLong(neighbor));
    m_simulation.Call(m_linkUp.Get(), number.Get());
}

void
PythonAgent::LinkDown(uint32_t neighbor)
{
    Ref number(PyLong_FromUnsignedLong(neighbor));
    m_simulation.Call(m_linkDown.Get(), number.Get());
}

Time
PythonAgent::Work(const Ref& task)
{
    return ServiceTime(m_simulation.Call(m_work.Get(), task.Get()));
}

} // namespace pysim
