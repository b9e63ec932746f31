#include "facade.h"

#include "simulation-impl.h"

#include "../model/relay-agent.h"

#include <stdexcept>

namespace pysim
{

namespace
{

bool g_open = false; // ns-3's simulator is one per process

} // namespace

Simulation::Simulation(const Settings& settings, PyObject* envelope, PyObject* receiveByType)
{
    if (g_open)
    {
        throw std::runtime_error("an ns-3 simulation is open in this process; close it first");
    }
    m_impl = std::make_unique<Impl>(settings, envelope, receiveByType);
    g_open = true;
}

Simulation::~Simulation()
{
    m_impl.reset();
    g_open = false;
}

void
Simulation::Attach(uint32_t broker, PyObject* host, bool serviceModel)
{
    m_impl->agents[broker] =
        std::make_unique<PythonAgent>(*m_impl, m_impl->books[broker], host, serviceModel);
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

} // namespace pysim
