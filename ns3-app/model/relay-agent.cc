#include "relay-agent.h"

namespace pysim
{

RelayAgent::RelayAgent(BrokerApplication& application)
    : m_application(application)
{
}

void
RelayAgent::SetRoute(uint32_t origin, std::vector<uint32_t> neighbors)
{
    if (m_routes.size() <= origin)
    {
        m_routes.resize(origin + 1);
    }
    m_routes[origin] = std::move(neighbors);
}

ns3::Time
RelayAgent::FrameArrived(uint32_t sender, const uint8_t* frame, uint32_t size)
{
    const uint32_t origin = FrameHeader::Number(frame + FrameHeader::ORIGIN_AT);
    if (origin < m_routes.size())
    {
        for (uint32_t neighbor : m_routes[origin])
        {
            if (neighbor != sender)
            {
                m_application.Send(neighbor, frame, size);
            }
        }
    }
    return {};
}

void
RelayAgent::LinkUp(uint32_t neighbor)
{
}

void
RelayAgent::LinkDown(uint32_t neighbor)
{
}

} // namespace pysim
