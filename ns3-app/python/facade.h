#ifndef PYSIM_FACADE_H
#define PYSIM_FACADE_H

// The only header that Python (cppyy) reads. It names no ns-3 type, so that reading it takes
// milliseconds: parsing ns-3's own headers would take fifteen seconds in every process.

#include "settings.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

typedef struct _object PyObject;

namespace pysim
{

/**
 * One packet-level simulation, driven from Python.
 *
 * What is called rarely are methods; what is called for every message are ready-made Python
 * functions (see Function), which cost a third of a call through cppyy. An exception in an upcall
 * stops the simulation and comes out of `run` with its traceback.
 */
class Simulation
{
  public:
    /// @param envelope      the class that a received frame is handed over in
    /// @param receiveByType what a host's `receive` usually is, bound to its agent: the agent's
    ///                      handlers are then called without going through it
    /// @throws std::runtime_error if another simulation of this process is still open
    Simulation(const Settings& settings, PyObject* envelope, PyObject* receiveByType);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /**
     * Let `host` live on a broker's node. A message goes to its `receive`, which must be a slot,
     * and an exception that comes back to its `receive_failed`; with the service model a message
     * goes to `message_arrived`; a frame with a header of another form goes to `frame_arrived`. The
     * other upcalls are `work`, `link_up` and `link_down`.
     */
    void Attach(uint32_t broker, PyObject* host, bool serviceModel);
    /// Forward in C++ alone on this broker, by RelayRoute's table.
    void AttachRelay(uint32_t broker);
    void RelayRoute(uint32_t broker, uint32_t origin, const std::vector<uint32_t>& neighbors);

    void AddUnderlayLink(uint32_t a, uint32_t b, const LinkParameters& link);
    void SetDelayMatrix(const std::vector<int64_t>& delays);

    bool HasLink(uint32_t a, uint32_t b) const;
    void Connect(uint32_t a, uint32_t b, const LinkParameters& link);
    void Disconnect(uint32_t a, uint32_t b);
    void SetLoss(uint32_t a, uint32_t b, double loss);
    void Crash(uint32_t broker);
    void Restart(uint32_t broker);
    void Malformed(uint32_t broker, uint32_t sender);
    bool CapturesFailed() const;

    /**
     * A Python function of this simulation:
     *   now() -> ns
     *   send(source, target, frame)
     *   send_direct(source, target, frame, udp)
     *   inject(source, target, bytes)      raw bytes into a link's stream, for tests
     *   submit(broker, task)
     *   schedule(delay_ns, callback) -> ticket
     *   cancel(ticket)
     *   enter_sent(broker, target, frame)  into the agent's book, of what went another way
     *   enter_received(broker, frame)
     *   book(broker) -> what the agent sent and received, see AgentBook::Read
     *   run(until_ns, progress or None)
     *   counters() -> [(source, target, channel, type, sent, sent bytes, received,
     *                   received bytes, lost link, lost packet, unfinished, unserved,
     *                   unserved bytes)]
     *   queues() -> [(broker, served, busy ns, waiting ns, longest, length, delayed, joined)]
     *   malformed() -> [(broker, count)]
     *   events() -> how many ns-3 events were executed
     *   digest() -> int
     */
    PyObject* Function(const std::string& name);

    /**
     * The function send(neighbor, item) of one broker's agent. An envelope goes out as it is, any
     * other item as the envelope that `originate` makes of it; it is entered in the agent's book.
     */
    PyObject* Outlet(uint32_t broker, PyObject* originate);

    struct Impl;

  private:
    std::unique_ptr<Impl> m_impl;
};

} // namespace pysim

#endif
