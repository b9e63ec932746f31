#ifndef PYSIM_OUTLET_H
#define PYSIM_OUTLET_H

#include "simulation-impl.h"

namespace pysim
{

/**
 * What one agent sends by, send(neighbor, item): see Simulation::Outlet.
 *
 * A Python object with all that a send needs, side by side, since in the midst of a simulation
 * every pointer that is followed is a cache miss.
 */
struct OutletObject
{
    PyObject_HEAD vectorcallfunc call;
    Simulation::Impl* simulation; ///< nullptr when it is closed
    BrokerApplication* application;
    AgentBook* book;
    PyObject* originate; ///< nullptr when the simulation is closed
    uint32_t broker;

    /// @return a new reference, or nullptr with a Python error
    static PyObject* New(Simulation::Impl& simulation, uint32_t broker, PyObject* originate);
    /// The simulation is closed: nothing can be sent any more.
    void Close();
};

} // namespace pysim

#endif
