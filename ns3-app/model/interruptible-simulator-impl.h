#ifndef PYSIM_INTERRUPTIBLE_SIMULATOR_IMPL_H
#define PYSIM_INTERRUPTIBLE_SIMULATOR_IMPL_H

#include "ns3/default-simulator-impl.h"

#include <functional>

namespace pysim
{

/**
 * The default simulator with a pulse: every few thousand events it calls back, so that somebody
 * outside can look for signals, show progress or stop the run.
 */
class InterruptibleSimulatorImpl : public ns3::DefaultSimulatorImpl
{
  public:
    static ns3::TypeId GetTypeId();

    /// Called every PULSE events while the simulation runs; empty for none.
    static void SetPulse(std::function<void()> pulse);

  protected:
    void PreEventHook(const ns3::EventId& id) override;

  private:
    static constexpr uint32_t PULSE = 4096;
    uint32_t m_countdown{PULSE};
    static std::function<void()> s_pulse;
};

} // namespace pysim

#endif
