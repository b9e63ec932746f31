#ifndef PYSIM_BROKER_AGENT_H
#define PYSIM_BROKER_AGENT_H

#include "ns3/nstime.h"

#include <cstdint>

namespace pysim
{

/**
 * What a BrokerApplication tells the broker that lives on it. The application knows nothing of
 * protocols or of Python; an implementation of this interface does.
 */
class BrokerAgent
{
  public:
    virtual ~BrokerAgent() = default;

    /**
     * A whole frame came in.
     * @return how long the broker's CPU works on it (ignored without a service model)
     */
    virtual ns3::Time FrameArrived(uint32_t sender, const uint8_t* frame, uint32_t size) = 0;

    /// The overlay link to a neighbor carries frames from now on.
    virtual void LinkUp(uint32_t neighbor) = 0;

    /// The overlay link to a neighbor is gone, and what was in flight on it.
    virtual void LinkDown(uint32_t neighbor) = 0;
};

} // namespace pysim

#endif
