#ifndef PYSIM_SIMULATION_IMPL_H
#define PYSIM_SIMULATION_IMPL_H

#include "agent-book.h"
#include "ref.h"

#include "facade.h"

#include "../helper/overlay-network.h"
#include "../wire/envelope.h"

#include "ns3/event-id.h"

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace pysim
{

class PythonAgent;

/// A network and the Python objects that live on it: who is called, when, and what if it fails.
struct Simulation::Impl
{
    /// Outlives the simulation as long as Python holds one of its functions.
    struct Handle
    {
        Impl* simulation;
    };

    struct PythonTimer
    {
        ns3::EventId event;
        Ref callback;
    };

    /// The handlers of an agent's class by message type; nullptr where it has none.
    using Handlers = std::array<PyObject*, 256>;

    Impl(const Settings& settings, PyObject* envelope, PyObject* receiveByType);
    ~Impl();

    /// Call Python; nothing is called any more once an upcall has failed.
    Ref Call(PyObject* callable,
             PyObject* first,
             PyObject* second = nullptr,
             PyObject* third = nullptr);
    /// Keep the exception that Python has just raised, and end the run.
    void Fail();
    /// Look for signals, and show progress now and then.
    void Pulse(PyObject* progress);
    /// @return None, or nullptr with the exception of the upcall that failed
    PyObject* Run(int64_t until, PyObject* progress);

    /// @return the handlers of an agent whose `receive` goes by a message's type, else nullptr
    const Handlers* HandlersOf(PyObject* receive);

    int64_t Schedule(int64_t delay, PyObject* callback);
    void Fire(int64_t ticket);
    void Cancel(int64_t ticket);

    PyTypeObject* EnvelopeType() const
    {
        return reinterpret_cast<PyTypeObject*>(envelope.Get());
    }

    const uint32_t brokers;
    const Ref envelope;      ///< the class
    const Ref receiveByType; ///< the function that a Broker receives by, unless it has its own
    std::map<Ref, Handlers, RefOrder> handlers;       ///< by the table that they come from
    std::vector<AgentBook> books;                     ///< by broker
    std::vector<Ref> outlets;                         ///< each an Outlet
    std::vector<std::unique_ptr<BrokerAgent>> agents; ///< outlive the applications that call them
    std::unordered_map<int64_t, PythonTimer> timers;
    OverlayNetwork network;
    std::shared_ptr<Handle> handle;
    int64_t lastTicket{0};
    bool failed{false};
    Ref errorType;
    Ref errorValue;
    Ref errorTraceback;
    std::chrono::steady_clock::time_point nextProgress;
};

/// Hands whole frames and link changes to a Python host.
class PythonAgent : public BrokerAgent
{
  public:
    PythonAgent(Simulation::Impl& simulation, AgentBook& book, PyObject* host, bool serviceModel);

    ns3::Time FrameArrived(uint32_t sender, const uint8_t* frame, uint32_t size) override;
    void LinkUp(uint32_t neighbor) override;
    void LinkDown(uint32_t neighbor) override;
    ns3::Time Work(const Ref& task);

  private:
    /// Hand a message to the agent itself; what it raises is for the host.
    void Receive(const Ref& sender, const Ref& envelope, const Ref& bytes);
    /// @return what the agent's handler returned, or nullptr with a Python error
    PyObject* Hand(PyObject* sender, PyObject* envelope);

    Simulation::Impl& m_simulation;
    AgentBook& m_book;
    const bool m_serviceModel;
    Ref m_host;
    PyObject** m_receive; ///< the host's slot: it changes when the agent does
    Ref m_known;          ///< what stood there when we looked last, and what it comes down to:
    PyObject* m_agent{nullptr};
    const Simulation::Impl::Handlers* m_handlers{nullptr};
    Ref m_receiveFailed;
    Ref m_messageArrived;
    Ref m_frameArrived;
    Ref m_work;
    Ref m_linkUp;
    Ref m_linkDown;
};

} // namespace pysim

#endif
