#include "outlet.h"

#include "../model/interruptible-simulator-impl.h"

#include "ns3/simulator.h"

#include <structmember.h>

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

/// @return where an object keeps one of the __slots__ of its class, or nullptr
PyObject**
Slot(PyObject* object, const char* name)
{
    Ref descriptor(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), name));
    if (!descriptor || !Py_IS_TYPE(descriptor.Get(), &PyMemberDescr_Type))
    {
        return nullptr;
    }
    const auto member = reinterpret_cast<PyMemberDescrObject*>(descriptor.Get())->d_member;
    return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + member->offset);
}

} // namespace

Simulation::Impl::Impl(const Settings& settings, PyObject* envelope, PyObject* receiveByType)
    : brokers(settings.brokers),
      envelope(Ref::Borrow(envelope)),
      receiveByType(PyInstanceMethod_Check(receiveByType)
                        ? Ref::Borrow(PyInstanceMethod_GET_FUNCTION(receiveByType))
                        : Ref()),
      books(settings.brokers),
      agents(settings.brokers),
      network(settings),
      handle(std::make_shared<Handle>(Handle{this}))
{
    if (EnvelopeType()->tp_basicsize != sizeof(EnvelopeObject))
    {
        throw std::invalid_argument("the library needs pysim.wire's native envelopes");
    }
}

Simulation::Impl::~Impl()
{
    handle->simulation = nullptr;
    for (const Ref& outlet : outlets)
    {
        reinterpret_cast<OutletObject*>(outlet.Get())->Close();
    }
}

Ref
Simulation::Impl::Call(PyObject* callable, PyObject* first, PyObject* second, PyObject* third)
{
    if (failed)
    {
        return {};
    }
    PyObject* arguments[] = {nullptr, first, second, third};
    const size_t count = third ? 3 : (second ? 2 : (first ? 1 : 0));
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

const Simulation::Impl::Handlers*
Simulation::Impl::HandlersOf(PyObject* receive)
{
    if (!PyMethod_Check(receive) || PyMethod_GET_FUNCTION(receive) != receiveByType.Get())
    {
        return nullptr;
    }
    Ref table(PyObject_GetAttrString(PyMethod_GET_SELF(receive), "_handlers"));
    if (!table)
    {
        PyErr_Clear();
        return nullptr;
    }
    const auto [found, isNew] = handlers.try_emplace(table, Handlers{});
    PyObject* code = nullptr;
    PyObject* handler = nullptr;
    for (Py_ssize_t place = 0; isNew && PyDict_Next(table.Get(), &place, &code, &handler);)
    {
        found->second.at(PyLong_AsLong(code)) = handler;
    }
    return &found->second;
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

PythonAgent::PythonAgent(Simulation::Impl& simulation,
                         AgentBook& book,
                         PyObject* host,
                         bool serviceModel)
    : m_simulation(simulation),
      m_book(book),
      m_serviceModel(serviceModel),
      m_host(Ref::Borrow(host)),
      m_receive(Slot(host, "receive")),
      m_receiveFailed(PyObject_GetAttrString(host, "receive_failed")),
      m_messageArrived(PyObject_GetAttrString(host, "message_arrived")),
      m_frameArrived(PyObject_GetAttrString(host, "frame_arrived")),
      m_work(PyObject_GetAttrString(host, "work")),
      m_linkUp(PyObject_GetAttrString(host, "link_up")),
      m_linkDown(PyObject_GetAttrString(host, "link_down"))
{
    if (!m_receive || !m_receiveFailed || !m_messageArrived || !m_frameArrived || !m_work ||
        !m_linkUp || !m_linkDown)
    {
        PyErr_Clear();
        throw std::runtime_error("a host lacks one of its upcalls");
    }
}

Time
PythonAgent::FrameArrived(uint32_t sender, const uint8_t* frame, uint32_t size)
{
    Ref from(PyLong_FromUnsignedLong(sender));
    Ref bytes(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(frame), size));
    if (frame[FrameHeader::VERSION_AT] != FrameHeader::VERSION)
    {
        return ServiceTime(m_simulation.Call(m_frameArrived.Get(), from.Get(), bytes.Get()));
    }
    Ref envelope(NewEnvelope(m_simulation.EnvelopeType(), Py_NewRef(bytes.Get())));
    if (m_serviceModel)
    {
        return ServiceTime(m_simulation.Call(m_messageArrived.Get(), from.Get(), envelope.Get()));
    }
    Receive(from, envelope, bytes);
    return {};
}

void
PythonAgent::Receive(const Ref& sender, const Ref& envelope, const Ref& bytes)
{
    if (m_simulation.failed)
    {
        return;
    }
    m_book.EnterReceived(bytes.Get());
    Ref result(Hand(sender.Get(), envelope.Get()));
    if (!result)
    {
        Ref error = TakeException();
        m_simulation.Call(m_receiveFailed.Get(), sender.Get(), envelope.Get(), error.Get());
    }
}

PyObject*
PythonAgent::Hand(PyObject* sender, PyObject* envelope)
{
    if (m_known.Get() != *m_receive)
    {
        m_known = Ref::Borrow(*m_receive);
        m_handlers = m_simulation.HandlersOf(m_known.Get());
        m_agent = m_handlers ? PyMethod_GET_SELF(m_known.Get()) : nullptr;
    }
    const uint8_t type = reinterpret_cast<EnvelopeObject*>(envelope)->type;
    PyObject* arguments[] = {m_agent, sender, envelope};
    return m_handlers && (*m_handlers)[type]
               ? PyObject_Vectorcall((*m_handlers)[type], arguments, 3, nullptr)
               : PyObject_Vectorcall(
                     m_known.Get(), arguments + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
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
