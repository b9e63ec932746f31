#ifndef PYSIM_SIMULATION_IMPL_H
#define PYSIM_SIMULATION_IMPL_H

#include "agent-book.h"
#include "ref.h"

#include "facade.h"

#include "../helper/overlay-network.h"
#include "../wire/envelope.h"

#include "ns3/event-id.h"

#include <chrono>
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

    Impl(const Settings& settings, PyObject* envelope);
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

    int64_t Schedule(int64_t delay, PyObject* callback);
    void Fire(int64_t ticket);
    void Cancel(int64_t ticket);

    PyTypeObject* EnvelopeType() const
    {
        return reinterpret_cast<PyTypeObject*>(envelope.Get());
    }

    const uint32_t brokers;
    const Ref envelope; ///< the class
    const Ref receiveName;
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

    Simulation::Impl& m_simulation;
    AgentBook& m_book;
    const bool m_serviceModel;
    Ref m_host;
    Ref m_receiveFailed;
    Ref m_messageArrived;
    Ref m_frameArrived;
    Ref m_work;
    Ref m_linkUp;
    Ref m_linkDown;
};

} // namespace pysim

#endif
