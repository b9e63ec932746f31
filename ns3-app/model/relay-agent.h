#ifndef PYSIM_RELAY_AGENT_H
#define PYSIM_RELAY_AGENT_H

#include "broker-agent.h"
#include "broker-application.h"

#include <vector>

namespace pysim
{

/**
 * Forwards frames in C++ alone, by a fixed table from a frame's origin to the neighbors that it
 * goes to. It is the yardstick for what agents in Python cost, and no protocol.
 */
class RelayAgent : public BrokerAgent
{
  public:
    explicit RelayAgent(BrokerApplication& application);

    /// Where frames go that a broker originated; the neighbor they come from is left out.
    void SetRoute(uint32_t origin, std::vector<uint32_t> neighbors);

    ns3::Time FrameArrived(uint32_t sender, const uint8_t* frame, uint32_t size) override;
    void LinkUp(uint32_t neighbor) override;
    void LinkDown(uint32_t neighbor) override;

  private:
    BrokerApplication& m_application;
    std::vector<std::vector<uint32_t>> m_routes;
};

} // namespace pysim

#endif
