#include "interruptible-simulator-impl.h"

namespace pysim
{

NS_OBJECT_ENSURE_REGISTERED(InterruptibleSimulatorImpl);

std::function<void()> InterruptibleSimulatorImpl::s_pulse;

ns3::TypeId
InterruptibleSimulatorImpl::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("pysim::InterruptibleSimulatorImpl")
                                 .SetParent<ns3::DefaultSimulatorImpl>()
                                 .SetGroupName("pysim")
                                 .AddConstructor<InterruptibleSimulatorImpl>();
    return tid;
}

void
InterruptibleSimulatorImpl::SetPulse(std::function<void()> pulse)
{
    s_pulse = std::move(pulse);
}

void
InterruptibleSimulatorImpl::PreEventHook(const ns3::EventId& id)
{
    if (--m_countdown == 0)
    {
        m_countdown = PULSE;
        if (s_pulse)
        {
            s_pulse();
        }
    }
}

} // namespace pysim
